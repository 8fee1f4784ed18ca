//! Words whose lanes are given: read from words that are there (`gather`), or computed of lanes of other words.
//!
//! A word is made once, however often it is needed, and a few hundred are tried at most. Steps that turn out to be of
//! no use stay in the list until the end, when those that the result needs are picked.

use super::function::{Key, Made};
use super::halves::Wide;
use super::pieces::Pieces;
use crate::graph::ValueId;
use crate::recipe::{Recipe, Source, Step};
use crate::site::Site;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;
use std::cmp::Reverse;
use std::rc::Rc;

/// How deep words are made of words.
const DEEPEST: usize = 16;

/// How many words are tried for one site.
const MOST_WORDS: usize = 200;

/// The steps that one of them needs, in order, that one last.
fn needed(steps: &[Step], last: usize) -> Vec<Step> {
    let mut is_needed = vec![false; last + 1];
    is_needed[last] = true;
    for at in (0..=last).rev() {
        if is_needed[at] {
            for source in &steps[at].sources {
                if let Source::Step(before) = *source {
                    is_needed[before] = true;
                }
            }
        }
    }
    let mut places = vec![0; last + 1];
    let mut kept: Vec<Step> = Vec::new();
    for at in (0..=last).filter(|&at| is_needed[at]) {
        places[at] = kept.len();
        let moved = |source: &Source| match *source {
            Source::Step(step) => Source::Step(places[step]),
            Source::Value(_) | Source::Constant(_) => *source,
        };
        kept.push(steps[at].over(moved));
    }
    kept
}

/// Whether all values that one recipe reads are read by another one.
fn is_subset(one: &Recipe, other: &Recipe) -> bool {
    one.values().all(|value| other.values().any(|other| other == value))
}

/// Takes others for lanes that are not made.
fn fill<'m>(made: &mut [Option<&'m Made>], others: &'m [Option<Made>]) {
    for (made, other) in made.iter_mut().zip(others) {
        *made = made.or(other.as_ref());
    }
}

/// The same, if it is one move of bytes of a word and a number, with the number in a register of its own: moves next to it
/// may have that in common, and only one number is part of the machine instruction.
fn with_number_apart(recipe: &Recipe) -> Option<Recipe> {
    let [step] = recipe.steps.as_slice() else { return None };
    let step = Some(step).filter(|step| step.is(op::PRMT_B32))?;
    let &[word, number @ Source::Constant(1..), selector] = step.sources.as_slice() else { return None };
    let moved = Step::plain(op::PRMT_B32, &[word, Source::Step(0), selector]);
    Some(Recipe::of(vec![Step::copy(number, 32), moved]))
}

/// Lanes that are made of others by the same function.
struct Alike {
    function: Key,
    /// Which lanes.
    mask: u8,
    /// For each operand its lanes; those of lanes that are not made may be anything.
    operands: Vec<Vec<Option<Term>>>,
}

/// Words being made.
pub(super) struct Words {
    pub(super) pieces: Pieces,
    pub(super) lanes: Lanes,
    pub(super) steps: Vec<Step>,
    /// What was made of which lanes; `None` if nothing could be, or is being tried.
    known: HashMap<Vec<Option<Term>>, Option<Source>>,
    /// What numbers of halves were made of.
    pub(super) wide: Wide,
    /// How a lane can be made.
    pub(super) made: HashMap<Term, Rc<[Made]>>,
    /// How words are made now.
    way: Way,
    /// Other ways in which some could be made.
    asked: Vec<Way>,
    /// Whether bytes that become halves are moved two at a time.
    pub(super) widens: bool,
}

/// How words are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// They are put together from lanes of other words rather than computed.
    Gathered,
    /// They are computed rather than put together from lanes of several words.
    Computed,
    /// As the first, and where lanes cannot be multiplied two at a time, they are one by one.
    OneByOne,
    /// As the second, and lanes that are linear functions of others, multiples of them, or one of two functions, are
    /// computed as such of whole words.
    OfWords,
    /// As the second, and words of which only some lanes are wanted are computed as a whole and merged with the others.
    Merged,
    /// As the second, and lanes are compared with whole words.
    Decided,
    /// As the second, and whether lanes lie between two numbers is told by carries.
    Carried,
    /// As the second, and lanes that are low bits of larger numbers are computed as halves.
    Halves,
    /// As that, by instructions on signed halves.
    SignedHalves,
    /// As in halves, and the lesser and the greater ones are chosen by the signs of differences.
    SignsOfHalves,
    /// As the first, and products of sums are multiplied out.
    MultipliedOut,
}

impl Words {
    /// No words yet.
    pub(super) fn over(pieces: Pieces, lanes: Lanes) -> Self {
        let (known, made, wide) = (HashMap::new(), HashMap::new(), Wide::default());
        let (steps, asked) = (Vec::new(), Vec::new());
        Self { pieces, lanes, steps, known, wide, made, way: Way::Gathered, asked, widens: false }
    }

    /// The value of the site: moved from words that are there, and computed.
    pub(super) fn recipes(&mut self, site: &Site<'_, '_, '_>) -> Vec<Recipe> {
        self.widens = true;
        let own = Recipe::one(*site.step);
        let bits = self.lanes.bits();
        let ones = u32::MAX >> (32 - bits);
        let lanes = self.pieces.lanes.iter().zip(0..);
        let demanded = |at: u32| site.demanded_word() >> (at * bits) & ones != 0;
        let lanes: Vec<Option<Term>> = lanes.map(|(&lane, at)| demanded(at).then_some(lane)).collect();
        if let Some(word) = self.there(&lanes) {
            return vec![Recipe::copy(Source::Value(word), 32)];
        }
        let moved = self.gathered(&lanes).and_then(|word| self.made_of(word));
        // What moves the same words otherwise is no gain, and may need to know what these words are made of.
        let moved = moved.filter(|recipe| !is_subset(recipe, &own) || !is_subset(&own, recipe));
        let computed = self.word(&lanes, 0).and_then(|word| self.made_of(word));
        // What has operands that are put together may be computed of words further away instead, as a whole.
        let gathers = |recipe: &Recipe| recipe.steps.iter().any(|step| step.is(op::PRMT_B32));
        let is_gathered = computed.as_ref().is_some_and(gathers);
        let whole = is_gathered.then(|| self.computed_in(Way::Computed, &lanes)).flatten();
        let mut otherwise = vec![whole];
        let ways = [
            Way::OneByOne,
            Way::OfWords,
            Way::Merged,
            Way::Decided,
            Way::Carried,
            Way::Halves,
            Way::SignedHalves,
            Way::SignsOfHalves,
        ];
        for way in ways {
            otherwise.push(self.could_be(way).then(|| self.computed_in(way, &lanes)).flatten());
        }
        // The operands of what puts the word together now hold most of it, and are not to be computed.
        let operands: Vec<ValueId> = own.values().collect();
        let all_moved =
            moved.as_ref().is_some_and(|recipe| recipe.values().all(|value| !operands.contains(&value)));
        let mut all: Vec<Recipe> = [moved, computed].into_iter().flatten().collect();
        for otherwise in otherwise {
            all.extend(otherwise.filter(|recipe| !all.contains(recipe)));
        }
        // What joins the word with others has its bytes too, and is put together as a whole.
        let is_root = site.graph.joined(site.value).is_none();
        if is_root && !all_moved {
            let collected = [false, true].map(|nearest| self.collected(&lanes, &operands, nearest));
            // Last, since it costs a single word the same and pays only where words next to it are made so too.
            let transposed = self.transposed(&lanes);
            for word in collected.into_iter().chain([transposed]).flatten() {
                let recipe = self.made_of(word);
                all.extend(recipe.filter(|recipe| !all.contains(recipe)));
            }
        }
        all.extend(self.elsewhere(site, &lanes).filter(|recipe| !all.contains(recipe)));
        for recipe in self.narrowed(&lanes) {
            all.extend((!all.contains(&recipe)).then_some(recipe));
        }
        all.retain(|recipe| *recipe != own);
        let apart = all.iter().filter_map(with_number_apart).collect::<Vec<_>>();
        all.extend(apart);
        all
    }

    /// The word with these lanes, computed, and words below it made in some way.
    fn computed_in(&mut self, way: Way, lanes: &[Option<Term>]) -> Option<Recipe> {
        self.turn_to(way);
        let word = self.word(lanes, 0);
        self.turn_to(Way::Gathered);
        word.and_then(|word| self.made_of(word))
    }

    /// Words are made in another way from now on.
    pub(super) fn turn_to(&mut self, way: Way) {
        self.way = way;
        self.known.clear();
        self.wide.turn();
    }

    /// Whether words are made in a way, one that may be tried later if not.
    pub(super) fn is_made(&mut self, way: Way) -> bool {
        if !self.asked.contains(&way) {
            self.asked.push(way);
        }
        self.way == way
    }

    /// Whether words are made of halves, as they may be later if not.
    fn is_made_in_halves(&mut self) -> bool {
        let ways = [Way::Halves, Way::SignedHalves].map(|way| self.is_made(way));
        ways.contains(&true) || self.way == Way::SignsOfHalves
    }

    /// How words are made now.
    pub(super) fn way(&self) -> Way {
        self.way
    }

    /// Whether some word could be made in a way.
    pub(super) fn could_be(&self, way: Way) -> bool {
        self.asked.contains(&way)
    }

    /// The steps that make a word, if it is made here.
    pub(super) fn made_of(&self, word: Source) -> Option<Recipe> {
        let Source::Step(last) = word else { return None };
        Some(Recipe::of(needed(&self.steps, last)))
    }

    /// A word with these lanes, of which those that are `None` may be anything.
    pub(super) fn word(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        if let Some(&known) = self.known.get(lanes) {
            return known;
        }
        if depth > DEEPEST || self.known.len() >= MOST_WORDS {
            return None;
        }
        self.known.insert(lanes.to_vec(), None);
        // The word of the site itself is there, and is to be made otherwise.
        let word = if depth == 0 {
            self.computed(lanes, depth)
        } else if !matches!(self.way, Way::Gathered | Way::OneByOne | Way::MultipliedOut) {
            let there = self.there(lanes).map(Source::Value);
            there.or_else(|| self.computed(lanes, depth)).or_else(|| self.gathered(lanes))
        } else {
            self.gathered(lanes).or_else(|| self.computed(lanes, depth))
        };
        let word = word.or_else(|| self.repeated(lanes));
        self.known.insert(lanes.to_vec(), word);
        word
    }

    pub(super) fn push(&mut self, step: Step) -> Source {
        let known = self.steps.iter().position(|known| *known == step);
        Source::Step(known.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        }))
    }

    /// The lower bits of a word, or all of it.
    pub(super) fn cut(&mut self, word: Source, width: u32) -> Source {
        match width {
            16 => self.push(Step::wide(op::CVT_U16_U32, &[word], width)),
            _ => word,
        }
    }

    /// The word in a register, since video instructions take no numbers.
    pub(super) fn register(&mut self, source: Source) -> Source {
        match source {
            Source::Value(_) | Source::Step(_) => source,
            Source::Constant(_) => self.push(Step::copy(source, 32)),
        }
    }

    /// A word whose lanes are computed of lanes of other words: all alike, or most of them, and the others merged in.
    fn computed(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        let word = self.spread(lanes).or_else(|| self.decided(lanes)).or_else(|| self.xored(lanes));
        if word.is_some() {
            return word;
        }
        if let Some(choices) = self.larger_choices(lanes)
            && self.is_made_in_halves()
            && let Some(word) = self.chosen_by_halves(&choices, depth)
        {
            return self.merged_with_rest(word, lanes, &choices[0], depth);
        }
        if let Some(numbers) = self.larger_numbers(lanes)
            && self.is_made_in_halves()
            && let Some(word) = self.low_bits(&numbers, depth)
        {
            return self.merged_with_rest(word, lanes, &numbers, depth);
        }
        if let Some(word) = self.faded(lanes, depth) {
            return Some(word);
        }
        let alike = self.alike(lanes);
        let is_whole = |alike: &Alike| alike.mask.count_ones() as usize == lanes.iter().flatten().count();
        // Lanes of two functions of words are shorter than what puts their bits together one by one.
        let is_logic = |first: &Alike| is_whole(first) && matches!(first.function, Key::Logic(_));
        if alike.first().is_some_and(is_logic)
            && let Some(word) = self.mixed(lanes)
        {
            return Some(word);
        }
        for alike in alike {
            let words: Option<Vec<Source>> =
                alike.operands.iter().map(|operand| self.word(operand, depth + 1)).collect();
            let rest: Vec<Option<Term>> = lanes
                .iter()
                .enumerate()
                .map(|(at, lane)| lane.filter(|_| alike.mask >> at & 1 == 0))
                .collect();
            let has_rest = rest.iter().any(Option::is_some);
            let is_merged = has_rest && alike.function.is_of_all_lanes() && self.is_made(Way::Merged);
            let made = words.and_then(|words| {
                if is_merged {
                    let word = self.make(alike.function, alike.mask, &words, None)?;
                    return self.merged(word, &rest, depth);
                }
                let rest = match has_rest {
                    true => Some(self.word(&rest, depth + 1)?),
                    false => None,
                };
                self.make(alike.function, alike.mask, &words, rest)
            });
            if made.is_some() {
                return made;
            }
        }
        self.scaled(lanes, depth).or_else(|| self.clamped(lanes)).or_else(|| self.mixed(lanes))
    }

    /// A word whose lanes that were made of numbers are made, with the other lanes.
    fn merged_with_rest(
        &mut self,
        word: Source,
        lanes: &[Option<Term>],
        numbers: &[Option<Term>],
        depth: usize,
    ) -> Option<Source> {
        let is_rest = |(lane, number): (&Option<Term>, &Option<Term>)| lane.filter(|_| number.is_none());
        let rest: Vec<Option<Term>> = lanes.iter().zip(numbers).map(is_rest).collect();
        self.merged(word, &rest, depth)
    }

    /// The groups of lanes that are computed alike, the largest first.
    fn alike(&mut self, lanes: &[Option<Term>]) -> Vec<Alike> {
        let of: Vec<Rc<[Made]>> = lanes
            .iter()
            .map(|lane| lane.map_or_else(|| Rc::new([]) as _, |lane| self.alternatives(lane)))
            .collect();
        let mut functions: Vec<Key> = Vec::new();
        for made in of.iter().flat_map(|of| of.iter()) {
            if !functions.contains(&made.function) {
                functions.push(made.function);
            }
        }
        let wanted = lanes.iter().flatten().count();
        // A byte that is a half is put in its place without a mask.
        let as_they_are = match self.lanes == Lanes::Four && functions.contains(&Key::Masked) {
            true => self.unmasked(lanes),
            false => Vec::new(),
        };
        let mut all: Vec<Alike> = Vec::new();
        for function in functions {
            let mut made = self.side_by_side(&of, function);
            if function == Key::Masked {
                fill(&mut made, &as_they_are);
            }
            let count = made.iter().flatten().count();
            let most = made.iter().flatten().next().map_or(0, |made| made.operands.len());
            let operands = (0..most).map(|at| made.iter().map(|made| Some((*made)?.operands[at])).collect());
            let computed = made.iter().zip(0..).filter(|(made, _)| made.is_some());
            let mask = computed.fold(0, |mask, (_, at)| mask | 1 << at);
            let is_made = if let Key::Linear(_) = function {
                count == wanted && self.is_made(Way::OfWords) || self.way == Way::OfWords
            } else {
                !matches!(function, Key::Between(_)) || self.is_made(Way::Carried)
            };
            if is_made && (count == wanted || count > 1) {
                all.push(Alike { function, mask, operands: operands.collect() });
            }
        }
        let has_quotients = all.iter().any(|alike| matches!(alike.function, Key::Quotient(_)));
        let of_words = has_quotients && self.is_made(Way::OfWords);
        all.sort_by_key(|alike| Reverse((alike.mask.count_ones(), alike.function.urgency(of_words))));
        all
    }

    /// Whether all lanes are how far two others are apart, or means of two, which bytes take less for than halves.
    pub(super) fn are_computed_as_bytes(&mut self, lanes: &[Option<Term>]) -> bool {
        let wanted = lanes.iter().flatten().count();
        let all = self.alike(lanes);
        let mut whole = all.iter().filter(|alike| alike.mask.count_ones() as usize == wanted);
        whole.any(|alike| alike.function.is_distance() || alike.function.is_mean())
    }

    /// What each lane is by a function, if it is: of several ways, the one whose operands lie in the words in which
    /// those of the lane before lie.
    fn side_by_side<'m>(&self, of: &'m [Rc<[Made]>], function: Key) -> Vec<Option<&'m Made>> {
        let mut last: Option<&Made> = None;
        let near = |made: &Made, last: &Made| -> u32 {
            made.operands.iter().zip(&last.operands).map(|(&one, &other)| self.nearness(one, other)).sum()
        };
        let mut all = Vec::with_capacity(of.len());
        for made in of {
            let fits = made.iter().filter(|made| made.function == function);
            let best = match last {
                None => fits.into_iter().next(),
                Some(last) => fits.rev().max_by_key(|made| near(made, last)),
            };
            last = best.or(last);
            all.push(best);
        }
        all
    }

    /// How near two lanes are to each other: most if they lie in one word, less if they are made of lanes that do, or of
    /// the same one.
    fn nearness(&self, one: Term, other: Term) -> u32 {
        let share = |one: Term, other: Term| {
            let [mut one, other] = [one, other].map(|lane| self.pieces.homes(lane));
            one.any(|(word, _)| other.clone().any(|(there, _)| word == there))
        };
        if share(one, other) {
            return 2;
        }
        let [inputs, others] = [one, other].map(|lane| self.pieces.inputs_of(lane));
        let is_near = |&input: &Term| others.iter().any(|&other| input == other || share(input, other));
        u32::from(inputs.iter().any(is_near))
    }
}

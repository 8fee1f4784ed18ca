//! Lanes put together again: a SIMD instruction that computes given lanes.
//!
//! Lanes read bytes wherever they lie. Either selectors fetch them from two words, or words are made first in which
//! each lane's byte is in its place.

use super::link::{Item, LaneOperand, Link, bytes};
use super::reach::{MadeWord, Need, Reach, Word};
use crate::recipe::{Recipe, Source, Step};
use crate::site::Site;
use ptxopt_grammar::video::{Form, Routing, Selector, Simd};

/// What the lanes that are not computed are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// Those of `c`: the mask has the lanes that are computed.
    Kept,
    /// Anything: all lanes are computed, whatever they read.
    Free,
}

/// How the bytes come to the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fetch {
    /// Selectors fetch them.
    Selectors,
    /// Instructions before put them in their places.
    Moves,
}

impl Link {
    /// Proposes instructions that compute the lanes.
    pub(super) fn route(
        &self,
        site: &Site<'_, '_, '_>,
        reach: &Reach,
        rest: Rest,
        fetches: &[Fetch],
        out: &mut Vec<Recipe>,
    ) {
        let mut all = Vec::new();
        for fetch in fetches {
            match fetch {
                Fetch::Selectors => all.extend(self.selected(site, reach, rest)),
                Fetch::Moves => {
                    all.extend(
                        [reach, &reach.reversed()].into_iter().filter_map(|reach| self.gathered(reach, rest)),
                    );
                }
            }
        }
        for recipe in all {
            if !is_site(site, &recipe) && !out.contains(&recipe) {
                out.push(recipe);
            }
        }
    }

    /// The mask that stands in the text.
    fn written(&self, rest: Rest) -> u8 {
        match rest {
            Rest::Kept => self.mask(),
            Rest::Free => self.size.full_mask(),
        }
    }

    fn step(&self, routing: Routing, rest: Rest, [a, b]: [Source; 2]) -> Option<Step> {
        let routing = routing.masked(self.written(rest))?;
        let form = Form::Simd(Simd { op: self.op, atype: self.atype, btype: self.btype, routing });
        // A `c` that is not read is a source that is read anyway.
        let merges_all = !self.adds() && routing.mask() == self.size.full_mask();
        let sources = [a, b, self.c];
        Some(Step::video(form, if merges_all { &sources[..2] } else { &sources }))
    }

    /// Instructions whose selectors fetch the bytes from two words: one that reads through most moves, and one where
    /// fewest bytes are out of place.
    fn selected(&self, site: &Site<'_, '_, '_>, reach: &Reach, rest: Rest) -> Vec<Recipe> {
        let mut all: Vec<(usize, usize, Recipe)> = Vec::new();
        for first in &reach.words {
            for second in &reach.words {
                let Some((strays, routing)) = self.routing(first, second) else { continue };
                let made = [first, second].into_iter().filter(|word| !word.is_origin()).count();
                let recipe = self.step(routing, rest, [first.source, second.source]).map(Recipe::one);
                all.extend(
                    recipe.filter(|recipe| !is_site(site, recipe)).map(|recipe| (made, strays, recipe)),
                );
            }
        }
        let through = all.iter().min_by_key(|(made, strays, _)| (*made, *strays));
        let in_place = all.iter().min_by_key(|(_, strays, _)| *strays);
        [through, in_place].into_iter().flatten().map(|(.., recipe)| recipe.clone()).collect()
    }

    /// The selectors, and how many lanes they do not find in their places.
    fn routing(&self, first: &Word, second: &Word) -> Option<(usize, Routing)> {
        let count = usize::from(self.size.count());
        let plain = Routing::plain(self.size);
        let mut strays = 0;
        let mut picks = |selector: Selector, words: [(&Word, usize); 2], read: fn(&Item) -> &LaneOperand| {
            let mut picks: Vec<u8> = (0..self.size.count()).map(|lane| selector.pick(lane)).collect();
            for item in &self.items {
                let lane = usize::from(item.lane);
                let needs = &read(item).needs;
                let find = |(word, offset): (&Word, usize)| Some(word.lane(needs, lane)? + offset);
                let place = words.into_iter().find_map(find)?;
                let place = u8::try_from(place).expect("there are eight places at most");
                strays += usize::from(place != picks[lane]);
                picks[lane] = place;
            }
            Some(picks)
        };
        let a = picks(plain.a(), [(first, 0), (second, count)], |item| &item.x)?;
        let b = picks(plain.b(), [(second, count), (first, 0)], |item| &item.y)?;
        Some((strays, plain.selected(&a, &b)?))
    }

    /// Instructions that put the bytes in their places, and one without selectors.
    fn gathered(&self, reach: &Reach, rest: Rest) -> Option<Recipe> {
        let mut steps = Vec::new();
        let mut word = |read: fn(&Item) -> &LaneOperand| -> Option<Source> {
            let spelled = reach.spell(&self.needs(read)).into_iter().next()?;
            Some(MadeWord::into_register(spelled, &mut steps))
        };
        let sources = [word(|item| &item.x)?, word(|item| &item.y)?];
        steps.push(self.step(Routing::plain(self.size), rest, sources)?);
        Some(Recipe::of(steps))
    }

    /// The bytes of the word that has each lane's operand in its place.
    pub(super) fn needs(&self, read: fn(&Item) -> &LaneOperand) -> [Option<Need>; 4] {
        let mut needs = [None; 4];
        for item in &self.items {
            for (at, &need) in read(item).needs.iter().enumerate() {
                needs[usize::from(item.lane) * bytes(self.size) + at] = Some(need);
            }
        }
        needs
    }

    /// The lanes of the result with demanded bits.
    pub(super) fn demanded(&self, site: &Site<'_, '_, '_>) -> u8 {
        let lane = |lane: u8| {
            site.demanded_word() >> (u32::from(lane) * self.size.bits()) & ((1 << self.size.bits()) - 1)
        };
        (0..self.size.count()).filter(|&number| lane(number) != 0).fold(0, |mask, lane| mask | 1 << lane)
    }
}

fn is_site(site: &Site<'_, '_, '_>, recipe: &Recipe) -> bool {
    matches!(recipe.steps.as_slice(), [step] if step == site.step)
}

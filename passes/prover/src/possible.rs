//! Whether two pieces of code differ in a world that could be.
//!
//! A counterexample gives unknowns any values, but not all values go together: two loads of a byte find the same, what
//! was stored is found again, variables lie apart, a thread's place is below the size of its block. So both pieces are
//! run in a world that is made of the counterexample, one access after the other. Memory holds what the first load of a
//! byte is to find there, all later ones find that or what was stored; addresses are what this module says; special
//! registers go together. Only if memory or what is returned is not the same in the end, the pieces differ: stores in
//! another order are no difference, nor is what local memory holds when the kernel has ended.
//!
//! The world need not be that of the counterexample. It is enough that it could be, and that the pieces differ in it. So
//! where the counterexample is not possible, others are drawn, unless a register that was never written could matter.
//! What depends on such a register is no difference: it may be anything on both sides. Nor is a world possible in which it
//! decides whether or where memory is accessed, or in which something is accessed where there is no memory.

use super::around::InModule;
use super::fragment::{ADDRESS, Access, Computed, Event};
use super::vectors::Draw as Vectors;
use super::{Counterexample, InputValue, Reads, Uniqueness};
use hashbrown::HashMap;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};
use ptxopt_grammar::special::special;
use ptxopt_grammar::tree::{Module, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// How far variables lie apart, as a power of two, and how many there may be.
const VARIABLES: u32 = 24;
const MOST_VARIABLES: u128 = 200;
/// The same for what pointers point to whose values do not matter.
const POINTERS: u32 = 36;
/// Where the windows are in generic memory through which other spaces are seen, as a power of two, and how large each is;
/// how large global memory is, and how much there is none of at its beginning.
const WINDOWS: u32 = 60;
const WINDOW: u32 = 32;
const GLOBAL_MEMORY: u32 = 47;
const NOWHERE: u128 = 1 << 12;
/// How many worlds are drawn.
const DRAWN: u64 = 64;
/// The state spaces; the first one has the same addresses as generic memory.
const SPACES: [&str; 5] = ["global", "shared", "local", "const", "param"];
const GLOBAL: usize = 0;
const LOCAL: usize = 2;

/// A byte of memory: the number of its space, and its address there.
type Byte = (usize, u128);

/// What a piece of code leaves.
struct Run {
    /// The values of all inputs, as this piece found them.
    inputs: Vec<u128>,
    written: BTreeMap<Byte, u8>,
    /// Which of these hold something that depends on what was never written.
    unknown: BTreeSet<Byte>,
    /// What is returned, as far as it does not depend on that.
    returned: Vec<Option<u128>>,
}

/// The counterexample, changed as far as needed to be possible; `None` if it was not found to be.
pub(super) fn possible(
    terms: &Terms,
    reads: &Reads<String>,
    function: InModule<'_, '_, '_>,
    sides: [&Computed; 2],
    found: &Counterexample,
) -> Option<Counterexample> {
    let unwritten = reads.all_undefined();
    let may_change = found.inputs.iter().all(|input| !unwritten.contains(&input.number));
    let world = World { terms, names: reads.registers(), function, found, unwritten, may_change };
    world.has_whole_addresses().then_some(())?;
    // Where pointers do not matter they had better point to different places.
    let as_found = [Draw::Apart, Draw::Nothing, Draw::Far].into_iter();
    as_found.chain((0..DRAWN).map(Draw::All)).find_map(|draw| world.differs(sides, draw))
}

/// Which inputs are not those of the counterexample.
#[derive(Clone, Copy)]
enum Draw {
    Nothing,
    /// Pointers that do not matter.
    Apart,
    /// The upper bits of all pointers.
    Far,
    /// All, by a number.
    All(u64),
}

struct World<'w, 'm, 't> {
    terms: &'w Terms,
    /// The names of the inputs.
    names: &'w [String],
    function: (&'m Module<'t>, &'w Function),
    found: &'w Counterexample,
    /// The inputs that stand for what was never written: each read of it may find something else.
    unwritten: BTreeSet<u32>,
    /// Whether no input stands for what was never written, which matters or not depending on others.
    may_change: bool,
}

impl World<'_, '_, '_> {
    /// Whether addresses are read as a whole.
    fn has_whole_addresses(&self) -> bool {
        let is_part = |term: Term| {
            matches!(self.terms.op(term), Op::Input(number) if self.names[number as usize].starts_with(ADDRESS))
                && self.terms.width(term) < WINDOW
        };
        !self.terms.iter().any(is_part)
    }

    fn differs(&self, sides: [&Computed; 2], draw: Draw) -> Option<Counterexample> {
        let inputs = self.inputs(draw)?;
        let mut memory = HashMap::new();
        let [old, new] = sides;
        let before = self.run(old, inputs.clone(), &mut memory)?;
        let after = self.run(new, inputs, &mut memory)?;
        let is_entry = self.function.0.kind(self.function.1.head) == StmtKind::Entry;
        let holds = |run: &Run, byte: &Byte| run.written.get(byte).or_else(|| memory.get(byte)).copied();
        let differs = before.written.keys().chain(after.written.keys()).any(|byte| {
            let is_known = [&before, &after].iter().all(|run| !run.unknown.contains(byte));
            !is_gone(*byte, is_entry) && is_known && holds(&before, byte) != holds(&after, byte)
        });
        let mut returned = before.returned.iter().zip(&after.returned);
        let returned_differ = returned.any(|(old, new)| old.is_some() && new.is_some() && old != new);
        (differs || returned_differ).then_some(())?;
        self.shown(sides, [&before, &after])
    }

    /// What inputs are in the beginning.
    fn inputs(&self, draw: Draw) -> Option<Vec<u128>> {
        let mut inputs = vec![0; self.names.len()];
        let mut pointers = 0;
        for input in &self.found.inputs {
            let is_long = input.width == 64;
            let is_apart = match draw {
                Draw::Nothing => false,
                Draw::Apart => is_long && !input.matters,
                Draw::Far | Draw::All(_) => is_long,
            };
            pointers += u128::from(is_apart);
            let is_special = self.names[input.number as usize].starts_with('%');
            let value = match draw {
                Draw::Far if is_apart => input.value & ones(POINTERS) | pointers << POINTERS,
                _ if is_apart => pointers << POINTERS,
                Draw::Nothing | Draw::Apart | Draw::Far => input.value,
                Draw::All(number) => drawn(number, input.number, is_special) & ones(input.width),
            };
            inputs[input.number as usize] = value;
        }
        // Pointers of which no result is made, but what they point to.
        let found: BTreeSet<u32> = self.found.inputs.iter().map(|input| input.number).collect();
        for term in self.terms.iter().filter(|&term| self.terms.width(term) == 64) {
            if let Op::Input(number) = self.terms.op(term)
                && !found.contains(&number)
            {
                pointers += 1;
                inputs[number as usize] = pointers << POINTERS;
            }
        }
        let mut places = 1..=MOST_VARIABLES;
        for (at, name) in self.names.iter().enumerate() {
            if let Some(name) = name.strip_prefix(ADDRESS) {
                // All arrays whose size the launch says are the same memory, behind all others.
                let place = if self.is_sized_by_launch(name) { MOST_VARIABLES + 1 } else { places.next()? };
                inputs[at] = place << VARIABLES;
            }
        }
        self.launch(&mut inputs)?;
        Some(inputs)
    }

    /// Whether a variable is in shared memory that is declared elsewhere.
    fn is_sized_by_launch(&self, name: &str) -> bool {
        let module = self.function.0;
        let mut decls = module.decls().filter(|&decl| module.decl_name(decl) == name.as_bytes());
        decls.any(|decl| {
            let stmt = module.stmt_text(module.decl(decl).stmt);
            let has = |word: &[u8]| stmt.windows(word.len()).any(|part| part == word);
            has(b".extern") && has(b".shared")
        })
    }

    /// Makes the special registers go together.
    fn launch(&self, inputs: &mut [u128]) -> Option<()> {
        let find = |name: &str| self.names.iter().position(|known| known == name);
        let range = |name: &str| {
            let known = special(name.as_bytes());
            known.map_or((0, 0), |known| (u128::from(known.least), u128::from(known.most)))
        };
        let (mut threads, mut places) = ([1; 3], [0; 3]);
        for (size, place, is_block) in [("%ntid", "%tid", true), ("%nctaid", "%ctaid", false)] {
            for (axis, component) in ["x", "y", "z"].iter().enumerate() {
                let [size, place] = [size, place].map(|name| format!("{name}.{component}"));
                let at = find(&place).map_or(0, |at| inputs[at]);
                let (least, most) = range(&size);
                let wide = find(&size).map_or(0, |at| inputs[at]).clamp(least, most).max(at + 1);
                (wide <= most).then_some(())?;
                if let Some(at) = find(&size) {
                    inputs[at] = wide;
                }
                if is_block {
                    (threads[axis], places[axis]) = (wide, at);
                }
            }
        }
        (threads.iter().product::<u128>() <= range("%ntid.x").1).then_some(())?;
        let placed = self.names.iter().any(|name| name.starts_with("%tid.") || name.starts_with("%ntid."));
        let lane = match find("%laneid") {
            Some(at) if !placed => inputs[at],
            _ => (places[0] + threads[0] * (places[1] + threads[1] * places[2])) % 32,
        };
        let bit = 1_u128 << lane;
        for (name, value) in [
            ("%laneid", lane),
            ("%lanemask_eq", bit),
            ("%lanemask_lt", bit - 1),
            ("%lanemask_le", 2 * bit - 1),
            ("%lanemask_ge", ones(32) & !(bit - 1)),
            ("%lanemask_gt", ones(32) & !(2 * bit - 1)),
        ] {
            if let Some(at) = find(name) {
                inputs[at] = value;
            }
        }
        self.is_known(inputs).then_some(())
    }

    /// Whether all is known of how the special registers that matter depend on each other and on the launch.
    fn is_known(&self, inputs: &[u128]) -> bool {
        const PLACES: [&str; 4] = ["%tid.", "%ntid.", "%ctaid.", "%nctaid."];
        let (module, function) = self.function;
        let head = String::from_utf8_lossy(module.stmt_text(function.head)).into_owned();
        let limited =
            [".reqntid", ".maxntid", ".reqnctapercluster", ".explicitcluster", ".blocksareclusters"]
                .iter()
                .any(|directive| head.contains(directive));
        let (mut all, mut strange, mut placed) = (0, 0, false);
        for (name, &value) in self.names.iter().zip(inputs).filter(|(name, _)| name.contains('%')) {
            if !name.starts_with('%') {
                strange += usize::from(name.contains(" bits of %"));
                continue;
            }
            let Some(known) = special(name.as_bytes()) else { return false };
            let (least, most) = (u128::from(known.least), u128::from(known.most));
            // Of a register that could have any value by the table it is not known which it can have.
            if !(least..=most).contains(&value) || (least, most) == (0, ones(known.bits)) {
                return false;
            }
            let is_place = PLACES.iter().any(|place| name.starts_with(place));
            let is_lane = name.starts_with("%lane");
            all += 1;
            placed |= is_place || is_lane;
            strange += usize::from(!is_place && !is_lane);
        }
        (strange == 0 || all == 1) && !(limited && placed)
    }

    /// Runs a piece of code in memory that holds what it is to find, as far as that is known already.
    fn run(&self, computed: &Computed, mut inputs: Vec<u128>, memory: &mut HashMap<Byte, u8>) -> Option<Run> {
        let mut written: BTreeMap<Byte, u8> = BTreeMap::new();
        let (mut unknown, mut unwritten) = (BTreeSet::new(), self.unwritten.clone());
        for event in &computed.events {
            match event {
                Event::Load(access) => {
                    (!self.depends(&[access.at, access.guard], &unwritten)).then_some(())?;
                    let Some(bytes) = self.bytes(access, &inputs)? else { continue };
                    let number = self.number(access.value)?;
                    if bytes.iter().any(|byte| unknown.contains(byte)) {
                        unwritten.insert(u32::try_from(number).ok()?);
                    }
                    let wanted = inputs[number].to_le_bytes();
                    let found = bytes.into_iter().zip(wanted).map(|(byte, wanted)| {
                        let known = written.get(&byte).copied();
                        known.unwrap_or_else(|| *memory.entry(byte).or_insert(wanted))
                    });
                    inputs[number] = found.rev().fold(0, |value, byte| value << 8 | u128::from(byte));
                }
                Event::Store(access) => {
                    (!self.depends(&[access.at, access.guard], &unwritten)).then_some(())?;
                    let Some(bytes) = self.bytes(access, &inputs)? else { continue };
                    let [value] = evaluate(self.terms, &[access.value], &inputs)[..] else { return None };
                    let is_unknown = self.depends(&[access.value], &unwritten);
                    for &byte in &bytes {
                        if is_unknown {
                            unknown.insert(byte)
                        } else {
                            unknown.remove(&byte)
                        };
                    }
                    written.extend(bytes.into_iter().zip(value.to_le_bytes()));
                }
                Event::Convert { space, into, to, from } => {
                    let space = SPACES.iter().position(|known| known == space)?;
                    let width = self.terms.width(*to);
                    (space == GLOBAL || width == 64).then_some(())?;
                    (!self.depends(&[*from], &unwritten)).then_some(())?;
                    let [from] = evaluate(self.terms, &[*from], &inputs)[..] else { return None };
                    let window = window(space);
                    let address = if *into { from.wrapping_sub(window) } else { from.wrapping_add(window) };
                    // An address that is not in the space has none there.
                    let within = if *into { address } else { from };
                    (within < space_size(space)).then_some(())?;
                    inputs[self.number(*to)?] = address & ones(width);
                }
            }
        }
        let is_returned = |(what, _): &&(String, Term)| what.starts_with("return value");
        let returned: Vec<Term> =
            computed.results.iter().filter(is_returned).map(|&(_, term)| term).collect();
        let values = evaluate(self.terms, &returned, &inputs);
        let known = |(&term, value)| (!self.depends(&[term], &unwritten)).then_some(value);
        let returned = returned.iter().zip(values).map(known).collect();
        Some(Run { inputs, written, unknown, returned })
    }

    /// Whether terms depend on any of these inputs.
    fn depends(&self, terms: &[Term], inputs: &BTreeSet<u32>) -> bool {
        let is_one =
            |term: Term| matches!(self.terms.op(term), Op::Input(number) if inputs.contains(&number));
        !inputs.is_empty() && terms.iter().any(|&term| self.terms.cone(term).into_iter().any(is_one))
    }

    /// The bytes that are accessed, `Some(None)` if it does not happen; `None` if that cannot be.
    #[expect(clippy::option_option, reason = "an access may be impossible, or not happen")]
    fn bytes(&self, access: &Access, inputs: &[u128]) -> Option<Option<Vec<Byte>>> {
        let [at, guard] = evaluate(self.terms, &[access.at, access.guard], inputs)[..] else { return None };
        if guard == 0 {
            return Some(None);
        }
        let size = u128::from(access.bits / 8);
        at.is_multiple_of(size).then_some(())?;
        let (space, at) = match SPACES.iter().position(|&space| space == access.space) {
            Some(space) => (space, at),
            None => (0..SPACES.len())
                .find(|&space| (window(space)..window(space) + (1 << WINDOW)).contains(&at) && space > 0)
                .map_or((0, at), |space| (space, at - window(space))),
        };
        // What is accessed elsewhere ends both.
        let least = if space == GLOBAL { NOWHERE } else { 0 };
        (least..space_size(space)).contains(&at).then_some(())?;
        Some(Some((0..size).map(|byte| (space, at + byte)).collect()))
    }

    fn number(&self, input: Term) -> Option<usize> {
        if let Op::Input(number) = self.terms.op(input) { Some(number as usize) } else { None }
    }

    /// The counterexample as it is in this world.
    fn shown(&self, sides: [&Computed; 2], [before, after]: [&Run; 2]) -> Option<Counterexample> {
        let mut shown = self.found.clone();
        let value = |run: &Run, input: &InputValue| run.inputs[input.number as usize];
        let stays = |input: &InputValue| {
            !input.matters || [before, after].iter().all(|run| value(run, input) == input.value)
        };
        if shown.inputs.iter().all(stays) {
            return Some(shown);
        }
        self.may_change.then_some(())?;
        // What the pieces find different is no input, but comes of what they did before.
        shown.inputs.retain(|input| value(before, input) == value(after, input));
        for input in &mut shown.inputs {
            (input.value, input.matters) = (value(before, input), true);
        }
        let results = [(sides[0], before), (sides[1], after)].map(|(computed, run)| {
            let results: Vec<Term> = computed.results.iter().map(|&(_, term)| term).collect();
            evaluate(self.terms, &results, &run.inputs)
        });
        [shown.before, shown.after] = results;
        shown.uniqueness = Uniqueness::Drawn;
        Some(shown)
    }
}

/// Where a space begins in generic memory.
fn window(space: usize) -> u128 {
    (space as u128) << WINDOWS
}

/// Whether a byte is local memory that is gone in the end: all with the thread of a kernel, variables with a function.
fn is_gone((space, at): Byte, is_entry: bool) -> bool {
    let is_variable = (1..=MOST_VARIABLES).contains(&(at >> VARIABLES));
    space == LOCAL && (is_entry || is_variable)
}

/// How many addresses a space has.
fn space_size(space: usize) -> u128 {
    1 << if space == GLOBAL { GLOBAL_MEMORY } else { WINDOW }
}

/// A number for an input of a world; small ones are frequent, and those of special registers.
fn drawn(world: u64, input: u32, is_special: bool) -> u128 {
    let mut draw = Vectors::new(world << 32 | u64::from(input));
    let bits = draw.next();
    let most = if is_special { bits % 5 } else { [3, 8, 32, 64][(bits % 4) as usize] };
    u128::from(draw.next()) & ones(u32::try_from(most).expect("it is small"))
}

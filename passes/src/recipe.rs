//! Recipes: a few instructions over values of the graph that spell one value.
//!
//! A recipe says what to compute, not where: registers are found when it becomes text, and the text is what gets
//! proved. So a recipe may be wrong, and nothing wrong is written.

use crate::graph::{Graph, ValueId};
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::table::types::TypeWord;
use ptxopt_grammar::video::Form;
use std::hash::{Hash, Hasher};
use tinyvec::ArrayVec;

/// The most sources that an instruction has.
const MOST_SOURCES: usize = 4;

/// The sources of an instruction, in the order of the text.
pub type Sources = ArrayVec<[Source; MOST_SOURCES]>;

/// What an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// A value of the graph.
    Value(ValueId),
    /// The result of an earlier step of the recipe.
    Step(usize),
    /// A number; an instruction takes as many low bits as it reads.
    Constant(u64),
}

/// The number 0, which fills places that are not used.
impl Default for Source {
    fn default() -> Self {
        Self::Constant(0)
    }
}

impl Source {
    /// The same with a number in the place of a value; `None` if that has none.
    pub(crate) fn numbered(self, number: impl FnOnce(ValueId) -> Option<usize>) -> Option<Self> {
        match self {
            Self::Value(value) => number(value).map(|number| Self::Value(ValueId::numbered(number))),
            Self::Step(_) | Self::Constant(_) => Some(self),
        }
    }
}

/// What an instruction does, operands left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Code {
    /// A video instruction. Sources: `a`, `b`, and `c` where the form reads it or its syntax requires it.
    Video(Form),
    /// Any other. Sources in the order of the text.
    Plain(Instruction),
    /// `mov.b32 d, {…};` and its like: the sources joined, the first lowest.
    Pack,
    /// `mov.b32 {d, _}, a;` or `mov.b32 {_, d}, a;`: a half of a word.
    Half(Half),
}

/// A half of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Half {
    /// Its low bits.
    Low,
    /// Its high bits.
    High,
}

/// One instruction with one result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it does.
    pub code: Code,
    /// What it reads.
    pub sources: Sources,
    /// How many bits its result has.
    pub width: u32,
}

/// One word for each source and for what is done, since steps are looked up often; the width goes with the code.
impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.code {
            Code::Plain(instruction) => instruction.hash(state),
            Code::Video(form) => form.hash(state),
            Code::Pack => state.write_u32(self.width),
            Code::Half(half) => half.hash(state),
        }
        for source in &self.sources {
            state.write_u64(match *source {
                Source::Constant(value) => value.rotate_left(2),
                Source::Step(step) => (step as u64) << 2 | 1,
                Source::Value(value) => (value.index() as u64) << 2 | 2,
            });
        }
    }
}

impl Step {
    /// A video instruction. A SIMD form whose text needs a `c` that it does not read repeats `a`.
    #[must_use]
    pub fn video(form: Form, sources: &[Source]) -> Self {
        let mut sources = of(sources);
        if sources.len() == 2 && matches!(form, Form::Simd(_)) {
            sources.push(sources[0]);
        }
        Self { code: Code::Video(form), sources, width: 32 }
    }

    /// An instruction with a result of 32 bits.
    #[must_use]
    pub fn plain(instruction: Instruction, sources: &[Source]) -> Self {
        Self::wide(instruction, sources, 32)
    }

    /// An instruction with a result of `width` bits.
    #[must_use]
    pub fn wide(instruction: Instruction, sources: &[Source], width: u32) -> Self {
        Self { code: Code::Plain(instruction), sources: of(sources), width }
    }

    /// A move of a value or a number.
    #[must_use]
    pub fn copy(source: Source, width: u32) -> Self {
        Self::wide(moving(width), &[source], width)
    }

    /// The first of two values or numbers where a predicate holds, else the second; of 16 or 32 bits.
    #[must_use]
    pub fn choice([then, otherwise]: [Source; 2], predicate: Source, width: u32) -> Self {
        let choose = op::SELP.of(if width == 16 { op::B16 } else { op::B32 });
        Self::wide(choose, &[then, otherwise, predicate], width)
    }

    /// A half of a word.
    #[must_use]
    pub fn half(half: Half, word: Source) -> Self {
        Self { code: Code::Half(half), sources: of(&[word]), width: 16 }
    }

    /// A word put together from its low and its high half.
    #[must_use]
    pub fn pack(halves: [Source; 2]) -> Self {
        Self { code: Code::Pack, sources: of(&halves), width: 32 }
    }

    /// The same instruction with other sources.
    #[must_use]
    pub fn over(&self, mut source: impl FnMut(&Source) -> Source) -> Self {
        let mut step = *self;
        step.sources.iter_mut().for_each(|of| *of = source(of));
        step
    }

    /// The same with numbers in the place of values; `None` if one has none.
    pub(crate) fn numbered(&self, mut number: impl FnMut(ValueId) -> Option<usize>) -> Option<Self> {
        let mut step = *self;
        for source in &mut step.sources {
            *source = source.numbered(&mut number)?;
        }
        Some(step)
    }

    /// What it does, if it is neither a video instruction nor a move of a vector.
    #[must_use]
    pub fn instruction(&self) -> Option<Instruction> {
        match self.code {
            Code::Plain(instruction) => Some(instruction),
            Code::Video(_) | Code::Pack | Code::Half(_) => None,
        }
    }

    /// What it does, as an instruction of the table.
    #[must_use]
    pub fn spelled(&self) -> Instruction {
        match self.code {
            Code::Video(form) => form.instruction(),
            Code::Plain(instruction) => instruction,
            Code::Pack => moving(self.width),
            Code::Half(_) => moving(2 * self.width),
        }
    }

    /// Whether it is this instruction.
    #[must_use]
    pub fn is(&self, instruction: Instruction) -> bool {
        self.code == Code::Plain(instruction)
    }

    /// How many bits a number among its sources has: those of the last type among its modifiers, which is the sources'.
    fn reads(&self) -> u32 {
        let bits = |instruction: Instruction| instruction.types().filter_map(TypeWord::bits).last();
        self.instruction().and_then(bits).unwrap_or(self.width)
    }

    /// How many hexadecimal digits its last number has, if it is a pattern: a selector or a table.
    fn digits(&self) -> Option<usize> {
        self.instruction()?.row().pattern.map(usize::from)
    }

    /// Whether its last number is a pattern: a selector or a table.
    pub(crate) fn has_pattern(&self) -> bool {
        self.digits().is_some()
    }

    /// What is moved, if it is a move.
    #[must_use]
    pub fn copied(&self) -> Option<Source> {
        self.instruction().filter(|instruction| instruction.is_move()).and(self.sources.first().copied())
    }
}

fn of(sources: &[Source]) -> Sources {
    let mut all = Sources::default();
    all.extend_from_slice(sources);
    all
}

/// The move of a register of so many bits. `mov` has none of eight, so that is a conversion which changes nothing.
fn moving(width: u32) -> Instruction {
    match width {
        1 => op::MOV_PRED,
        8 => op::CVT_U8_U8,
        16 => op::MOV_B16,
        32 => op::MOV_B32,
        64 => op::MOV_B64,
        _ => op::MOV_B128,
    }
}

/// Instructions that spell one value: the result of the last.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recipe {
    /// The instructions, in order; each reads only earlier ones.
    pub steps: Vec<Step>,
}

impl Recipe {
    /// One instruction.
    #[must_use]
    pub fn one(step: Step) -> Self {
        Self { steps: vec![step] }
    }

    /// Several instructions.
    #[must_use]
    pub fn of(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The same with each instruction once: what is computed twice is computed once and read twice.
    #[must_use]
    pub fn shared(self) -> Self {
        let last = self.steps.len().saturating_sub(1);
        let mut steps: Vec<Step> = Vec::with_capacity(self.steps.len());
        let mut places: Vec<usize> = Vec::with_capacity(self.steps.len());
        for (at, mut step) in self.steps.into_iter().enumerate() {
            for source in &mut step.sources {
                if let Source::Step(earlier) = source {
                    *earlier = places[*earlier];
                }
            }
            // The last one writes the result, also if it is the same as an earlier one.
            let known = steps.iter().position(|known| at != last && *known == step);
            places.push(known.unwrap_or(steps.len()));
            if known.is_none() {
                steps.push(step);
            }
        }
        Self { steps }
    }

    /// The value is this one, or this number.
    #[must_use]
    pub fn copy(source: Source, width: u32) -> Self {
        Self::one(Step::copy(source, width))
    }

    /// The values of the graph that it reads, in order, with repeats.
    pub fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.steps.iter().flat_map(|step| &step.sources).filter_map(|source| match *source {
            Source::Value(value) => Some(value),
            Source::Step(_) | Source::Constant(_) => None,
        })
    }
}

/// How a word is put together at the end of a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Packing {
    /// Not of earlier words.
    None,
    /// Of bytes of two earlier words.
    Halves,
    /// Like that, and then with some bits inverted.
    Biased,
}

/// How steps put their result together.
pub(crate) fn packing(steps: &[Step]) -> Packing {
    let packs = |step: &Step| {
        step.is(op::PRMT_B32)
            && matches!(step.sources[..], [Source::Step(_), Source::Step(_), Source::Constant(_)])
    };
    match steps.last() {
        Some(last) if packs(last) => Packing::Halves,
        Some(last) if last.is(op::XOR_B32) => match last.sources[..] {
            [Source::Step(of), Source::Constant(_)] if packs(&steps[of]) => Packing::Biased,
            _ => Packing::None,
        },
        Some(_) | None => Packing::None,
    }
}

/// A recipe as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The instructions, without guard, without blanks around them, each with its `;`.
    pub lines: Vec<String>,
    /// The new registers and their widths, in the order in which they are written.
    pub fresh: Vec<(String, u32)>,
}

impl Recipe {
    /// The text of a recipe whose result goes to the register `to`.
    ///
    /// `fresh` names the new register that holds the result of a step. `None` if it cannot be written: a value
    /// without a register, or an operand that the form does not take.
    #[must_use]
    pub fn text(&self, graph: &Graph<'_, '_>, to: &str, fresh: &dyn Fn(usize) -> String) -> Option<Text> {
        let mut text = Text { lines: Vec::new(), fresh: Vec::new() };
        let last = self.steps.len().checked_sub(1)?;
        for (at, step) in self.steps.iter().enumerate() {
            let to = if at == last { to.to_owned() } else { fresh(at) };
            if at != last {
                text.fresh.push((to.clone(), step.width));
            }
            let names = step.sources.iter().map(|source| match *source {
                Source::Value(value) => {
                    graph.register_of(value).and_then(|register| graph.register_text(register))
                }
                Source::Step(step) => Some(fresh(step)),
                Source::Constant(value) => Some(number(value, step.reads())),
            });
            let mut names: Vec<String> = names.collect::<Option<_>>()?;
            if let (Some(digits), Some(&Source::Constant(value))) = (step.digits(), step.sources.last())
                && let Some(name) = names.last_mut()
            {
                *name = format!("{value:#0width$x}", width = digits + 2);
            }
            text.lines.push(line(step, &to, &names)?);
        }
        Some(text)
    }
}

fn line(step: &Step, to: &str, names: &[String]) -> Option<String> {
    Some(match step.code {
        Code::Video(form) => {
            let (a, b, c) = (names.first()?, names.get(1)?, names.get(2).map(String::as_str));
            format!("{};", form.encode(to, a, b, c)?)
        }
        Code::Plain(instruction) => format!("{instruction} {to}, {};", names.join(", ")),
        Code::Pack => format!("{} {to}, {{{}}};", step.spelled(), names.join(", ")),
        Code::Half(half) => {
            let vector = match half {
                Half::Low => format!("{{{to}, _}}"),
                Half::High => format!("{{_, {to}}}"),
            };
            format!("{} {vector}, {};", step.spelled(), names.first()?)
        }
    })
}

/// A number in its most readable form: small ones decimal, masks and patterns hexadecimal.
fn number(value: u64, width: u32) -> String {
    let value = if width < 64 { value & ((1 << width) - 1) } else { value };
    match width {
        _ if value < 1000 => value.to_string(),
        _ if value <= 0xffff => format!("{value:#06x}"),
        32 => format!("{value:#010x}"),
        _ => format!("{value:#x}"),
    }
}

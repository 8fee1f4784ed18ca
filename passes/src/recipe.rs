//! Recipes: a few instructions over values of the graph that spell one value.
//!
//! A recipe says what to compute, not where: registers are found when it becomes text, and the text is what gets
//! proved. So a recipe may be wrong, and nothing wrong is written.

use crate::graph::{Graph, ValueId};
use ptxopt_grammar::video::Form;

/// A move of eight bits: `mov` has none, so it is a conversion that changes nothing.
const BYTE_MOVE: &str = "cvt.u8.u8";

/// Whether an opcode with its modifiers moves what it reads as it is.
#[must_use]
pub fn is_move(words: &str) -> bool {
    words.starts_with("mov.") || words == BYTE_MOVE
}

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

/// What an instruction does, operands left out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Code {
    /// A video instruction. Sources: `a`, `b`, and `c` where the form reads it or its syntax requires it.
    Video(Form),
    /// Any other, by its opcode with modifiers: `prmt.b32`. Sources in the order of the text.
    Plain(String),
    /// `mov.b32 d, {…};` and its like: the sources joined, the first lowest.
    Pack,
}

/// One instruction with one result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What it does.
    pub code: Code,
    /// What it reads.
    pub sources: Vec<Source>,
    /// How many bits its result has.
    pub width: u32,
}

impl Step {
    /// A video instruction. A SIMD form whose text needs a `c` that it does not read repeats `a`.
    #[must_use]
    pub fn video(form: Form, sources: &[Source]) -> Self {
        let mut sources = sources.to_vec();
        if sources.len() == 2 && matches!(form, Form::Simd(_)) {
            sources.push(sources[0]);
        }
        Self { code: Code::Video(form), sources, width: 32 }
    }

    /// An instruction by its opcode with modifiers, with a result of 32 bits.
    #[must_use]
    pub fn plain(words: &str, sources: &[Source]) -> Self {
        Self::wide(words, sources, 32)
    }

    /// An instruction by its opcode with modifiers, with a result of `width` bits.
    #[must_use]
    pub fn wide(words: &str, sources: &[Source], width: u32) -> Self {
        Self { code: Code::Plain(words.to_owned()), sources: sources.to_vec(), width }
    }

    /// A move of a value or a number.
    #[must_use]
    pub fn copy(source: Source, width: u32) -> Self {
        let words = match width {
            1 => "mov.pred".to_owned(),
            8 => BYTE_MOVE.to_owned(),
            _ => format!("mov.b{width}"),
        };
        Self::wide(&words, &[source], width)
    }

    /// The same instruction with other sources.
    #[must_use]
    pub fn over(&self, source: impl FnMut(&Source) -> Source) -> Self {
        let sources = self.sources.iter().map(source).collect();
        Self { code: self.code.clone(), sources, width: self.width }
    }

    /// How many bits a number among its sources has: those of the last type among its words, which is the sources'.
    fn reads(&self) -> u32 {
        let Code::Plain(words) = &self.code else { return self.width };
        let bits = |word: &str| word.get(1..).and_then(|digits| digits.parse().ok());
        words.split('.').skip(1).filter_map(bits).last().unwrap_or(self.width)
    }

    /// How many hexadecimal digits its last number has, if it is a pattern: a selector or a table.
    fn digits(&self) -> Option<usize> {
        match &self.code {
            Code::Plain(words) if words.starts_with("prmt.") => Some(4),
            Code::Plain(words) if words.starts_with("lop3.") => Some(2),
            Code::Plain(_) | Code::Video(_) | Code::Pack => None,
        }
    }

    /// Whether its last number is a pattern: a selector or a table.
    pub(crate) fn has_pattern(&self) -> bool {
        self.digits().is_some()
    }

    /// What is moved, if it is a move.
    #[must_use]
    pub fn copied(&self) -> Option<Source> {
        match &self.code {
            Code::Plain(words) if is_move(words) => self.sources.first().copied(),
            Code::Plain(_) | Code::Video(_) | Code::Pack => None,
        }
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

    /// How it puts its result together.
    #[must_use]
    pub fn packing(&self) -> Packing {
        let Some(last) = self.steps.last() else { return Packing::None };
        match last.sources.as_slice() {
            [Source::Step(_), Source::Step(_), Source::Constant(_)] if last.is("prmt.b32") => Packing::Halves,
            &[Source::Step(of), Source::Constant(_)] if last.is("xor.b32") => {
                match self.steps[of].sources.as_slice() {
                    [Source::Step(_), Source::Step(_), Source::Constant(_)]
                        if self.steps[of].is("prmt.b32") =>
                    {
                        Packing::Biased
                    }
                    _ => Packing::None,
                }
            }
            _ => Packing::None,
        }
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Not of earlier words.
    None,
    /// Of bytes of two earlier words.
    Halves,
    /// Like that, and then with some bits inverted.
    Biased,
}

/// A recipe as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The instructions, without guard, without blanks around them, each with its `;`.
    pub lines: Vec<String>,
    /// The new registers and their widths, in the order in which they are written.
    pub fresh: Vec<(String, u32)>,
}

impl Step {
    /// Whether it is this instruction.
    fn is(&self, words: &str) -> bool {
        matches!(&self.code, Code::Plain(own) if own == words)
    }

    /// The opcode with its modifiers.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.code {
            Code::Video(form) => form.to_string(),
            Code::Plain(words) => words.clone(),
            Code::Pack => format!("mov.b{}", self.width),
        }
    }
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
    Some(match &step.code {
        Code::Video(form) => {
            let (a, b, c) = (names.first()?, names.get(1)?, names.get(2).map(String::as_str));
            format!("{};", form.encode(to, a, b, c)?)
        }
        Code::Plain(words) => format!("{words} {to}, {};", names.join(", ")),
        Code::Pack => format!("mov.b{} {to}, {{{}}};", step.width, names.join(", ")),
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

//! `ptxopt eval`: shows what one instruction computes, or checks a file of reference vectors.

mod registers;
mod vectors;

use super::{Console, Failure, Status, usage_error};
use crate::input::Input;
use crate::output::to_stdout;
use ptxopt_grammar::meaning::disputed::{Dispute, disputed_at};
use ptxopt_grammar::meaning::{Place, Write, concrete, meaning, term};
use ptxopt_grammar::tree::{Module, StmtId};
use registers::Wrapped;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Show what an instruction computes, or check a file of reference vectors
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// One instruction; its registers may have any names and get the types that it needs
    #[arg(required_unless_present = "vectors")]
    instruction: Option<String>,

    /// Values of the registers that it reads; `cc=1` sets the carry flag
    #[arg(value_name = "NAME=VALUE", value_parser = assignment)]
    values: Vec<(String, u128)>,

    /// File of vectors, one JSON object per line, plain or compressed with gzip
    #[arg(long, value_name = "FILE", conflicts_with_all = ["instruction", "values"])]
    vectors: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  ptxopt eval 'vadd4.u32.u32.u32.sat d, a, b, c' a=0x80ff01fe b=0x80010101 c=0

A line of a file of vectors is one of
  {\"ptx\", \"v\": [\"a b c d\", …]}  words in hexadecimal: with %r1, %r2 and %r3, %r0 becomes d
  {\"ptx\", \"v\", \"doc\": [\"d\", …]} likewise, with the manual's d where it is not the assembler's
  {\"ptx\", \"error\": \"…\"}         the instruction must be rejected
  {\"ptx\", \"ok\": true}           the instruction must be accepted";

fn assignment(text: &str) -> Result<(String, u128), String> {
    let (name, value) = text.split_once('=').ok_or("expected `name=value`")?;
    let (negative, digits) = value.strip_prefix('-').map_or((false, value), |rest| (true, rest));
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some(_) | None => (10, digits),
    };
    let value = u128::from_str_radix(digits, radix).map_err(|_| format!("`{value}` is not an integer"))?;
    Ok((name.to_owned(), if negative { value.wrapping_neg() } else { value }))
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if let Some(path) = &args.vectors {
        return check(&Input::from(path.clone()), console);
    }
    let instruction = args.instruction.as_deref().expect("clap requires it without `--vectors`");
    let wrapped = Wrapped::new(instruction);
    let module = ptxopt_grammar::parse(wrapped.text()).map_err(|diagnostics| Failure {
        status: Status::Invalid,
        message: console.renderer.diagnostics("<instruction>", wrapped.text(), &diagnostics),
    })?;
    let failed =
        |message: String| Failure { status: Status::Invalid, message: console.renderer.failure(&message) };
    let stmt = Wrapped::instruction(&module).map_err(failed)?;
    let results = evaluate(&module, stmt, &args.values).map_err(|message| usage(&message))?;
    let dispute = disputed_at(&module, stmt);
    to_stdout(|out| {
        results.iter().try_for_each(|result| result.print(out))?;
        dispute.map_or(Ok(()), |Dispute { name, manual, assembler, .. }| {
            writeln!(
                out,
                "this is the manual's result; the manual and NVIDIA's assembler disagree ({name}):"
            )?;
            writeln!(out, "  the manual: {manual}\n  NVIDIA's assembler: {assembler}")
        })
    })
    .map_err(|error| Failure::writing(console, "<stdout>", &error))
}

fn usage(message: &str) -> Failure {
    Failure {
        status: Status::Usage,
        message: usage_error(Some("eval"), message.to_owned()).render().to_string(),
    }
}

fn check(input: &Input, console: &Console) -> Result<(), Failure> {
    let bytes = input.read().map_err(|error| Failure::reading(console, input, &error))?;
    let outcome = vectors::check(&bytes).map_err(|message| Failure {
        status: Status::Invalid,
        message: console.renderer.failure(&format!("`{input}`: {message}")),
    })?;
    to_stdout(|out| write!(out, "{outcome}"))
        .map_err(|error| Failure::writing(console, "<stdout>", &error))?;
    if outcome.failed == 0 {
        return Ok(());
    }
    let message =
        format!("`{input}`: {} of {} checks failed", outcome.failed, outcome.failed + outcome.passed);
    Err(Failure { status: Status::Invalid, message: console.renderer.failure(&message) })
}

/// A register and its value afterwards.
struct Holds {
    name: String,
    value: u128,
    width: u32,
}

fn evaluate(module: &Module<'_>, stmt: StmtId, values: &[(String, u128)]) -> Result<Vec<Holds>, String> {
    let name = |place: Place| String::from_utf8_lossy(place.text(module)).into_owned();
    let mut given: BTreeMap<&str, u128> = BTreeMap::new();
    for (name, value) in values {
        if given.insert(name, *value).is_some() {
            return Err(format!("`{name}` has two values"));
        }
    }
    let (mut terms, mut missing, mut used) = (term::Terms::new(), Vec::new(), Vec::new());
    let written = meaning(module, stmt, &mut terms, &mut |terms, place, width| {
        let name = name(place);
        let value = given.get(name.as_str()).copied();
        if value.is_none() && !missing.contains(&name) {
            missing.push(name.clone());
        }
        used.push(name);
        Some(terms.constant(value.unwrap_or_default(), width))
    });
    let written = written.ok_or("the meaning of this form of the instruction is unknown")?;
    if let Some(name) = missing.first() {
        return Err(format!("`{name}` is read and has no value; add `{name}=…`"));
    }
    if let Some(name) = given.keys().find(|&&name| !used.iter().any(|used| used == name)) {
        return Err(format!("the instruction does not read `{name}`"));
    }
    let outputs: Vec<_> = written.iter().map(|write| write.value).collect();
    let results = concrete::evaluate(&terms, &outputs, &[]);
    let hold = |(write, value): (&Write, u128)| Holds {
        name: name(write.place),
        value,
        width: terms.width(write.value),
    };
    Ok(written.iter().zip(results).map(hold).collect())
}

impl Holds {
    fn print(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let Self { name, value, width } = self;
        if *width == 1 {
            return writeln!(out, "{name} = {value}");
        }
        let digits = *width as usize / 4;
        writeln!(out, "{name} = 0x{value:0digits$x}")?;
        for lane in [64, 32, 16, 8].into_iter().filter(|lane| lane <= width) {
            let letter = match lane {
                64 => 'd',
                32 => 'w',
                16 => 'h',
                _ => 'b',
            };
            for number in (0..width / lane).rev() {
                let bits = value >> (number * lane) & term::ones(lane);
                let (digits, minus) = (lane as usize / 4, term::signed(bits, lane));
                let label = format!("{letter}{number}");
                writeln!(out, "  {label:<4}{:>18}{bits:>22}{minus:>22}", format!("{bits:0digits$x}"))?;
            }
        }
        Ok(())
    }
}

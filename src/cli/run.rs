//! `ptxopt run`: evaluates a kernel over a grid, with buffers from files or seeds.

use super::{Console, Failure, Status, usage_error};
use crate::input::Input;
use crate::output::{Output, to_stdout};
use ptxopt_grammar::names::Type;
use ptxopt_machine::{Argument, Buffer, End, Launch, Machine, Memory, Outcome, RaceCheck};
use std::io::Write;
use std::path::PathBuf;

/// Run a kernel over a grid, without a GPU
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// PTX file to read; `-` is standard input
    file: PathBuf,

    /// Entry to run; may be omitted if the module has only one
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Number of blocks: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = shape)]
    grid: [u32; 3],

    /// Number of threads in a block: X, X,Y or X,Y,Z
    #[arg(long, value_name = "X,Y,Z", default_value = "1", value_parser = shape)]
    block: [u32; 3],

    /// Argument of the entry; repeated for each parameter, in their order
    #[arg(long, value_name = "ARGUMENT", value_parser = argument, allow_hyphen_values = true)]
    arg: Vec<Given>,

    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,

    /// Most instructions to execute; one that several threads of a warp execute together counts once
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000_000)]
    budget: u64,

    /// End the run after this many different faults; the same fault of the same statement counts once
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = faults)]
    faults: usize,

    /// Write the buffer of argument N, counted from 0, to a file; may be repeated
    #[arg(long, value_name = "N=FILE", value_parser = numbered)]
    out: Vec<(usize, String)>,

    /// Print the buffer of argument N as u8, s8, u32, s32, f32, hex or lanes; may be repeated
    #[arg(long, value_name = "N=FORM", value_parser = form)]
    show: Vec<(usize, Form)>,
}

const AFTER_HELP: &str = "\
Example:
  ptxopt run in.ptx --entry f --grid 2 --block 64 --arg buf:512 --arg buf:512:seed=1 \\
      --arg s32:-1 --show 0=lanes

An argument is one of
  u8:N u16:N u32:N u64:N s8:N … s64:N  an integer, decimal or hexadecimal
  f32:X f64:X                          a floating-point number
  bytes:HEX                            a structure, byte by byte
  buf:SIZE                             the address of a buffer of SIZE zero bytes
  buf:SIZE:seed=N                      the address of a buffer of SIZE pseudo-random bytes
  buf:@FILE                            the address of a buffer with the contents of a file

An argument must have the size of its parameter. Floating-point numbers are for floating-point
parameters; signed and unsigned integers are interchangeable, and `.b` parameters take any type
of their size.

Faults are accesses out of bounds or misaligned, undefined values that are stored or branched on,
races in shared and in global memory, deadlock, `trap`. The run continues after a fault: a faulty
load gives 0, a faulty store is skipped, and a thread that branches on an undefined value ends.
Deadlock, `trap`, and faults in barriers, calls and exchanges between lanes end the run. Faults
after the first may be consequences of it.

The result is exact unless a line says what else it depends on, such as the order of atomic
operations, or fences that are needed to keep accesses from racing.

Exit status:
  0  the kernel finished
  1  the input is not valid PTX
  2  the command line is wrong
  3  something could not be read or written
  5  the kernel had a fault, or did not finish within its budget
  6  the kernel reached an instruction that cannot be evaluated";

/// An argument of the entry as the command line gives it.
#[derive(Clone, Debug)]
enum Given {
    Number(Type, u64),
    Bytes(Vec<u8>),
    Zeros(usize),
    Seeded(usize, u64),
    File(PathBuf),
}

/// How a buffer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    U8,
    S8,
    U32,
    S32,
    F32,
    Hex,
    Lanes,
}

fn shape(text: &str) -> Result<[u32; 3], String> {
    let mut shape = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("expected at most three numbers".to_owned());
    }
    for (axis, part) in shape.iter_mut().zip(parts) {
        *axis = part
            .parse()
            .ok()
            .filter(|&n| n > 0)
            .ok_or_else(|| format!("`{part}` is not a positive integer"))?;
    }
    Ok(shape)
}

fn integer(text: &str) -> Result<u64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let value = value.map_err(|_| format!("`{text}` is not an integer"))?;
    Ok(if negative { value.wrapping_neg() } else { value })
}

/// An integer of a type with this many bits; a negative one may be given by its bits in hexadecimal.
fn integer_of(kind: &str, bits: u32, text: &str) -> Result<u64, String> {
    let value = integer(text)?;
    let (negative, hexadecimal) = (text.starts_with('-'), text.starts_with("0x"));
    let above = value.checked_shr(bits).unwrap_or(0);
    let signed = value.cast_signed() >> (bits - 1);
    let fits = match (negative, kind.starts_with('s') && !hexadecimal) {
        (true, true) => signed == -1 || value == 0,
        (true, false) => value == 0,
        (false, true) => signed == 0,
        (false, false) => above == 0,
    };
    if fits { Ok(value) } else { Err(format!("`{text}` does not fit {kind}")) }
}

fn faults(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("`{text}` is not a positive integer"))
}

fn argument(text: &str) -> Result<Given, String> {
    let (kind, value) = text.split_once(':').ok_or("expected `type:value`, such as `u32:5` or `buf:64`")?;
    match kind {
        "u8" | "u16" | "u32" | "u64" | "s8" | "s16" | "s32" | "s64" => {
            let ty = Type::parse(format!(".{kind}").as_bytes());
            integer_of(kind, ty.bits().unwrap_or(64), value).map(|bits| Given::Number(ty, bits))
        }
        "f32" => {
            let number: f32 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            Ok(Given::Number(Type::F32, number.to_bits().into()))
        }
        "f64" => {
            let number: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            Ok(Given::Number(Type::F64, number.to_bits()))
        }
        "bytes" => {
            let byte = |at: usize| value.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
            let bytes: Option<_> = (0..value.len()).step_by(2).map(byte).collect();
            bytes.map(Given::Bytes).ok_or_else(|| format!("`{value}` is not a row of hexadecimal bytes"))
        }
        "buf" => buffer(value),
        _ => Err(format!("`{kind}` is not a type of an argument")),
    }
}

fn buffer(text: &str) -> Result<Given, String> {
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Given::File(path.into()));
    }
    let (size, seed) = match text.split_once(':') {
        Some((size, seed)) => (size, Some(seed.strip_prefix("seed=").ok_or("expected `seed=N`")?)),
        None => (text, None),
    };
    let size = usize::try_from(integer(size)?).ok().filter(|&size| size < 1 << 32);
    let size = size.ok_or("a buffer has less than 4 GiB")?;
    Ok(match seed {
        None => Given::Zeros(size),
        Some(seed) => Given::Seeded(size, integer(seed)?),
    })
}

fn numbered(text: &str) -> Result<(usize, String), String> {
    let (number, rest) = text.split_once('=').ok_or("expected `N=…`")?;
    let number = number.parse().map_err(|_| format!("`{number}` is not the number of an argument"))?;
    Ok((number, rest.to_owned()))
}

fn form(text: &str) -> Result<(usize, Form), String> {
    let (number, form) = numbered(text)?;
    let form = match form.as_str() {
        "u8" => Form::U8,
        "s8" => Form::S8,
        "u32" => Form::U32,
        "s32" => Form::S32,
        "f32" => Form::F32,
        "hex" => Form::Hex,
        "lanes" => Form::Lanes,
        other => return Err(format!("`{other}` is not one of u8, s8, u32, s32, f32, hex, lanes")),
    };
    Ok((number, form))
}

/// Pseudo-random bytes, determined by the seed.
fn seeded(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    (0..size.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(size).collect()
}

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let input = Input::from(args.file.clone());
    let text = input.read().map_err(|error| Failure::reading(console, &input, &error))?;
    let module = super::parse(console, &input, &text)?;
    let machine = Machine::new(&module);
    let launch = Launch {
        entry: entry(args, &machine)?,
        grid: args.grid,
        block: args.block,
        dynamic_shared: args.shared,
        budget: args.budget,
        faults: args.faults,
        race_check: RaceCheck::All,
    };
    let mut memory = machine.memory();
    let mut buffers = Vec::new();
    let mut arguments = Vec::new();
    for given in &args.arg {
        let (argument, buffer) = prepare(given, &mut memory, console)?;
        arguments.push(argument);
        buffers.push(buffer);
    }
    let buffer_of = |number: usize| {
        let buffer = buffers.get(number).copied().flatten();
        buffer.ok_or_else(|| usage(format!("argument {number} is not a buffer")))
    };
    let outs: Vec<_> =
        args.out.iter().map(|(n, path)| Ok((buffer_of(*n)?, path))).collect::<Result<_, Failure>>()?;
    let shows: Vec<_> =
        args.show.iter().map(|&(n, form)| Ok((n, buffer_of(n)?, form))).collect::<Result<_, Failure>>()?;
    let outcome = machine.launch(&launch, &arguments, &mut memory);
    for (buffer, path) in outs {
        let output = Output::from(PathBuf::from(path));
        let bytes = std::iter::once(memory.bytes(buffer));
        output.write(bytes).map_err(|error| Failure::writing(console, &output, &error))?;
    }
    to_stdout(|out| {
        for &(number, buffer, form) in &shows {
            print(out, number, memory.bytes(buffer), form)?;
        }
        report(out, &outcome)
    })
    .map_err(|error| Failure::writing(console, "<stdout>", &error))?;
    conclude(args, &outcome, console)
}

fn usage(message: String) -> Failure {
    Failure { status: Status::Usage, message: usage_error(Some("run"), message).render().to_string() }
}

fn entry(args: &Args, machine: &Machine<'_, '_>) -> Result<String, Failure> {
    if let Some(name) = &args.entry {
        return Ok(name.clone());
    }
    let names: Vec<_> = machine.entries().map(|entry| entry.name).collect();
    match names.as_slice() {
        [name] => Ok(name.clone()),
        [] => Err(usage("the module has no entry".to_owned())),
        names => {
            Err(usage(format!("there are several entries; choose one with `--entry`: {}", names.join(", "))))
        }
    }
}

fn prepare(
    given: &Given,
    memory: &mut Memory,
    console: &Console,
) -> Result<(Argument, Option<Buffer>), Failure> {
    let bytes = match given {
        Given::Number(ty, bits) => return Ok((Argument::Typed(*ty, *bits), None)),
        Given::Bytes(bytes) => return Ok((Argument::Bytes(bytes.clone()), None)),
        Given::Zeros(size) => vec![0; *size],
        Given::Seeded(size, seed) => seeded(*size, *seed),
        Given::File(path) => {
            let input = Input::from(path.clone());
            input.read().map_err(|error| Failure::reading(console, &input, &error))?
        }
    };
    let buffer = memory.allocate(bytes);
    Ok((Argument::Buffer(buffer), Some(buffer)))
}

fn print(out: &mut dyn Write, number: usize, bytes: &[u8], form: Form) -> std::io::Result<()> {
    writeln!(out, "argument {number}:")?;
    let per_line = match form {
        Form::U8 | Form::S8 | Form::Hex => 16,
        Form::U32 | Form::S32 | Form::F32 => 32,
        Form::Lanes => 4,
    };
    for (line, bytes) in bytes.chunks(per_line).enumerate() {
        write!(out, "{:6x}:", line * per_line)?;
        let words =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        match form {
            Form::U8 => bytes.iter().try_for_each(|byte| write!(out, " {byte}"))?,
            Form::S8 => bytes.iter().try_for_each(|byte| write!(out, " {}", byte.cast_signed()))?,
            Form::Hex => bytes.iter().try_for_each(|byte| write!(out, " {byte:02x}"))?,
            Form::U32 => words.into_iter().try_for_each(|word| write!(out, " {word}"))?,
            Form::S32 => words.into_iter().try_for_each(|word| write!(out, " {}", word.cast_signed()))?,
            Form::F32 => words.into_iter().try_for_each(|word| write!(out, " {}", f32::from_bits(word)))?,
            Form::Lanes => {
                for word in words {
                    write!(out, " {word:#010x}  lanes")?;
                    word.to_be_bytes().iter().try_for_each(|lane| write!(out, " {lane:3}"))?;
                    write!(out, "  signed")?;
                    word.to_be_bytes()
                        .iter()
                        .try_for_each(|lane| write!(out, " {:4}", lane.cast_signed()))?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn report(out: &mut dyn Write, outcome: &Outcome) -> std::io::Result<()> {
    if outcome.is_exact() {
        writeln!(
            out,
            "exact: {} instructions, {} summed over lanes",
            outcome.instructions, outcome.lane_instructions
        )?;
    }
    for reason in &outcome.inexact {
        writeln!(out, "not exact: the result depends on {reason}")?;
    }
    if outcome.end == End::Finished {
        for (opcode, line) in &outcome.unknown {
            writeln!(out, "note: cannot evaluate `{opcode}` (line {line}), but it was not reached")?;
        }
    }
    Ok(())
}

fn conclude(args: &Args, outcome: &Outcome, console: &Console) -> Result<(), Failure> {
    let mut messages: Vec<_> = outcome.faults.iter().map(ToString::to_string).collect();
    let status = match &outcome.end {
        End::Finished => return Ok(()),
        End::BadLaunch(why) => return Err(usage(why.clone())),
        End::CannotEvaluate { .. } if messages.is_empty() => Status::NotEvaluated,
        End::CannotEvaluate { .. } | End::BudgetSpent(_) | End::Fault(_) => Status::Faulty,
    };
    if !matches!(outcome.end, End::Fault(_)) {
        messages.push(outcome.end.to_string());
    }
    let mut message: String = messages.iter().map(|message| console.renderer.failure(message)).collect();
    if args.faults > 1 && outcome.faults.len() >= args.faults {
        message += &format!("note: the run ended after {} different faults (`--faults`)\n", args.faults);
    }
    Err(Failure { status, message })
}

//! Files of reference vectors: checks every line and lists the differences.

use flate2::read::MultiGzDecoder;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::disputed::disputed;
use ptxopt_grammar::meaning::term::Terms;
use ptxopt_grammar::meaning::{Place, meaning};
use ptxopt_grammar::tree::Module;
use ptxopt_grammar::video::{self, Form, Simd};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::io::Read;

/// How many differences are listed.
const MOST_LISTED: usize = 20;

/// The registers of a form: what it writes, and the three words that a vector gives.
const OPERANDS: u32 = 4;

/// A line of the file; the first may describe the file and have none of these.
#[derive(Default)]
struct Line {
    ptx: Option<String>,
    v: Option<Vec<String>>,
    doc: Option<Vec<String>>,
    error: Option<String>,
    ok: Option<bool>,
}

impl Line {
    /// The line that an object is; `None` if it is no object, or one of its members is not what it should be.
    fn of(object: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let texts = |value: &Value| value.as_array()?.iter().map(text).collect::<Option<Vec<_>>>();
        let mut line = Self::default();
        for (key, value) in object.as_object()?.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "ptx" => line.ptx = Some(text(value)?),
                "v" => line.v = Some(texts(value)?),
                "doc" => line.doc = Some(texts(value)?),
                "error" => line.error = Some(text(value)?),
                "ok" => line.ok = Some(value.as_bool()?),
                _ => {}
            }
        }
        Some(line)
    }
}

/// The results for a file.
#[derive(Default)]
pub(super) struct Outcome {
    vectors: usize,
    forms: BTreeSet<String>,
    with_doc: usize,
    rejected: usize,
    accepted: usize,
    listed: Vec<String>,
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for line in &self.listed {
            writeln!(f, "{line}")?;
        }
        let Self { vectors, with_doc, rejected, accepted, passed, failed, .. } = self;
        writeln!(
            f,
            "{vectors} vectors of {} forms, {with_doc} lines with another value in the manual",
            self.forms.len()
        )?;
        writeln!(f, "{rejected} forms that must be rejected, {accepted} that must be accepted")?;
        writeln!(f, "{passed} passed, {failed} failed")
    }
}

impl Outcome {
    fn count(&mut self, number: usize, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(message) => {
                self.failed += 1;
                if self.listed.len() < MOST_LISTED {
                    self.listed.push(format!("line {number}: {message}"));
                }
            }
        }
    }
}

/// Checks all lines of a file, plain or compressed.
pub(super) fn check(bytes: &[u8]) -> Result<Outcome, String> {
    let mut unpacked = String::new();
    let text = if bytes.starts_with(&[0x1f, 0x8b]) {
        MultiGzDecoder::new(bytes).read_to_string(&mut unpacked).map_err(|error| error.to_string())?;
        unpacked.as_str()
    } else {
        std::str::from_utf8(bytes).map_err(|error| error.to_string())?
    };
    let mut outcome = Outcome::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let object = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        let expected = || format!("line {number}: expected `ptx` and `v`, `error` or `ok`");
        match Line::of(&object).ok_or_else(expected)? {
            Line { ptx: Some(ptx), v: Some(vectors), doc, .. } => {
                check_values(&mut outcome, number, &ptx, &vectors, doc.as_deref())?;
            }
            Line { ptx: Some(ptx), error: Some(_), .. } => {
                outcome.rejected += 1;
                outcome
                    .count(number, verdict(&ptx).err().map_or(Err(format!("{ptx} is accepted")), |_| Ok(())));
            }
            Line { ptx: Some(ptx), ok: Some(true), .. } => {
                outcome.accepted += 1;
                outcome.count(number, verdict(&ptx).map_err(|why| format!("{ptx} is rejected: {why}")));
            }
            Line { ptx: None, v: None, doc: None, error: None, ok: None } if index == 0 => {}
            Line { .. } => return Err(expected()),
        }
    }
    Ok(outcome)
}

/// A module around an instruction, with registers of every type.
fn wrap(ptx: &str) -> String {
    let mut text = ".version 9.4\n.target sm_90\n.func vector()\n{\n".to_owned();
    text += "\t.reg .b32 %r<32>; .reg .u32 %u<32>; .reg .s32 %s<32>; .reg .b64 %x<32>; .reg .f32 %f<32>;\n";
    text += "\t.reg .b16 %h<32>; .reg .b64 %d<32>; .reg .pred %p<32>;\n\t";
    text + ptx + "\n}\n"
}

/// A word of 32 bits in hexadecimal.
fn word(digits: &str) -> Option<u128> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| plain).map(u128::from)
}

/// Whether the newest assembler accepts an instruction, and if not, why.
fn verdict(ptx: &str) -> Result<(), String> {
    let text = wrap(ptx);
    let module = ptxopt_grammar::parse(text.as_bytes()).map_err(|diagnostics| {
        diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
    })?;
    let stmt = module.stmts().find(|&stmt| module.row(stmt).is_some());
    let stmt = stmt.ok_or("the instruction is unknown")?;
    match video::decode(&module, stmt) {
        Some(Ok(video::Instance { form: Form::Simd(Simd { routing, .. }), .. }))
            if routing.a().is_unwritable() || routing.b().is_unwritable() =>
        {
            Err("new assemblers read `.b1024` as a type".to_owned())
        }
        Some(Ok(_)) | None => Ok(()),
        Some(Err(diagnostic)) => Err(diagnostic.message),
    }
}

fn check_values(
    outcome: &mut Outcome,
    number: usize,
    ptx: &str,
    vectors: &[String],
    doc: Option<&[String]>,
) -> Result<(), String> {
    let malformed =
        || format!("line {number}: expected `a b c d` in hexadecimal, and as many words of `doc`");
    if doc.is_some_and(|doc| doc.len() != vectors.len()) {
        return Err(malformed());
    }
    outcome.with_doc += usize::from(doc.is_some());
    let text = wrap(ptx);
    let Ok(module) = ptxopt_grammar::parse(text.as_bytes()) else {
        outcome.count(number, Err(format!("{ptx} is rejected")));
        return Ok(());
    };
    let Some((mut program, form)) = compile(&module) else {
        outcome.count(number, Err(format!("the meaning of {ptx} is unknown")));
        return Ok(());
    };
    outcome.forms.insert(form);
    if doc.is_some() {
        let known =
            disputed_form(&module).then_some(()).ok_or_else(|| format!("{ptx} is not listed as disputed"));
        outcome.count(number, known);
    }
    for (index, vector) in vectors.iter().enumerate() {
        let words: Option<Vec<u128>> = vector.split(' ').map(word).collect();
        let Some([a, b, c, machine]) = words.and_then(|words| <[u128; 4]>::try_from(words).ok()) else {
            return Err(malformed());
        };
        let wanted = match doc {
            Some(doc) => word(&doc[index]).ok_or_else(malformed)?,
            None => machine,
        };
        let mut results = [0];
        let operands: [u128; OPERANDS as usize] = [0, a, b, c];
        program.run(&operands, &mut results);
        outcome.vectors += 1;
        outcome.count(
            number,
            if results == [wanted] {
                Ok(())
            } else {
                Err(format!("{ptx} of {a:08x} {b:08x} {c:08x} is {:08x}, expected {wanted:08x}", results[0]))
            },
        );
    }
    Ok(())
}

/// Whether the manual and the assembler disagree on the meaning of the instruction.
fn disputed_form(module: &Module<'_>) -> bool {
    let found = module.stmts().find_map(|stmt| video::decode(module, stmt));
    found.is_some_and(|found| found.is_ok_and(|instance| disputed(instance.form).is_some()))
}

/// The instruction of a module, ready to run, and its form.
fn compile(module: &Module<'_>) -> Option<(Program<u128>, String)> {
    let mut stmts = module.stmts().filter(|&stmt| module.opcode(stmt).is_some());
    let (Some(stmt), None) = (stmts.next(), stmts.next()) else { return None };
    let mut terms = Terms::new();
    let written = meaning(module, stmt, &mut terms, &mut |terms, place, width| match place {
        Place::Register(_) => {
            let name = std::str::from_utf8(place.text(module)).ok()?;
            let number = name.strip_prefix("%r")?.parse().ok().filter(|number| *number < OPERANDS)?;
            Some(terms.input(number, width))
        }
        Place::Special(_) | Place::Address(_) | Place::Carry => None,
    })?;
    let [write] = written.as_slice() else { return None };
    let form = match video::decode(module, stmt) {
        Some(Ok(instance)) => format!("{:?}", instance.form),
        Some(Err(_)) | None => String::from_utf8_lossy(module.stmt_text(stmt)).into_owned(),
    };
    Some((Program::compile(&terms, &[write.value])?, form))
}

#[cfg(test)]
mod tests {
    use super::check;

    const GOOD: &str = r#"{"ptx":"add.u32 %r0, %r1, %r2;","v":["1 2 0 3"]}"#;

    /// How many checks passed and failed.
    fn counts(text: &str) -> Result<(usize, usize), String> {
        check(text.as_bytes()).map(|outcome| (outcome.passed, outcome.failed))
    }

    #[test]
    fn a_first_line_may_describe_the_file() {
        assert_eq!(counts(&format!("{{\"about\":[1]}}\n{GOOD}\n")), Ok((1, 0)));
    }

    #[test]
    fn a_wrong_value_fails() {
        assert_eq!(counts(&GOOD.replace("0 3", "0 4")), Ok((0, 1)));
    }

    #[test]
    fn a_form_of_other_registers_fails() {
        assert_eq!(counts(&GOOD.replace("%r2", "%r4")), Ok((0, 1)));
    }

    #[test]
    fn a_form_is_one_instruction() {
        assert_eq!(counts(&GOOD.replace("%r2;", "%r2; ret;")), Ok((0, 1)));
    }

    #[test]
    fn words_are_32_bits_without_a_sign() {
        for value in ["100000003", "+3", "-3", "0x3", "", "3 3"] {
            assert!(counts(&GOOD.replace("0 3", &format!("0 {value}"))).is_err(), "{value}");
        }
    }

    #[test]
    fn lines_that_are_no_forms_are_refused() {
        for line in [
            "1",
            "{}",
            r#"{"v":["1 2 0 3"]}"#,
            r#"{"ptx":1}"#,
            r#"{"ptx":"ret;","v":"1"}"#,
            r#"{"ptx":"ret;","v":[1]}"#,
            "{",
        ] {
            let refused = counts(&format!("{GOOD}\n{line}\n"));
            assert!(
                refused.as_ref().is_err_and(|message| message.starts_with("line 2: ")),
                "{line}: {refused:?}"
            );
        }
    }
}

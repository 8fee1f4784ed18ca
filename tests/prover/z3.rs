//! Z3 as a process that answers many questions, each forgotten before the next.
//!
//! What it may spend on one is counted in steps of its own, not in time, so the same version decides the same
//! questions on every machine.

use ptxopt_grammar::meaning::smt;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What Z3 says of a pair of words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Equal,
    /// They differ for these values of the inputs, by number.
    Different(Vec<(u32, u128)>),
    /// It has spent what it may.
    Undecided,
}

pub(crate) struct Z3 {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Its steps for one question.
    limit: u64,
}

impl Z3 {
    /// `None`, and a line that says so, where it is absent and may be.
    pub(crate) fn start(limit: u64) -> Option<Self> {
        let program = std::env::var_os("PTXOPT_Z3")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/z3/run"), PathBuf::from);
        if !program.is_file() {
            let required = std::env::var_os("PTXOPT_REQUIRE_ASSEMBLER").is_some();
            let line = format!("SKIPPED: there is no {}; `sh .ci/tools` puts it there\n", program.display());
            assert!(!required, "{line}");
            // Not by a macro of the standard library: the test harness would keep that to itself.
            std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
            return None;
        }
        let mut process = Command::new(&program)
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Z3 runs");
        let questions = process.stdin.take().expect("it is a pipe");
        let answers = BufReader::new(process.stdout.take().expect("it is a pipe"));
        Some(Self { process, questions, answers, limit })
    }

    /// Whether all pairs are equal for all inputs, or for the inputs given.
    pub(crate) fn equal(&mut self, terms: &Terms, pairs: &[(Term, Term)], given: &[(u32, u128)]) -> Answer {
        let inputs = inputs(terms, pairs);
        let text = smt::equality(terms, pairs);
        let body = text.strip_suffix("(check-sat)\n").expect("the question ends so");
        let mut question = format!("(reset)\n(set-option :rlimit {})\n{body}", self.limit);
        for &(number, width) in &inputs {
            if let Some((_, value)) = given.iter().find(|(input, _)| *input == number) {
                question += &format!("(assert (= input{number}_{width} (_ bv{value} {width})))\n");
            }
        }
        match self.ask(&(question + "(check-sat)\n")).as_str() {
            "unsat\n" => Answer::Equal,
            "sat\n" => {
                let value = |&(number, width): &(u32, u32)| {
                    let said = self.ask(&format!("(get-value (input{number}_{width}))\n"));
                    (number, number_in(&said))
                };
                Answer::Different(inputs.iter().map(value).collect())
            }
            "unknown\n" => Answer::Undecided,
            other => panic!("Z3 says `{other}` to\n{text}"),
        }
    }

    /// All that it says to the commands.
    fn ask(&mut self, commands: &str) -> String {
        const END: &str = "(the answer ends)\n";
        writeln!(self.questions, "{commands}(echo \"{}\")", END.trim_end()).expect("Z3 reads");
        self.questions.flush().expect("Z3 reads");
        let mut said = String::new();
        loop {
            let start = said.len();
            assert!(self.answers.read_line(&mut said).expect("Z3 writes text") > 0, "Z3 ends: {said}");
            if &said[start..] == END {
                said.truncate(start);
                return said;
            }
        }
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        // The process may have ended by itself; that it is gone is all that counts.
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

/// The numbers and widths of the inputs that the pairs are made of.
fn inputs(terms: &Terms, pairs: &[(Term, Term)]) -> Vec<(u32, u32)> {
    let input = |term| {
        let Op::Input(number) = terms.op(term) else { return None };
        Some((number, terms.width(term)))
    };
    let cones = pairs.iter().flat_map(|&(a, b)| [a, b]).flat_map(|term| terms.cone(term));
    let mut inputs: Vec<_> = cones.filter_map(input).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs
}

/// The number in the answer `((name #x…))` or `((name #b…))`.
fn number_in(said: &str) -> u128 {
    let (radix, digits) = match said.split_once('#') {
        Some((_, rest)) if rest.starts_with('x') => (16, &rest[1..]),
        Some((_, rest)) if rest.starts_with('b') => (2, &rest[1..]),
        _ => panic!("Z3 gives the value `{said}`"),
    };
    let end = digits.find(')').expect("brackets are closed");
    u128::from_str_radix(&digits[..end], radix).expect("it is a number of these digits")
}

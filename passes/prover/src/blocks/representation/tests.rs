//! Moves between a word and its halves: where they change nothing, and one broken precondition each.

use super::{Outcome, Pairs, Word, check};
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::names::Part;
use ptxopt_grammar::tree::Module;

/// The words `%w` and `%v` become `%s0`, `%s1` and `%s2`, `%s3`.
const HALVES: &str = "+.reg .b32 %s<4>;\n";
const SPLIT: &str = "+prmt.b32 %s0, %w, 0, 0x4240;\n+prmt.b32 %s1, %w, 0, 0x4341;\n";
const JOIN: &str = "+prmt.b32 %w, %s0, %s1, 0x6240;\n";
const SPLIT_V: &str = "+prmt.b32 %s2, %v, 0, 0x4240;\n+prmt.b32 %s3, %v, 0, 0x4341;\n";
const JOIN_V: &str = "+prmt.b32 %v, %s2, %s3, 0x6240;\n";

fn parsed(text: &str) -> Module<'_> {
    ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{all:?}"))
}

fn half(terms: &mut Terms, word: Term, shift: u128) -> Term {
    let (shift, mask) = (terms.constant(shift, 32), terms.constant(0x00ff_00ff, 32));
    let shifted = terms.lshr(word, shift);
    terms.and(shifted, mask)
}

fn even(terms: &mut Terms, word: Term) -> Term {
    half(terms, word, 0)
}

fn odd(terms: &mut Terms, word: Term) -> Term {
    half(terms, word, 8)
}

/// What is found of a body in which the lines that begin with `+` were inserted.
fn outcome(body: &str) -> Outcome {
    let around = |body: &str| {
        format!(
            ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry f(.param .u64 to)\n{{\n{body}\
             .reg .b32 %w, %v, %a, %b;\n.reg .b64 %to;\n.reg .pred %p, %q;\n\
             ld.param.u64 %to, [to];\nld.global.b32 %a, [%to];\nsetp.eq.u32 %p, %a, 3;\nsetp.eq.u32 %q, %a, 5;\n",
        )
    };
    let (begin, end) = (around(HALVES), "st.global.b32 [%to], %b;\nret;\n}\n");
    let marked = format!("{begin}{body}{end}");
    let (mut text, mut edits, mut inserted) = (String::new(), Edits::new(), Vec::new());
    for line in marked.split_inclusive('\n') {
        match line.strip_prefix('+') {
            Some(line) => inserted.push((text.len(), line)),
            None => text.push_str(line),
        }
    }
    inserted.into_iter().for_each(|(at, line)| edits.replace(at..at, line));
    let edited = edits.apply(text.as_bytes()).expect("insertions do not overlap");
    let new_text = String::from_utf8(edited.to_vec()).expect("it is text");
    let (old, new) = (parsed(&text), parsed(&new_text));
    let word = |name: &str, [e, o]: [&str; 2]| {
        let decl = old.decls().find(|&decl| old.decl_name(decl) == name.as_bytes()).expect("it is declared");
        let parts = vec![(e.to_owned(), even as super::Holds), (o.to_owned(), odd)];
        Word { register: (decl, Part::default()), parts }
    };
    let words = [word("%w", ["%s0", "%s1"]), word("%v", ["%s2", "%s3"])];
    let pairs = Pairs::new(&old, &new, &edited).expect("it is the old text with more statements");
    check(&pairs, (&functions(&old)[0], &functions(&new)[0]), &words)
}

fn holds(body: &str) {
    assert_eq!(outcome(body), Outcome::Proved, "{body}");
}

/// That it fails at a statement, and why.
fn fails(body: &str, stmt: &str, why: &str) {
    let Outcome::Failed(failure) = outcome(body) else { panic!("nothing is wrong with {body}") };
    assert!(failure.stmt.starts_with(stmt), "{failure:?}\n{body}");
    assert!(failure.why.contains(why), "{failure:?}\n{body}");
}

/// The same under a guard.
fn under(guard: &str, moves: &str) -> String {
    moves.replace('+', &format!("+{guard} "))
}

/// A loop that carries `%w`.
fn in_loop() -> String {
    format!(
        "mov.b32 %w, %a;\n{SPLIT}step:\n{JOIN}vadd4.u32.u32.u32.sat %w, %w, %a, %a;\n{SPLIT}\
         {JOIN}setp.lt.u32 %p, %w, 9;\n@%p bra step;\n{JOIN}mov.b32 %b, %w;\n"
    )
}

/// A word that one side of a diamond writes.
fn diamond() -> String {
    format!(
        "mov.b32 %w, %a;\n{SPLIT}@%p bra other;\nmov.b32 %w, 7;\n{SPLIT}bra done;\nother:\nmov.b32 %b, 1;\ndone:\n\
         {JOIN}mov.b32 %b, %w;\n"
    )
}

/// A word that a statement with a guard writes.
fn guarded() -> String {
    let split = under("@%p", SPLIT);
    format!("mov.b32 %w, %a;\n{SPLIT}@%p mov.b32 %w, 7;\n{split}{JOIN}mov.b32 %b, %w;\n")
}

#[test]
fn a_word_that_is_split_and_joined_is_the_same() {
    holds(&format!("mov.b32 %w, %a;\n{SPLIT}{JOIN}mov.b32 %b, %w;\n"));
    holds("mov.b32 %w, %a;\nmov.b32 %b, %w;\n");
}

#[test]
fn a_loop_may_carry_a_word() {
    holds(&in_loop());
}

#[test]
fn a_word_may_be_written_on_one_side_of_a_diamond() {
    holds(&diamond());
}

#[test]
fn a_word_may_be_written_under_a_guard() {
    holds(&guarded());
    holds(&guarded().replace("@%p", "@!%p"));
}

#[test]
fn a_word_may_be_copied_to_another() {
    holds(&format!(
        "mov.b32 %w, %a;\n{SPLIT}step:\n{JOIN}mov.b32 %v, %w;\n{SPLIT_V}{JOIN_V}mov.b32 %w, %v;\n{SPLIT}\
         @%p bra step;\n{JOIN}mov.b32 %b, %w;\n"
    ));
}

#[test]
fn one_statement_may_write_two_words() {
    holds(&format!(
        "ld.global.v2.b32 {{%w, %v}}, [%to];\n{SPLIT}{SPLIT_V}{JOIN}{JOIN_V}add.u32 %b, %w, %v;\n"
    ));
    let (split, split_v) = (under("@%p", SPLIT), under("@%p", SPLIT_V));
    holds(&format!(
        "mov.b32 %w, 1;\n{SPLIT}mov.b32 %v, 2;\n{SPLIT_V}@%p ld.global.v2.b32 {{%w, %v}}, [%to];\n{split}{split_v}\
         {JOIN}{JOIN_V}add.u32 %b, %w, %v;\n"
    ));
}

#[test]
fn halves_may_have_a_bias_that_is_taken_off_again() {
    // Added twice it is gone, which takes the meaning of the instructions to see.
    let bias = "+xor.b32 %w, %w, 0x80808080;\n";
    holds(&format!("mov.b32 %w, %a;\n{bias}{bias}{SPLIT}{JOIN}mov.b32 %b, %w;\n"));
    fails(
        &format!("mov.b32 %w, %a;\n{bias}{SPLIT}{JOIN}mov.b32 %b, %w;\n"),
        "mov.b32 %b",
        "does not hold here",
    );
}

#[test]
fn a_word_must_be_split_after_each_write() {
    let body = diamond().replacen(&format!("mov.b32 %w, 7;\n{SPLIT}"), "mov.b32 %w, 7;\n", 1);
    fails(&body, "mov.b32 %w, 7;", "where a later block relies on it");
    let body = in_loop().replacen(&format!("%a, %a;\n{SPLIT}{JOIN}"), "%a, %a;\n", 1);
    fails(&body, "vadd4", "where a later block relies on it");
    let half = SPLIT.split_inclusive('\n').next().expect("there are two");
    let body = diamond().replacen(&format!("mov.b32 %w, 7;\n{SPLIT}"), &format!("mov.b32 %w, 7;\n{half}"), 1);
    fails(&body, "prmt.b32 %s0", "where a later block relies on it");
}

#[test]
fn a_word_must_be_joined_before_it_is_read_in_another_block() {
    fails(&diamond().replace(JOIN, ""), "mov.b32 %b, %w;", "does not hold here");
}

#[test]
fn a_word_must_be_written_on_all_paths() {
    let body = diamond().replacen(&format!("mov.b32 %w, %a;\n{SPLIT}"), "", 1);
    fails(&body, "prmt.b32 %w, %s0, %s1", "may not have been written");
    let body = guarded().replacen(&format!("mov.b32 %w, %a;\n{SPLIT}"), "", 1);
    fails(&body, "prmt.b32 %w, %s0, %s1", "may not have been written");
}

#[test]
fn a_split_needs_the_guard_of_the_write() {
    let with = |split: &str| guarded().replacen(&under("@%p", SPLIT), split, 1);
    // In this block the register holds the word in any case; where a block begins, it may hold anything.
    holds(&with(SPLIT));
    let body = |split: &str| with(split).replace("@%p mov", "next:\n@%p mov") + "@%q bra next;\n";
    holds(&body(&under("@%p", SPLIT)));
    fails(&body(SPLIT), "mov.b32 %b, %w;", "does not hold here");
    fails(&with(&under("@!%p", SPLIT)), "@!%p prmt", "a guard that the statement before it does not have");
    fails(&with(&under("@%q", SPLIT)), "@%q prmt", "a guard that the statement before it does not have");
    fails(&with(""), "mov.b32 %b, %w;", "does not hold here");
}

#[test]
fn a_write_under_a_guard_must_not_write_the_guard() {
    let with = |to: &str| {
        let split = under("@%p", SPLIT);
        format!(
            "mov.b32 %w, %a;\n{SPLIT}{JOIN}@%p lop3.and.b32 %w|{to}, %w, %a, 0, 0x0f, %q;\n{split}{JOIN}mov.b32 %b, %w;\n"
        )
    };
    holds(&with("%q"));
    fails(&with("%p"), "@%p prmt.b32 %s0", "a guard that the statement before it writes");
}

#[test]
fn what_is_split_and_joined_must_be_the_same() {
    let simple = format!("mov.b32 %w, %a;\n{SPLIT}{JOIN}mov.b32 %b, %w;\n");
    for (from, to) in [("0x4240", "0x4241"), ("0x6240", "0x2640"), ("%w, %s0, %s1,", "%w, %s1, %s0,")] {
        fails(&simple.replacen(from, to, 1), "mov.b32 %b, %w;", "does not hold here");
    }
}

#[test]
fn inserted_statements_must_only_compute() {
    let with = |line: &str| format!("mov.b32 %w, %a;\n{SPLIT}+{line}\n{JOIN}mov.b32 %b, %w;\n");
    holds(&with("mov.b32 %s0, %s0;"));
    fails(&with("st.global.b32 [%to], %w;"), "st.global", "does more than compute");
    fails(&with("add.cc.u32 %s0, %s0, 0;"), "add.cc", "does more than compute");
    fails(&with("ret;"), "ret", "does more than compute");
    fails(&with("label:"), "label:", "no instruction");
}

#[test]
fn inserted_statements_must_have_one_meaning() {
    let with = |line: &str| format!("mov.b32 %w, %a;\n{SPLIT}+{line}\n{SPLIT}{JOIN}mov.b32 %b, %w;\n");
    holds(&with("vadd.u32.u32.u32 %s0, %s0, %s1;"));
    fails(&with("vadd.u32.u32.u32.sat %s0, %s0, %s1;"), "vadd", "not understood");
    fails(&with("sin.approx.f32 %s0, %s1;"), "sin", "not understood");
}

#[test]
fn inserted_statements_must_be_about_one_word() {
    let with = |line: &str| format!("mov.b32 %w, %a;\n{SPLIT}+{line}\n{JOIN}mov.b32 %b, %w;\n");
    for line in ["mov.b32 %s0, %s2;", "mov.b32 %v, %w;", "mov.b32 %a, 0;", "mov.b32 %s0, %a;"] {
        fails(&with(line), line, "a register of another word, or of none");
    }
}

#[test]
fn names_in_inserted_statements_must_mean_the_word() {
    let with = |name: &str| {
        format!(
            "mov.b32 %w, %a;\n{SPLIT}{{\n.reg .b32 {name};\nmov.b32 {name}, 0;\n{JOIN}}}\n{JOIN}mov.b32 %b, %w;\n"
        )
    };
    holds(&with("%x"));
    fails(&with("%w"), "prmt.b32 %w, %s0, %s1", "a register of another word, or of none");
    fails(&with("%s1"), "prmt.b32 %w, %s0, %s1", "a register of another word, or of none");
}

#[test]
fn what_is_declared_must_not_hide_what_was() {
    let with = |name: &str| {
        format!("mov.b32 %w, %a;\n{{\n+.reg .b32 {name};\nmov.b32 %b, %w;\n}}\nmov.b32 %b, %w;\n")
    };
    holds(&with("%x"));
    fails(&with("%w"), "mov.b32 %b, %w;", "means something else");
}

#[test]
fn a_word_must_not_be_accessed_until_later() {
    let with = |line: &str| format!("mov.b32 %w, %a;\n{SPLIT}{line}\n{JOIN}mov.b32 %b, %w;\n");
    holds(&with("shfl.sync.idx.b32 %b, %w, 0, 31, -1;"));
    let store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%a], {%w};";
    fails(&with(store), "tcgen05.st", "until later");
    fails(&with("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w}, [%a];"), "tcgen05.ld", "until later");
}

#[test]
fn a_pragma_stays_before_its_statement() {
    let with = |line: &str| format!("mov.b32 %w, %a;\n{SPLIT}{line}{JOIN}mov.b32 %b, %w;\n");
    holds(&with(".loc 1 1 1\n"));
    fails(&with(".pragma \"nounroll\";\n"), "prmt.b32 %w", "a pragma");
}

#[test]
fn a_word_that_others_can_see_is_refused() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.reg .b32 %w)\n{\nret;\n}\n";
    let module = parsed(text);
    let edited = Edits::new().apply(text.as_bytes()).expect("there are no edits");
    let pairs = Pairs::new(&module, &module, &edited).expect("they are the same");
    let function = &functions(&module)[0];
    let decl = module.decls().find(|&decl| module.decl_name(decl) == b"%w").expect("it is declared");
    let word = Word { register: (decl, Part::default()), parts: vec![("%s0".to_owned(), even)] };
    assert!(matches!(check(&pairs, (function, function), &[word]), Outcome::Failed(_)));
    assert_eq!(check(&pairs, (function, function), &[]), Outcome::Proved);
}

#[test]
fn other_changes_are_no_insertions() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\n.reg .b32 %a;\nmov.b32 %a, 1;\nret;\n}\n";
    let why = |from: &str, to: &str| {
        let at = text.find(from).expect("it is there");
        let length = if to.ends_with(from) { 0 } else { from.len() };
        let mut edits = Edits::new();
        edits.replace(at..at + length, to.strip_suffix(from).unwrap_or(to));
        let edited = edits.apply(text.as_bytes()).expect("there is one edit");
        let new_text = String::from_utf8(edited.to_vec()).expect("it is text");
        let (old, new) = (parsed(text), parsed(&new_text));
        Pairs::new(&old, &new, &edited).err()
    };
    let is = |from: &str, to: &str, reason: &str| assert_eq!(why(from, to), Some(reason.to_owned()), "{to}");
    assert_eq!(why("ret;", "mov.b32 %a, 2;\nret;"), None);
    is(" 1;", " 2;", "a statement is another one than it was");
    is("mov.b32 %a, 1;", "mov.b32 %a, 2;", "a statement is another one than it was");
    is("mov.b32 %a, 1;", "", "a statement is another one than it was");
    is(".func", ".global .b32 x;\n.func", "a statement stands where no function is");
}

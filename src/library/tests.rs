//! The library as its callers see it.

use super::*;

const MODULE: &[u8] = b".version 8.0\n.target sm_75\n.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %b)\n{\n\
    \tvavrg4.u32.u32.u32 %d, %a, %b, %a;\n\tret;\n}\n.func g()\n{\n\tret;\n}\n";

fn outcome(options: &Options) -> Outcome {
    optimize(MODULE, options).expect("it is a module")
}

fn rejected(text: &[u8], options: &Options) -> Diagnostics {
    optimize(text, options).expect_err("it is refused")
}

#[test]
fn everything_may_be_sent_to_and_shared_by_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Options>();
    check::<Outcome>();
    check::<Diagnostics>();
    check::<UnknownName>();
    let options = Options::new();
    let alone = outcome(&options);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| outcome(&options))).collect();
        for one in all {
            assert_eq!(one.join().expect("it does not panic").text, alone.text);
        }
    });
}

#[test]
fn a_changed_module_has_a_text_remarks_and_counts() {
    let outcome = outcome(&Options::new());
    assert!(outcome.text.is_some());
    assert_eq!((outcome.counts.functions, outcome.counts.rewritten, outcome.counts.failures), (2, 1, 0));
    assert!(0 < outcome.counts.estimated_saving);
    assert!(
        outcome.counts.estimated_saving
            <= i64::try_from(outcome.counts.estimated_before).expect("it is small")
    );
    let [remark] = &outcome.remarks[..] else { panic!("{:?}", outcome.remarks) };
    assert_eq!((remark.kind, remark.line, remark.column), (RemarkKind::Passed, 5, 2));
    assert!(remark.verdict.starts_with("proved"), "{remark}");
}

#[test]
fn what_is_left_alone_stays_and_says_why_if_asked() {
    let outcome = outcome(&Options::new().leave("f", "it is measured by hand").explain(true));
    assert_eq!((outcome.text, outcome.counts.rewritten), (None, 0));
    assert!(outcome.remarks.iter().any(|remark| remark.verdict == "it is measured by hand"));
}

#[test]
fn no_pass_changes_nothing() {
    let options = Options::new().passes("").expect("it names none");
    assert_eq!(outcome(&options).text, None);
    assert!(Options::new().passes("no_such_pass").is_err());
}

#[test]
fn an_unknown_instruction_is_a_warning_or_with_strict_an_error() {
    let text = [MODULE, b".func h()\n{\n\tfrobnicate.b32;\n}\n"].concat();
    let outcome = optimize(&text, &Options::new()).expect("it is kept");
    assert!(outcome.text.is_some());
    assert_eq!(outcome.warnings.iter().map(Diagnostic::line).collect::<Vec<_>>(), [14]);
    let refused = rejected(&text, &Options::new().strict(true));
    assert_eq!((refused.kind(), refused.iter().len()), (DiagnosticsKind::Invalid, 1));
}

#[test]
fn what_is_no_ptx_is_told() {
    let refused = rejected(b"; ModuleID = 'a'\n", &Options::new());
    assert_eq!(refused.kind(), DiagnosticsKind::Foreign);
    assert!(refused.to_string().starts_with("1:1: this is LLVM IR"), "{refused}");
    let refused = rejected(b"BC\xc0\xde", &Options::new());
    assert!(refused.to_string().starts_with("this is LLVM bitcode"), "{refused}");
    assert_eq!(rejected(b"", &Options::new()).kind(), DiagnosticsKind::Invalid);
}

#[test]
fn a_gpu_that_does_not_run_the_module_is_refused() {
    let options = Options::new().gpu("sm_70").expect("there is one");
    let refused = rejected(MODULE, &options);
    assert_eq!(refused.kind(), DiagnosticsKind::Target);
    assert!(refused.to_string().starts_with("code for `.target sm_75` does not run on sm_70"), "{refused}");
}

#[test]
fn a_message_is_one_safe_line() {
    let refused = rejected(b".version 8.0\n.target sm_75\n\x1b[31m;\n", &Options::new());
    for one in refused.iter() {
        assert!(one.to_string().chars().all(|c| !c.is_control()), "{one:?}");
    }
}

#[test]
fn the_documented_stack_is_enough() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/idioms/by-hand/idioms.ptx");
    let text = std::fs::read(path).expect("the module is there");
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let optimised = thread.spawn(move || optimize(&text, &Options::new().explain(true)).map(drop));
    let ended = optimised.expect("a thread starts").join().expect("it does not panic");
    assert!(ended.is_ok());
}

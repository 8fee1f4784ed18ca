//! What stands around functions: attributes of functions, pragmas of the module, and variables that no function names.

use ptxopt_grammar::function::functions;
use ptxopt_prover::around;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Whether what surrounds the first functions of two modules differs, and how many variables do.
fn differences(old: &str, new: &str) -> (bool, usize) {
    let [old, new] = [old, new].map(|text| format!("{HEAD}{text}"));
    let [old, new] = [&old, &new].map(|text| ptxopt_grammar::parse(text.as_bytes()).expect("it is legal"));
    let [first, second] = [&old, &new].map(|module| functions(module));
    let found = around::difference((&old, &first[0]), (&new, &second[0]));
    (found.is_some(), around::variables(&old, &new).len())
}

#[test]
fn an_attribute_of_a_function_counts_with_its_numbers() {
    let text = |attribute: &str| format!(".func {attribute} f(.param .b32 n)\n{{\nret;\n}}\n");
    let old = text(".attribute(.unified(1, 2))");
    assert_eq!(differences(&old, &text(".attribute( .unified (1,2) )")), (false, 0));
    assert_eq!(differences(&old, &text(".attribute(.unified(1, 3))")), (true, 0));
    assert_eq!(differences(&old, &text("")), (true, 0));
}

#[test]
fn pragmas_of_the_module_count() {
    let text = |outer: &str, inner: &str| format!("{outer}\n.visible .entry k()\n{{\n{inner}\nret;\n}}\n");
    let pragma = ".pragma \"nounroll\";";
    assert_eq!(differences(&text(pragma, ""), &text(pragma, pragma)), (false, 0));
    assert_eq!(differences(&text(pragma, ""), &text("", "")), (true, 0));
    assert_eq!(differences(&text(pragma, ""), &text("", pragma)), (true, 0));
}

#[test]
fn variables_count_whether_a_function_names_them_or_not() {
    let text = |variables: &str| format!("{variables}\n.visible .entry k()\n{{\nret;\n}}\n");
    let old = text(".visible .global .b32 g = 1;\n.const .b8 c[2] = {1, 2};");
    assert_eq!(
        differences(&old, &text(".visible .global .b32 g=1; .const .b8 c[2] = { 1, 2 };")),
        (false, 0)
    );
    for (what, new) in [
        ("another first value", ".visible .global .b32 g = 2;\n.const .b8 c[2] = {1, 2};"),
        ("another linkage", ".global .b32 g = 1;\n.const .b8 c[2] = {1, 2};"),
        ("an attribute", ".visible .global .attribute(.managed) .b32 g = 1;\n.const .b8 c[2] = {1, 2};"),
        ("one less", ".visible .global .b32 g = 1;"),
        ("one more", ".visible .global .b32 g = 1;\n.const .b8 c[2] = {1, 2};\n.global .b32 h;"),
    ] {
        assert_eq!(differences(&old, &text(new)), (false, 1), "{what}");
    }
    let unified = |number: u32| text(&format!(".global .attribute(.unified(1, {number})) .b32 g;"));
    assert_eq!(differences(&unified(2), &unified(2)), (false, 0));
    assert_eq!(differences(&unified(2), &unified(3)), (false, 1));
}

#[test]
fn variables_of_a_block_or_of_a_function_do_not_last() {
    let text = |outer: &str, inner: &str| format!("{outer}\n.visible .entry k()\n{{\n{inner}\nret;\n}}\n");
    let old = text(".shared .b32 s;", ".reg .b32 %r;");
    assert_eq!(differences(&old, &text("", ".reg .b64 %r;")), (false, 0));
    assert_eq!(differences(&old, &text(".shared .b32 s;\n.global .b32 g;", ".reg .b32 %r;")), (false, 1));
}

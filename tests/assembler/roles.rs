//! The roles that the table gives are right: a wrong one would change the machine code.
//!
//! Each legal instance of an instruction stands in a kernel where every register it uses is loaded before and
//! stored after it. Giving what it writes a fresh register, from the instruction on, must keep the machine code;
//! giving any one register the role that it has not must change the machine code or be rejected.

use crate::jobs::each;
use crate::ptxas::{Assemblers, MachineCode};
use ptxopt_grammar::names::NameParts;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table;
use ptxopt_grammar::tree::StmtKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The instances, as `tests/roles/instances.txt` describes itself.
const INSTANCES: &str = include_str!("../roles/instances.txt");

/// An instance of an instruction, and what must stand around it.
#[derive(Clone, Default)]
pub(crate) struct Instance {
    row: String,
    pub(crate) target: String,
    pub(crate) version: String,
    pub(crate) module: Vec<String>,
    before: Vec<String>,
    after: Vec<String>,
    pub(crate) text: String,
}

#[test]
fn a_wrong_role_changes_the_machine_code() {
    let instances = instances();
    let covered: BTreeSet<&str> = instances.iter().map(|instance| instance.row.as_str()).collect();
    let missing: Vec<_> = table::rows().map(|row| row.name).filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "rows without an instance: {missing:?}");
    let Some(assemblers) = Assemblers::find() else { return };
    let (mut flips, mut wrong) = (0, Vec::new());
    let found = each(&instances, |instance| check(&assemblers, instance));
    for (Instance { row, text, .. }, found) in instances.iter().zip(found) {
        match found {
            Ok(count) => flips += count,
            Err(problem) => wrong.push(format!("{row}: `{text}`: {problem}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} rows, {} instances, {} wrong roles seen", covered.len(), instances.len(), flips);
}

/// The roles that a kernel gives to the registers of its instance, if any.
type Given<'i> = BTreeMap<&'i str, Option<Role>>;

/// No roles: all registers keep their names.
fn plain(instance: &Instance) -> Given<'_> {
    registers(&instance.text).into_iter().map(|register| (register, None)).collect()
}

/// The kernel around an instance, with all registers under their own names.
fn plain_kernel(instance: &Instance) -> String {
    plain_kernels(&[instance])
}

/// The same of several instances, in a module as the first needs it.
pub(crate) fn plain_kernels(instances: &[&Instance]) -> String {
    let kernel =
        |(number, instance): (usize, &&Instance)| kernel(instance, &format!("k{number}"), &plain(instance));
    head(instances[0]) + &instances.iter().enumerate().map(kernel).collect::<String>()
}

/// How many wrong roles were tried.
fn check(assemblers: &Assemblers, instance: &Instance) -> Result<usize, String> {
    let roles = roles(instance)?;
    let right: Given<'_> = roles.iter().map(|(&name, &role)| (name, Some(role))).collect();
    let mut tried = vec![plain(instance), right.clone()];
    let mut flips = Vec::new();
    for (&register, &role) in &roles {
        for other in [Role::Read, Role::Write].into_iter().filter(|&other| other != role) {
            let mut wrong = right.clone();
            wrong.insert(register, Some(other));
            tried.push(wrong);
            flips.push((register, other));
        }
    }
    let codes = assemble_all(assemblers, instance, &tried);
    let code = codes[0].as_ref().map_err(Clone::clone)?;
    if codes[1].as_ref().map_err(Clone::clone)? != code {
        return Err(format!("the roles {roles:?} do not keep the machine code"));
    }
    for ((register, other), found) in flips.iter().zip(&codes[2..]) {
        if found.as_ref().is_ok_and(|found| found == code) {
            return Err(format!("calling {register} {other:?} keeps the machine code"));
        }
    }
    Ok(flips.len())
}

/// What the kernels become in one module, or if the assembler rejects any of them, each in a module of its own.
fn assemble_all(
    assemblers: &Assemblers,
    instance: &Instance,
    tried: &[Given<'_>],
) -> Vec<Result<MachineCode, String>> {
    let target = &instance.target;
    let names: Vec<String> = (0..tried.len()).map(|number| format!("k{number}")).collect();
    let kernels = names.iter().zip(tried).map(|(name, given)| kernel(instance, name, given));
    let together = head(instance) + &kernels.collect::<String>();
    match assemblers.assemble_each(together.as_bytes(), target, &names) {
        Ok(codes) => codes.into_iter().map(Ok).collect(),
        Err(_) => {
            let alone = |given| head(instance) + &kernel(instance, "k", given);
            tried.iter().map(|given| assemblers.assemble(alone(given).as_bytes(), target)).collect()
        }
    }
}

/// What the tree says of each register of the instance.
fn roles(instance: &Instance) -> Result<BTreeMap<&str, Role>, String> {
    let kernel = plain_kernel(instance);
    let tree = ptxopt_grammar::parse(kernel.as_bytes()).map_err(|errors| errors[0].message.clone())?;
    let wanted = instance.text.as_bytes();
    let stmt =
        tree.stmts().find(|&stmt| tree.kind(stmt) == StmtKind::Instruction && tree.stmt_text(stmt) == wanted);
    let stmt = stmt.ok_or("the instance is not in the tree")?;
    let row = tree.row(stmt).ok_or("the table lacks the opcode")?;
    if row.name != instance.row {
        return Err(format!("the table finds row `{}`", row.name));
    }
    let given = tree.roles(stmt);
    let mut roles = BTreeMap::new();
    for register in registers(&instance.text) {
        let uses = given
            .iter()
            .filter(|(node, _)| NameParts::new(tree.node_text(*node)).base == register.as_bytes());
        let role = uses.map(|&(_, role)| role).reduce(|a, b| if a == b { a } else { Role::Update });
        roles.insert(register, role.ok_or_else(|| format!("{register} has no role"))?);
    }
    Ok(roles)
}

/// The kernel around an instance. A register without a role keeps its name; one that is written gets a fresh name
/// from the instance on; one that is updated is copied first. One that is wrongly said to be only read is copied
/// too, and the original stored.
fn kernel(instance: &Instance, name: &str, roles: &Given<'_>) -> String {
    let mut text = format!(".visible .entry {name}(.param .u64 p) {{\n.reg .b64 %base;\n.reg .b32 %t<4>;\n");
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for register in roles.keys() {
        line(&format!(".reg .{} {register}, {register}n, {register}c;", declared_type(register)));
    }
    instance.before.iter().for_each(|before| line(before));
    line("ld.param.u64 %base, [p];");
    for (position, register) in roles.keys().enumerate() {
        line(&load(register, 16 * position));
    }
    let actual: BTreeMap<&str, Role> = roles_of_text(instance, roles);
    let mut names = BTreeMap::new();
    for (&register, role) in roles {
        let (used, stored) = match role {
            None => (register.to_owned(), register.to_owned()),
            Some(Role::Write) => (format!("{register}n"), format!("{register}n")),
            Some(Role::Read) if actual.get(register) == Some(&Role::Read) => {
                (register.to_owned(), register.to_owned())
            }
            Some(Role::Read) => (format!("{register}c"), register.to_owned()),
            Some(Role::Update) => (format!("{register}c"), format!("{register}c")),
        };
        if used.ends_with('c') {
            line(&copy(register));
        }
        names.insert(register, (used, stored));
    }
    line(&substitute(&instance.text, |register| names[register].0.clone()));
    instance.after.iter().for_each(|after| line(after));
    for (position, register) in roles.keys().enumerate() {
        line(&store(register, &names[register].1, 4096 + 16 * position));
    }
    text.push_str("ret;\n}\n");
    text
}

/// What stands before the kernels around an instance.
fn head(instance: &Instance) -> String {
    let Instance { version, target, module, .. } = instance;
    format!(".version {version}\n.target {target}\n.address_size 64\n{}\n", module.join("\n"))
}

/// The roles as the tree has them: a register that is really only read needs no copy.
fn roles_of_text<'i>(instance: &'i Instance, given: &Given<'_>) -> BTreeMap<&'i str, Role> {
    if given.values().all(Option::is_none) {
        return BTreeMap::new();
    }
    roles(instance).unwrap_or_default()
}

fn load(register: &str, offset: usize) -> String {
    match declared_type(register) {
        "pred" => format!("ld.global.b32 %t0, [%base+{offset}];\nsetp.ne.b32 {register}, %t0, 0;"),
        ty => format!("ld.global.{} {register}, [%base+{offset}];", bits(ty)),
    }
}

fn store(register: &str, name: &str, offset: usize) -> String {
    match declared_type(register) {
        "pred" => format!("selp.b32 %t0, 1, 0, {name};\nst.global.b32 [%base+{offset}], %t0;"),
        ty => format!("st.global.{} [%base+{offset}], {name};", bits(ty)),
    }
}

fn copy(register: &str) -> String {
    match declared_type(register) {
        "b8" => format!("cvt.u8.u8 {register}c, {register};"),
        ty => format!("mov.{} {register}c, {register};", bits(ty)),
    }
}

fn bits(ty: &str) -> &str {
    if ty == "f16" { "b16" } else { ty }
}

/// The type that a register's name stands for.
fn declared_type(register: &str) -> &'static str {
    match register.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "%r" => "b32",
        "%rd" => "b64",
        "%rs" => "b16",
        "%rq" => "b128",
        "%rb" => "b8",
        "%f" => "f32",
        "%fd" => "f64",
        "%h" => "f16",
        "%p" => "pred",
        other => panic!("{other} is no register of the instances"),
    }
}

/// The registers of an instance: names that the convention types.
fn registers(text: &str) -> BTreeSet<&str> {
    pieces(text).filter_map(|(register, piece)| register.then_some(piece)).collect()
}

fn substitute(text: &str, new: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for (register, piece) in pieces(text) {
        if register { out.push_str(&new(piece)) } else { write!(out, "{piece}").expect("a string can grow") }
    }
    out
}

/// Cuts a text into registers of the convention and what is between them.
fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word = |text: &str| {
            text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |n| n + 1)
        };
        let (register, end) = if rest.starts_with('%') {
            let end = word(rest);
            let stem = rest[..end].trim_end_matches(|c: char| c.is_ascii_digit());
            let known = ["%r", "%rd", "%rs", "%rq", "%rb", "%f", "%fd", "%h", "%p"].contains(&stem);
            (known && stem.len() < end, end)
        } else {
            (false, rest.find('%').unwrap_or(rest.len()))
        };
        let piece = &rest[..end];
        rest = &rest[end..];
        Some((register, piece))
    })
}

/// All instances.
pub(crate) fn instances() -> Vec<Instance> {
    let mut instances = Vec::new();
    let mut block = Instance::default();
    for line in INSTANCES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix("== ") {
            let words: Vec<&str> = header.split(' ').collect();
            let [row, target, version] = words[..] else { panic!("`{line}` is no header") };
            block = Instance {
                row: row.to_owned(),
                target: target.to_owned(),
                version: version.to_owned(),
                ..Instance::default()
            };
        } else if let Some(text) = line.strip_prefix("module: ") {
            block.module.push(text.to_owned());
        } else if let Some(text) = line.strip_prefix("before: ") {
            block.before.push(text.to_owned());
        } else if let Some(text) = line.strip_prefix("after: ") {
            block.after.push(text.to_owned());
        } else {
            instances.push(Instance { text: line.to_owned(), ..block.clone() });
        }
    }
    instances
}

//! Which names a statement writes and reads, and what else it touches: the table's row applied to the operands.
//!
//! Names inside brackets are read even in a written operand, because they form an address. An instruction without a row
//! counts as reading and writing every operand and as having every effect.

use crate::names::{DeclKind, NameParts};
use crate::special::is_special_register;
use crate::table::{Effects, Row, Writes, modifiers};
use crate::tree::{DeclId, Module, NodeId, NodeKind, StmtId, StmtKind};

/// What a statement does to a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// It reads it.
    Read,
    /// It writes all of it, and does not read it; under a guard, it may leave it unchanged.
    Write,
    /// It reads and may write it.
    Update,
}

impl Module<'_> {
    /// The row of an instruction; `None` for one that the table lacks and for other statements.
    #[must_use]
    pub fn row(&self, stmt: StmtId) -> Option<&'static Row> {
        self.opcode(stmt).and_then(|(spelling, _)| self.spellings.row(spelling))
    }

    /// Every name that an instruction uses, its guard included, with what it does to it. The sink `_` is not a name.
    #[must_use]
    pub fn roles(&self, stmt: StmtId) -> Vec<(NodeId, Role)> {
        if self.kind(stmt) != StmtKind::Instruction {
            return Vec::new();
        }
        let writes = self.row(stmt).map_or(Writes::Everything, |row| row.writes);
        let operands = self.operands(stmt);
        let mut roles = Vec::new();
        if let Some((guard, _)) = self.guard(stmt) {
            roles.push((guard, Role::Read));
        }
        for (position, &operand) in operands.iter().enumerate() {
            let role = self.operand_role(writes, &operands, position);
            self.add_names(operand, role, &mut roles);
        }
        roles
    }

    fn operand_role(&self, writes: Writes, operands: &[NodeId], position: usize) -> Role {
        let first = self.node_kind(operands[0]);
        let written = match writes {
            Writes::Nothing => false,
            Writes::Leading(count) => position < usize::from(count),
            Writes::Updates => return if position == 0 { Role::Update } else { Role::Read },
            Writes::Report => position == 0 || (position == 1 && first == NodeKind::Pair),
            Writes::Results => position == 0 && first == NodeKind::List,
            Writes::Everything => return Role::Update,
        };
        if written { Role::Write } else { Role::Read }
    }

    fn add_names(&self, operand: NodeId, role: Role, roles: &mut Vec<(NodeId, Role)>) {
        let tree = operand.0 - self.nodes[operand.index()].below()..=operand.0;
        let address = self.node_kind(operand) == NodeKind::Address;
        let role = if address && role == Role::Write { Role::Read } else { role };
        for node in tree.map(NodeId) {
            if self.node_kind(node) == NodeKind::Name && self.node_text(node) != b"_" {
                roles.push((node, role));
            }
        }
    }

    /// What a statement touches besides its operands.
    #[must_use]
    pub fn effects(&self, stmt: StmtId) -> Effects {
        let (spelling, row) = match (self.kind(stmt), self.opcode(stmt)) {
            (StmtKind::Unknown, _) => return Effects::ALL,
            (_, None) => return Effects::NONE,
            (_, Some((spelling, _))) => match self.spellings.row(spelling) {
                None => return Effects::ALL,
                Some(row) => (spelling, row),
            },
        };
        let mut effects = row.effects;
        for modifier in modifiers(self.spellings.words(spelling, self.text)) {
            effects = match modifier {
                b"cc" => effects.with(Effects::WRITES_CARRY),
                b"volatile" | b"acquire" | b"relaxed" | b"mmio" => effects.with(Effects::ORDERED),
                _ => effects,
            };
        }
        if effects.has(Effects::ACTS) {
            effects = effects.with(Effects::ORDERED);
        }
        // Inside vectors too: `mov.b64 %d, {%clock, %clock_hi}`.
        if self.stmt_nodes(stmt).any(|node| self.is_changing_register(node)) {
            effects = effects.with(Effects::IMPURE);
        }
        effects
    }

    /// The state space that an access gets from the symbol in its address, if it names none itself: `ld.u32 %r, [s]` with
    /// an `s` in shared memory reads what `ld.shared.u32` does, not what lies at that number in generic memory. `None`
    /// for an access that names its space, for an address without a symbol, and for a symbol in global memory, where
    /// both are the same.
    #[must_use]
    pub fn implied_space(&self, stmt: StmtId, address: NodeId) -> Option<&'static str> {
        let (spelling, _) = self.opcode(stmt)?;
        let is_space = |word: &[u8]| {
            let space = word.split(|&byte| byte == b':').next().unwrap_or(word);
            space == b"global" || NARROW.iter().any(|narrow| narrow.as_bytes() == space)
        };
        if modifiers(self.spellings.words(spelling, self.text)).any(is_space) {
            return None;
        }
        let [mut place] = self.children(address)[..] else { return None };
        if matches!(self.node_kind(place), NodeKind::Offset | NodeKind::Element) {
            place = *self.children(place).first()?;
        }
        self.space_of(self.decl_of(place)?)
    }

    /// The state space of a variable or parameter, if it is one of [`NARROW`].
    fn space_of(&self, decl: DeclId) -> Option<&'static str> {
        let declared = self.decl(decl);
        match declared.kind {
            DeclKind::Parameter => Some("param"),
            DeclKind::Variable => {
                let narrow = |word: &[u8]| NARROW.iter().copied().find(|space| space.as_bytes() == word);
                self.stmt_nodes(declared.stmt)
                    .take_while(|&node| self.node_kind(node) != NodeKind::Declared)
                    .filter(|&node| self.node_kind(node) == NodeKind::Directive)
                    .find_map(|node| narrow(self.node_text(node).strip_prefix(b".")?))
            }
            DeclKind::Register
            | DeclKind::Function
            | DeclKind::Label
            | DeclKind::Table
            | DeclKind::SectionLabel => None,
        }
    }

    /// Whether a pragma is about this instruction alone.
    #[must_use]
    pub fn has_own_pragma(&self, stmt: StmtId) -> bool {
        self.own_pragmas(stmt).next().is_some()
    }

    /// The pragmas that are about this instruction alone, the last one first: `used_bytes_mask`, of the pragma strings of
    /// the [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/), is about the next instruction, whatever
    /// stands between that is none: a line number, a label, a brace, another pragma. Others are about a loop or a block.
    pub fn own_pragmas(&self, stmt: StmtId) -> impl Iterator<Item = StmtId> {
        let first = if self.kind(stmt) == StmtKind::Instruction { 0 } else { stmt.0 };
        let before = (first..stmt.0).rev().map(StmtId).take_while(|&before| !self.ends_pragmas(before));
        before.filter(|&before| self.is_mask(before))
    }

    /// The instruction that a pragma is about, if it is about one alone.
    #[must_use]
    pub fn is_about(&self, pragma: StmtId) -> Option<StmtId> {
        let last = self.stmts().next_back()?;
        let next = (pragma.0 + 1..=last.0).map(StmtId).find(|&next| self.ends_pragmas(next));
        next.filter(|&next| self.is_mask(pragma) && self.kind(next) == StmtKind::Instruction)
    }

    /// Whether pragmas before a statement say nothing of what comes behind it.
    fn ends_pragmas(&self, stmt: StmtId) -> bool {
        matches!(self.kind(stmt), StmtKind::Instruction | StmtKind::Entry | StmtKind::Function)
    }

    fn is_mask(&self, stmt: StmtId) -> bool {
        self.kind(stmt) == StmtKind::Pragma
            && self.stmt_text(stmt).windows(MASK.len()).any(|words| words == MASK)
    }

    /// Whether a node names a special register that may change while a thread runs.
    fn is_changing_register(&self, node: NodeId) -> bool {
        if self.node_kind(node) != NodeKind::Name || self.decl_of(node).is_some() {
            return false;
        }
        let base = NameParts::new(self.node_text(node)).base;
        is_special_register(base) && CHANGING.iter().any(|prefix| base.starts_with(prefix))
    }
}

/// The state spaces whose addresses are others than those of generic memory.
const NARROW: [&str; 4] = ["shared", "local", "const", "param"];

/// The pragma that says which bytes of what the next instruction loads are used.
const MASK: &[u8] = b"used_bytes_mask";

/// Prefixes of the special registers that may change: clocks, counters, and the place where the thread runs, which the
/// GPU may change.
const CHANGING: &[&[u8]] =
    &[b"%clock", b"%globaltimer", b"%pm", b"%smid", b"%warpid", b"%nwarpid", b"%nsmid"];

#[cfg(test)]
mod tests {
    use crate::parse::parse;
    use crate::table::Effects;
    use crate::tree::{Module, NodeKind, StmtId, StmtKind};

    /// The instructions of a function with this body, and what is asked of each.
    fn asked<T>(body: &str, ask: impl Fn(&Module<'_>, StmtId) -> T) -> Vec<T> {
        let text = format!(
            ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"x.cu\"\n\
             .visible .entry f(.param .u32 p)\n{{\n{body}\n}}\n"
        );
        let module = parse(text.as_bytes()).expect("it is legal");
        let all = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Instruction);
        all.map(|stmt| ask(&module, stmt)).collect()
    }

    #[test]
    fn a_pragma_is_about_the_next_instruction_whatever_stands_between() {
        let mask = ".pragma \"used_bytes_mask 0x1\";";
        let owned = |body: &str| {
            let body = format!(".reg .b32 %r<2>; .shared .b32 s; {body} ret;");
            asked(&body, |module, stmt| u8::from(module.has_own_pragma(stmt)))
        };
        for between in
            ["", ".loc 1 2 3", "L:", "{", ".pragma \"nounroll\";", ".reg .b32 %x;", "L: { .loc 1 2 3"]
        {
            let end = if between.contains('{') { "}" } else { "" };
            let body = format!("{mask} {between} ld.shared.b32 %r0, [s]; {end} ld.shared.b32 %r1, [s];");
            assert_eq!(owned(&body), [1, 0, 0], "{between}");
        }
        assert_eq!(owned(".pragma \"nounroll\"; ld.shared.b32 %r0, [s];"), [0, 0]);
        assert_eq!(owned(&format!("ld.shared.b32 %r0, [s]; {mask} .loc 1 2 3")), [0, 1]);
        let text =
            format!(".version 9.0\n.target sm_90\n.address_size 64\n.entry f() {{ {mask} L: ret; {mask} }}");
        let module = parse(text.as_bytes()).expect("it is legal");
        let pragmas: Vec<StmtId> =
            module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Pragma).collect();
        let about = pragmas.iter().map(|&pragma| module.is_about(pragma).map(|stmt| module.stmt_text(stmt)));
        assert_eq!(about.collect::<Vec<_>>(), [Some(b"ret;".as_slice()), None]);
    }

    #[test]
    fn an_access_without_a_space_is_to_that_of_the_symbol_it_names() {
        let body = ".reg .b32 %r; .reg .b64 %d; .shared .b32 s[2]; .local .align 8 .v2 .b32 l; .param .b32 q;\n\
             ld.u32 %r, [s]; ld.u32 %r, [s+4]; st.u8 [l], %r; atom.add.u32 %r, [s], 1; st.b32 [q], %r;\n\
             ld.u32 %r, [p]; ld.shared.u32 %r, [s]; ld.shared::cta.u32 %r, [s]; ld.u32 %r, [%d];";
        let space = |module: &Module<'_>, stmt| {
            let mut operands = module.operands(stmt).into_iter();
            let address = operands.find(|&node| module.node_kind(node) == NodeKind::Address);
            module.implied_space(stmt, address.expect("each has one"))
        };
        let [shared, local, param] = ["shared", "local", "param"].map(Some);
        assert_eq!(asked(body, space), [shared, shared, local, shared, param, param, None, None, None]);
    }

    #[test]
    fn a_clock_inside_a_vector_changes_too() {
        let changes = |stmt: &str| {
            let body = format!(".reg .b32 %r<2>; .reg .b64 %d; .reg .b128 %q; {stmt}");
            asked(&body, |module, stmt| module.effects(stmt).has(Effects::IMPURE))
        };
        assert_eq!(changes("mov.b64 %d, {%clock, %clock_hi};"), [true]);
        assert_eq!(changes("mov.b64 %d, {%r0, %globaltimer_hi};"), [true]);
        assert_eq!(changes("mov.b128 %q, {%clock64, %globaltimer};"), [true]);
        assert_eq!(changes("mov.b64 %d, {%r0, %r1};"), [false]);
        assert_eq!(changes("mov.u32 %r0, %clock;"), [true]);
        assert_eq!(changes("mov.u32 %r0, %tid .x;"), [false]);
        assert_eq!(changes("mov.u32 %r0, %warpid;"), [true]);
    }
}

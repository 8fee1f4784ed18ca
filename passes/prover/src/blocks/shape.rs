//! Instructions of which nothing is known but that they do the same for the same operands.
//!
//! The shape of such an instruction is its text with the registers, plain addresses and stored numbers taken out:
//! these are its operands, as terms. Two instructions of the same shape with equal operands are the same function of
//! the same numbers, and, where they are more than that, the same access, barrier or call at that point. Constants
//! are part of the shape by their value, symbols by their name and scope; so is a pragma about that instruction alone.
//! Under a guard that fails nothing is read, so there an operand counts as zero; the guard itself is an operand. Plain
//! accesses to memory are to words, however they take them apart (`words`).

use super::Stop;
use super::registers::{CARRY, RegisterId};
use super::terms::Input;
use super::walk::Walk;
use super::words::{self, Space};
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::names::{DeclKind, NameParts};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::token::Tok;
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtId, StmtKind, TokenId};
use ptxopt_grammar::{address, constant};
use std::collections::BTreeMap;

/// How the results of an instruction depend on more than its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// They do not.
    Pure,
    /// On memory as it is; other threads cannot observe it.
    Load,
    /// On what happened before, and other threads may observe it, so it keeps its place in the order. The flag:
    /// whether memory may change.
    Ordered(bool),
}

/// An instruction taken apart.
pub(super) struct Shape {
    pub(super) text: String,
    pub(super) class: Class,
    /// What it reads, its guard first if it has one.
    pub(super) operands: Vec<Term>,
    /// How many bits each of its results has.
    pub(super) results: Vec<u32>,
    /// What it writes.
    pub(super) targets: Vec<Target>,
    pub(super) guard: Term,
    /// The state space that it accesses, and no other, if it is a weak access that says so.
    pub(super) space: Option<Space>,
    /// What it is as a part of a word, if it is a weak access to one or less.
    pub(super) part: Option<Part>,
}

/// An access to a word, or to less than that.
pub(super) struct Part {
    /// The shape that an access to the whole word would have.
    pub(super) whole: String,
    /// How many bits it accesses.
    pub(super) bits: u32,
}

/// A register that bits of a result are written to.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) register: RegisterId,
    /// Which result, and the first bit of it.
    pub(super) from: (usize, u32),
    pub(super) bits: u32,
    /// Whether the rest of the register is filled with the sign, and not with zeros.
    pub(super) signed: bool,
}

impl Shape {
    /// Adds a result that is written to a register.
    fn write(&mut self, register: RegisterId, bits: u32, signed: bool) {
        self.targets.push(Target { register, from: (self.results.len(), 0), bits, signed });
        self.results.push(bits);
    }
}

/// What stands in the shape for some tokens.
struct Piece {
    end: u32,
    text: String,
    operands: Vec<Term>,
    targets: Vec<RegisterId>,
}

impl Walk<'_, '_> {
    /// Takes an instruction of a side apart.
    pub(super) fn shape(&mut self, side: usize, stmt: StmtId) -> Result<Shape, Stop> {
        let module = self.sides[side].names.module;
        let (spelling, opcode) = module.opcode(stmt).expect("only instructions are taken apart");
        let words = String::from_utf8_lossy(module.spellings().words(spelling, module.text())).into_owned();
        let row = module.row(stmt);
        let effects = module.effects(stmt);
        let control = row.map_or(Control::Unknown, |row| row.control);
        let accessed = words.rsplit('.').next().and_then(bits);
        let stored = accessed.filter(|_| row.is_some_and(|row| row.is(op::ST)));
        let loaded = accessed.filter(|_| row.is_some_and(|row| row.is(op::LD) || row.is(op::LDU)));

        let guard = self.guard(side, stmt)?;
        let pieces = self.pieces(side, stmt, stored.map(|(bits, _)| bits))?;
        let mut shape = Shape {
            text: words.clone(),
            class: class(effects, control),
            operands: vec![guard],
            results: Vec::new(),
            targets: Vec::new(),
            guard,
            space: None,
            part: None,
        };
        let mut token = u32::try_from(opcode.index()).expect("tokens have 32-bit numbers") + 1;
        let end = module.stmt_tokens(stmt).end;
        while token < end {
            let id = TokenId::new(token as usize).expect("tokens have 32-bit numbers");
            shape.text.push(' ');
            if let Some(piece) = pieces.get(&token) {
                shape.text.push_str(&piece.text);
                shape.operands.extend(&piece.operands);
                for &register in &piece.targets {
                    let width = self.registers.width(register);
                    let (bits, signed) = loaded.unwrap_or((width, false));
                    shape.write(register, bits.min(width), signed);
                }
                token = piece.end;
                continue;
            }
            if module.tokens().kind(id) != Tok::LineMarker {
                shape.text.push_str(&String::from_utf8_lossy(&module.text()[module.tokens().span(id)]));
            }
            token += 1;
        }
        if accessed.is_some_and(|_| row.is_some_and(|row| row.is(op::LD) || row.is(op::ST)))
            && let [address] =
                pieces.values().filter(|piece| piece.text.starts_with('[')).collect::<Vec<_>>()[..]
        {
            words::join(&mut self.arena.terms, &words, &address.text, &mut shape);
            let names = &self.sides[side].names;
            // The parameters of a function that is no entry may lie in local memory.
            if shape.space == Some(Space::Param) && names.module.kind(names.function.head) != StmtKind::Entry
            {
                shape.space = None;
            }
        }
        // What a pragma says of this instruction alone, as `used_bytes_mask` does of the bytes that are loaded.
        let pragmas: Vec<StmtId> = module.own_pragmas(stmt).collect();
        if !pragmas.is_empty() {
            let said = pragmas.iter().rev().map(|&pragma| String::from_utf8_lossy(module.stmt_text(pragma)));
            shape.text = format!("{} {words} {}", said.collect::<String>(), shape.text);
            shape.part = None;
        }
        if effects.has(Effects::READS_CARRY) {
            let carry = self.read(side, CARRY, stmt);
            shape.operands.push(carry);
        }
        // The carry flag does not survive a call.
        if effects.has(Effects::WRITES_CARRY) || control == Control::Call {
            shape.write(CARRY, 1, false);
        }
        for operand in &mut shape.operands[1..] {
            let nothing = self.arena.terms.constant(0, self.arena.terms.width(*operand));
            *operand = self.arena.terms.choose(guard, *operand, nothing);
        }
        Ok(shape)
    }

    /// The pieces of a statement by their first token.
    fn pieces(
        &mut self,
        side: usize,
        stmt: StmtId,
        stored: Option<u32>,
    ) -> Result<BTreeMap<u32, Piece>, Stop> {
        let module = self.sides[side].names.module;
        let roles: BTreeMap<NodeId, Role> = module.roles(stmt).into_iter().collect();
        let guard = module.guard(stmt).map(|(node, _)| node);
        let mut pieces: BTreeMap<u32, Piece> = BTreeMap::new();
        // What a store stores; its address is the first operand.
        let values: Vec<NodeId> = match (stored, &module.operands(stmt)[..]) {
            (Some(_), [_address, value]) if module.node_kind(*value) == NodeKind::Vector => {
                module.children(*value)
            }
            (Some(_), [_address, value]) => vec![*value],
            _ => Vec::new(),
        };
        // An address comes before its parts, which must not be read twice.
        for node in module.stmt_nodes(stmt).rev().filter(|&node| Some(node) != guard) {
            let tokens = module.node_tokens(node);
            let inside =
                pieces.range(..=tokens.start).next_back().is_some_and(|(_, piece)| piece.end > tokens.start);
            if inside {
                continue;
            }
            let bits = stored.filter(|_| values.contains(&node));
            let role = roles.get(&node).copied();
            if let Some(piece) = self.piece(side, stmt, node, (role, bits), tokens.end)? {
                pieces.insert(tokens.start, piece);
            }
        }
        Ok(pieces)
    }

    /// What stands for a node; `None` if that is its tokens.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most nodes stand for themselves")]
    fn piece(
        &mut self,
        side: usize,
        stmt: StmtId,
        node: NodeId,
        (role, bits): (Option<Role>, Option<u32>),
        end: u32,
    ) -> Result<Option<Piece>, Stop> {
        let module = self.sides[side].names.module;
        let plain = |text: String| Piece { end, text, operands: Vec::new(), targets: Vec::new() };
        match module.node_kind(node) {
            NodeKind::Int | NodeKind::Constant => {
                let Some(value) = constant::value(module, node) else { return Ok(None) };
                Ok(Some(match bits {
                    None => plain(format!("#{value}")),
                    Some(bits) => {
                        let value = i128::from(value.cast_signed()).cast_unsigned();
                        let value = self.arena.terms.constant(value, bits);
                        Piece { operands: vec![value], ..plain("value".to_owned()) }
                    }
                }))
            }
            NodeKind::Address => {
                let Some(at) = self.address(side, stmt, node)? else { return Ok(None) };
                let text = module.node_text(node);
                let closed = text.iter().rposition(|&byte| byte == b']').map_or(0, |at| at + 1);
                let suffix = String::from_utf8_lossy(&text[closed..]).into_owned();
                // The same number is another place in another space.
                let space =
                    module.implied_space(stmt, node).map_or(String::new(), |space| format!("{space} "));
                Ok(Some(Piece {
                    operands: vec![at],
                    ..plain(format!("[{space}{}]{suffix}", self.arena.terms.width(at)))
                }))
            }
            NodeKind::Name if module.node_text(node) == b"_" => Ok(None),
            NodeKind::Name => {
                let side_names = &mut self.sides[side].names;
                let strange = || Stop::at(stmt, "names a register that the prover does not follow");
                let found = side_names.registers(&mut self.registers, node).ok_or_else(strange)?;
                if found.is_empty() {
                    return Ok(Some(plain(side_names.symbol(node))));
                }
                let mut piece = plain(String::new());
                for register in found {
                    let width = self.registers.width(register);
                    if role.is_none_or(|role| role != Role::Write) {
                        let value = self.read(side, register, stmt);
                        let value = match bits.filter(|&bits| bits < width) {
                            Some(bits) => self.arena.terms.extract(value, 0, bits),
                            None => value,
                        };
                        piece.operands.push(value);
                    }
                    if role.is_none_or(|role| role != Role::Read) {
                        piece.targets.push(register);
                    }
                    let kind = if bits.is_some() { "value".to_owned() } else { format!("{role:?}{width}") };
                    piece.text.push_str(&kind);
                }
                if let Some(suffix) = NameParts::new(module.node_text(node)).suffix {
                    let vector = module.decl_of(node).is_some_and(|decl| module.decl(decl).lanes > 1);
                    if !vector {
                        piece.text.push('.');
                        piece.text.push_str(&String::from_utf8_lossy(suffix));
                    }
                }
                Ok(Some(piece))
            }
            _ => Ok(None),
        }
    }

    /// The number that a plain address is: a register or a symbol, or one and a constant.
    fn address(&mut self, side: usize, stmt: StmtId, node: NodeId) -> Result<Option<Term>, Stop> {
        let module = self.sides[side].names.module;
        let Some((base, offset)) = address::parts(module, node) else { return Ok(None) };
        let names = &mut self.sides[side].names;
        let strange = || Stop::at(stmt, "names a register that the prover does not follow");
        let found = names.registers(&mut self.registers, base).ok_or_else(strange)?;
        let base = match found[..] {
            [register] => self.read(side, register, stmt),
            [] => {
                let kind = module.decl_of(base).map(|decl| module.decl(decl).kind);
                if !matches!(kind, Some(DeclKind::Variable | DeclKind::Parameter)) {
                    return Ok(None);
                }
                let symbol = format!("address of {}", names.symbol(base));
                self.arena.input(Input::Named(symbol), 64, names.alignment(base))
            }
            _ => return Ok(None),
        };
        let width = self.arena.terms.width(base);
        let offset = i128::from(offset.cast_signed()).cast_unsigned();
        let offset = self.arena.terms.constant(offset, width);
        Ok(Some(self.arena.terms.add(base, offset)))
    }
}

fn class(effects: Effects, control: Control) -> Class {
    let any = |some: &[Effects]| some.iter().any(|&one| effects.has(one));
    let acts = any(&[Effects::ACTS, Effects::ORDERED]) || matches!(control, Control::Call | Control::Unknown);
    if acts {
        Class::Ordered(true)
    } else if any(&[Effects::CONVERGENT, Effects::IMPURE]) {
        Class::Ordered(false)
    } else if any(&[Effects::READS_MEMORY]) {
        Class::Load
    } else {
        Class::Pure
    }
}

/// The width of the type of an access, and whether it is signed.
pub(super) fn bits(ty: &str) -> Option<(u32, bool)> {
    let bits = ty.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits))?;
    matches!(ty.as_bytes()[0], b'b' | b'u' | b's' | b'f').then_some((bits, ty.starts_with('s')))
}

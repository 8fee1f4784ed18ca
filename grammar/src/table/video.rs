//! Video instructions; their forms are decoded in [`crate::video`].
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::{Row, row};
use crate::meaning::video::means;
use crate::video::{Arithmetic, Direction, Lanes, Opcode, SimdArithmetic};

pub(super) const ROWS: &[Row] = &[
    scalar(Opcode::Arithmetic(Arithmetic::Add)),
    scalar(Opcode::Arithmetic(Arithmetic::Sub)),
    scalar(Opcode::Arithmetic(Arithmetic::AbsDiff)),
    scalar(Opcode::Arithmetic(Arithmetic::Min)),
    scalar(Opcode::Arithmetic(Arithmetic::Max)),
    scalar(Opcode::Shift(Direction::Left)),
    scalar(Opcode::Shift(Direction::Right)),
    scalar(Opcode::Set),
    scalar(Opcode::Mad),
    simd(Opcode::Simd(SimdArithmetic::Add, Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::Sub, Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::Average, Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::AbsDiff, Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::Min, Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::Max, Lanes::Two)),
    simd(Opcode::SimdSet(Lanes::Two)),
    simd(Opcode::Simd(SimdArithmetic::Add, Lanes::Four)),
    simd(Opcode::Simd(SimdArithmetic::Sub, Lanes::Four)),
    simd(Opcode::Simd(SimdArithmetic::Average, Lanes::Four)),
    simd(Opcode::Simd(SimdArithmetic::AbsDiff, Lanes::Four)),
    simd(Opcode::Simd(SimdArithmetic::Min, Lanes::Four)),
    simd(Opcode::Simd(SimdArithmetic::Max, Lanes::Four)),
    simd(Opcode::SimdSet(Lanes::Four)),
];

const fn scalar(opcode: Opcode) -> Row {
    row(opcode.name()).video(opcode).means(means).writes_leading(1).since(2, 0).on("20")
}

const fn simd(opcode: Opcode) -> Row {
    row(opcode.name()).video(opcode).means(means).writes_leading(1).since(3, 0).on("30")
}

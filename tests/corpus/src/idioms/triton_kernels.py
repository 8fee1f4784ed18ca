"""Idioms on bytes in Triton, compiled ahead of time: triton_kernels.py FOLDER TARGET...

Writes FOLDER/<idiom>__triton.sm_<target>.ptx.  No GPU is needed.
"""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i) + tl.load(b + i))


@triton.jit
def max_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(a + i), tl.load(b + i)))


@triton.jit
def add_sat_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.load(a + i).to(tl.int32) + tl.load(b + i).to(tl.int32)
    tl.store(out + i, tl.minimum(sum, 255).to(tl.uint8))


@triton.jit
def sub_sat_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.load(a + i).to(tl.int16) - tl.load(b + i).to(tl.int16)
    tl.store(out + i, tl.maximum(sum, 0).to(tl.uint8))


@triton.jit
def average_up_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.load(a + i).to(tl.int32) + tl.load(b + i).to(tl.int32) + 1
    tl.store(out + i, (sum >> 1).to(tl.uint8))


@triton.jit
def difference_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(a + i).to(tl.int32), tl.load(b + i).to(tl.int32)
    tl.store(out + i, tl.abs(x - y).to(tl.uint8))


@triton.jit
def threshold_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.where(tl.load(a + i) > 100, 255, 0).to(tl.uint8))


@triton.jit
def select_less_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y, z = tl.load(a + i), tl.load(b + i), tl.load(out + i)
    tl.store(out + i, tl.where(x < y, z, x))


@triton.jit
def relu_s8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(a + i), 0).to(tl.int8))


@triton.jit
def add_sat_s16__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.load(a + i).to(tl.int32) + tl.load(b + i).to(tl.int32)
    tl.store(out + i, tl.minimum(tl.maximum(sum, -32768), 32767).to(tl.int16))


@triton.jit
def sum_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(a + i).to(tl.int32), axis=0))


@triton.jit
def sad_u8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(a + i).to(tl.int32), tl.load(b + i).to(tl.int32)
    tl.store(out + tl.program_id(0), tl.sum(tl.abs(x - y), axis=0))


@triton.jit
def dot_s8__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(a + i).to(tl.int32), tl.load(b + i).to(tl.int32)
    tl.store(out + tl.program_id(0), tl.sum(x * y, axis=0))


@triton.jit
def all_of_block__triton(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (tl.load(a + i) > tl.load(b + i)).to(tl.int8)
    tl.store(out + tl.program_id(0), tl.min(inside, axis=0))


U8, S8, S16, SUM = "*u8", "*i8", "*i16", "*i32"

# kernel, type of its operands, type of its result
KERNELS = [
    (add_u8__triton, U8, U8),
    (max_u8__triton, U8, U8),
    (add_sat_u8__triton, U8, U8),
    (sub_sat_u8__triton, U8, U8),
    (average_up_u8__triton, U8, U8),
    (difference_u8__triton, U8, U8),
    (threshold_u8__triton, U8, U8),
    (select_less_u8__triton, U8, U8),
    (relu_s8__triton, S8, S8),
    (add_sat_s16__triton, S16, S16),
    (sum_u8__triton, U8, SUM),
    (sad_u8__triton, U8, SUM),
    (dot_s8__triton, S8, SUM),
    (all_of_block__triton, S8, S8),
]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir()
    # Line information names files; not by the paths they have here, though.
    for function in vars(tl.standard).values():
        if isinstance(function, triton.JITFunction):
            function.file_name = "standard.py"
    for kernel, operand, result in KERNELS:
        kernel.file_name = "triton_kernels.py"
        signature = {"a": operand, "b": operand, "out": result, "BLOCK": "constexpr"}
        aligned = {(k,): [["tt.divisibility", 16]] for k in range(3)}
        for target in sys.argv[2:]:
            source = ASTSource(kernel, signature, constexprs={"BLOCK": 512}, attrs=aligned)
            built = triton.compile(source, target=GPUTarget("cuda", int(target), 32), options={"num_warps": 4})
            (folder / f"{kernel.__name__}.sm_{target}.ptx").write_text(built.asm["ptx"])


if __name__ == "__main__":
    main()

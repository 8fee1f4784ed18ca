"""Triton kernels, compiled ahead of time: kernels.py FOLDER TARGET...

Writes FOLDER/<kernel>.sm_<target>.ptx.  No GPU is needed.
"""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def blend(a, b, out, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(a + i, mask=inside, other=0).to(tl.int16)
    y = tl.load(b + i, mask=inside, other=0).to(tl.int16)
    v = (x * alpha + y * (256 - alpha)) >> 8
    tl.store(out + i, tl.minimum(tl.maximum(v, 0), 255).to(tl.uint8), mask=inside)


@triton.jit
def absdiff_sum(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0).to(tl.int32)
    y = tl.load(b + i, mask=i < n, other=0).to(tl.int32)
    tl.atomic_add(out, tl.sum(tl.abs(x - y), axis=0))


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    steps = tl.arange(0, K)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for s in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (s + steps)[None, :])
        y = tl.load(b + (s + steps)[:, None] * n + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * n + cols[None, :], acc.to(tl.float16))


@triton.jit
def quantise(x, q, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    top = tl.max(tl.abs(v), axis=0) / 127.0
    tl.store(q + i, (v / top + 0.5).to(tl.int8), mask=i < n)
    tl.store(scale + tl.program_id(0), top)


@triton.jit
def scan_and_histogram(x, y, bins, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i).to(tl.int32)
    tl.store(y + i, tl.cumsum(v, axis=0))
    tl.store(bins + tl.arange(0, 64), tl.histogram(v & 63, 64))


# kernel, types of its parameters, compile-time constants, warps
KERNELS = [
    (blend, ["*u8", "*u8", "*u8", "i32", "i32"], {"BLOCK": 1024}, 4),
    (absdiff_sum, ["*u8", "*u8", "*i32", "i32"], {"BLOCK": 2048}, 4),
    (softmax, ["*fp32", "*fp32", "i32"], {"BLOCK": 1024}, 8),
    (matmul, ["*fp16", "*fp16", "*fp16", "i32", "i32", "i32"], {"M": 64, "N": 64, "K": 32}, 4),
    (quantise, ["*fp16", "*i8", "*fp32", "i32"], {"BLOCK": 512}, 2),
    (scan_and_histogram, ["*u8", "*i32", "*i32"], {"BLOCK": 512}, 4),
]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir()
    # Line information names files; not by the paths they have here, though.
    for function in vars(tl.standard).values():
        if isinstance(function, triton.JITFunction):
            function.file_name = "standard.py"
    for kernel, types, constants, warps in KERNELS:
        kernel.file_name = "kernels.py"
        names = kernel.arg_names
        signature = dict(zip(names, types)) | {name: "constexpr" for name in constants}
        aligned = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types) if t[0] == "*"}
        for target in sys.argv[2:]:
            source = ASTSource(kernel, signature, constexprs=constants, attrs=aligned)
            built = triton.compile(source, target=GPUTarget("cuda", int(target), 32), options={"num_warps": warps})
            (folder / f"{kernel.__name__}.sm_{target}.ptx").write_text(built.asm["ptx"])


if __name__ == "__main__":
    main()

"""Compiles a kernel on bytes ahead of time, for GPUs of both of Triton's assemblers, through `ptxopt-ptxas`."""

import os, ptxopt, triton
os.environ["PTXOPT_PTXAS"] = triton.__path__[0] + "/backends/nvidia/bin/ptxas-blackwell"
os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = ptxopt.ptxas()

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def brightest(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(a + i), tl.load(b + i)))


signature = {"a": "*u8", "b": "*u8", "out": "*u8", "BLOCK": "constexpr"}
aligned = {(k,): [["tt.divisibility", 16]] for k in range(3)}
for gpu in [80, 100]:
    source = ASTSource(brightest, signature, constexprs={"BLOCK": 512}, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", gpu, 32))
    assert made.asm["cubin"][:4] == b"\x7fELF"

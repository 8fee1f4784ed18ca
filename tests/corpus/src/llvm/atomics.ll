; Atomics, fences, warp intrinsics, special registers.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.atomic.load.inc.32.p0i32(i32*, i32)
declare float @llvm.nvvm.atomic.add.gen.f.sys.f32.p0f32(float*, float)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare {i32, i1} @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.membar.gl()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.barrier0.popc(i32)

define void @update(i32* %p, i32 addrspace(3)* %s, float* %f, double addrspace(1)* %d, i64* %q) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a = atomicrmw add i32* %p, i32 %lane seq_cst
  %b = atomicrmw umax i32 addrspace(3)* %s, i32 %a monotonic
  %c = atomicrmw fadd float* %f, float 1.5 monotonic
  %d0 = atomicrmw fadd double addrspace(1)* %d, double 2.0 monotonic
  %e = cmpxchg i64* %q, i64 1, i64 2 seq_cst seq_cst
  %e1 = extractvalue { i64, i1 } %e, 1
  %g = call i32 @llvm.nvvm.atomic.load.inc.32.p0i32(i32* %p, i32 99)
  %h = call float @llvm.nvvm.atomic.add.gen.f.sys.f32.p0f32(float* %f, float %c)
  call void @llvm.nvvm.membar.gl()
  %i = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %b, i32 4, i32 31)
  %j = call {i32, i1} @llvm.nvvm.shfl.sync.idx.i32p(i32 -1, i32 %i, i32 %lane, i32 6175)
  %k = extractvalue {i32, i1} %j, 0
  %l = extractvalue {i32, i1} %j, 1
  %m = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %l)
  %n = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %e1)
  call void @llvm.nvvm.bar.warp.sync(i32 65535)
  %o = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  store volatile i64 %o, i64* %q
  %r = call i32 @llvm.nvvm.barrier0.popc(i32 %n)
  %t = select i1 %m, i32 %k, i32 %r
  store i32 %t, i32* %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, i32 addrspace(3)*, float*, double addrspace(1)*, i64*)* @update, !"kernel", i32 1}

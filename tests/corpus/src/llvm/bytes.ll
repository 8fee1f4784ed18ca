; Byte work as an optimiser leaves it: vectors of bytes, saturation, abs.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare <4 x i8> @llvm.uadd.sat.v4i8(<4 x i8>, <4 x i8>)
declare <4 x i8> @llvm.ssub.sat.v4i8(<4 x i8>, <4 x i8>)
declare <4 x i8> @llvm.umin.v4i8(<4 x i8>, <4 x i8>)
declare i8 @llvm.abs.i8(i8, i1)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)

define internal i32 @index() alwaysinline {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %b, %n
  %i = add i32 %m, %t
  ret i32 %i
}

define void @saturating(<4 x i8> addrspace(1)* %a, <4 x i8> addrspace(1)* %b, <4 x i8> addrspace(1)* %d) {
  %i = call i32 @index()
  %pa = getelementptr <4 x i8>, <4 x i8> addrspace(1)* %a, i32 %i
  %pb = getelementptr <4 x i8>, <4 x i8> addrspace(1)* %b, i32 %i
  %pd = getelementptr <4 x i8>, <4 x i8> addrspace(1)* %d, i32 %i
  %x = load <4 x i8>, <4 x i8> addrspace(1)* %pa, align 4
  %y = load <4 x i8>, <4 x i8> addrspace(1)* %pb, align 4
  %s = call <4 x i8> @llvm.uadd.sat.v4i8(<4 x i8> %x, <4 x i8> %y)
  %u = call <4 x i8> @llvm.ssub.sat.v4i8(<4 x i8> %s, <4 x i8> <i8 1, i8 -2, i8 3, i8 127>)
  %v = call <4 x i8> @llvm.umin.v4i8(<4 x i8> %u, <4 x i8> %y)
  store <4 x i8> %v, <4 x i8> addrspace(1)* %pd, align 4
  ret void
}

define void @absolute(i8* %a, i8* %b, i8* %d, i8 signext %bias) {
  %i = call i32 @index()
  %w = sext i32 %i to i64
  %pa = getelementptr i8, i8* %a, i64 %w
  %pb = getelementptr i8, i8* %b, i64 %w
  %pd = getelementptr i8, i8* %d, i64 %w
  %x = load i8, i8* %pa
  %y = load i8, i8* %pb
  %s = sub i8 %x, %y
  %t = call i8 @llvm.abs.i8(i8 %s, i1 false)
  %u = add i8 %t, %bias
  %c = icmp ult i8 %u, 100
  %r = select i1 %c, i8 %u, i8 -1
  store i8 %r, i8* %pd
  ret void
}

define void @words(i32* %a, i32* %d) {
  %i = call i32 @index()
  %pa = getelementptr i32, i32* %a, i32 %i
  %x = load i32, i32* %pa
  %r = call i32 @llvm.fshl.i32(i32 %x, i32 %x, i32 8)
  %c = call i32 @llvm.ctpop.i32(i32 %r)
  %p = call i32 @llvm.nvvm.prmt(i32 %x, i32 %r, i32 9029)
  %lo = and i32 %p, 16711935
  %hi = lshr i32 %p, 8
  %h = and i32 %hi, 16711935
  %s = add i32 %lo, %h
  %z = xor i32 %s, %c
  %pd = getelementptr i32, i32* %d, i32 %i
  store i32 %z, i32* %pd
  ret void
}

!nvvm.annotations = !{!0, !1, !2, !3}
!0 = !{void (<4 x i8> addrspace(1)*, <4 x i8> addrspace(1)*, <4 x i8> addrspace(1)*)* @saturating, !"kernel", i32 1}
!1 = !{void (i8*, i8*, i8*, i8)* @absolute, !"kernel", i32 1}
!2 = !{void (i32*, i32*)* @words, !"kernel", i32 1}
!3 = !{void (i32*, i32*)* @words, !"maxntidx", i32 256, !"minctasm", i32 2}

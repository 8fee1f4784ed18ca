; Vectors of other widths, odd integer widths, floating point.
target triple = "nvptx64-nvidia-cuda"

declare double @llvm.fma.f64(double, double, double)
declare float @llvm.sqrt.f32(float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.maxnum.f32(float, float)
declare i64 @llvm.bitreverse.i64(i64)

define void @halves(<8 x i16>* %p, <2 x half>* %h, half %k) {
  %v = load <8 x i16>, <8 x i16>* %p, align 16
  %s = shufflevector <8 x i16> %v, <8 x i16> undef, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %m = mul <8 x i16> %v, %s
  %t = ashr <8 x i16> %m, <i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8>
  store <8 x i16> %t, <8 x i16>* %p, align 16
  %x = load <2 x half>, <2 x half>* %h
  %y = fadd <2 x half> %x, %x
  %z = insertelement <2 x half> %y, half %k, i32 1
  store <2 x half> %z, <2 x half>* %h
  ret void
}

define void @floats(<4 x float>* %p, <2 x double>* %q, float %k) {
  %v = load <4 x float>, <4 x float>* %p
  %a = extractelement <4 x float> %v, i32 0
  %b = extractelement <4 x float> %v, i32 3
  %r = call float @llvm.sqrt.f32(float %a)
  %s = call float @llvm.nvvm.rsqrt.approx.f(float %b)
  %m = call float @llvm.maxnum.f32(float %r, float %s)
  %d = fdiv float %m, 0x40091EB860000000
  %c = fcmp ueq float %d, %k
  %e = select i1 %c, float 0x7FF0000000000000, float %d
  %w = insertelement <4 x float> %v, float %e, i32 2
  store <4 x float> %w, <4 x float>* %p
  %dv = load <2 x double>, <2 x double>* %q
  %d0 = extractelement <2 x double> %dv, i32 0
  %d1 = extractelement <2 x double> %dv, i32 1
  %f = call double @llvm.fma.f64(double %d0, double %d1, double -1.0e-3)
  %dw = insertelement <2 x double> %dv, double %f, i32 0
  store <2 x double> %dw, <2 x double>* %q
  ret void
}

define void @integers(i24* %p, i128* %q, i1* %r, i64* %s) {
  %a = load i24, i24* %p
  %b = mul i24 %a, 77777
  store i24 %b, i24* %p
  %c = load i128, i128* %q
  %d = add i128 %c, 85070591730234615865843651857942052864
  %e = lshr i128 %d, 65
  store i128 %e, i128* %q
  %f = load i1, i1* %r
  %g = xor i1 %f, true
  store i1 %g, i1* %r
  %h = load i64, i64* %s
  %i = call i64 @llvm.bitreverse.i64(i64 %h)
  %j = urem i64 %i, 1000003
  %k = uitofp i64 %j to float
  %l = fptosi float %k to i16
  %m = sext i16 %l to i64
  store i64 %m, i64* %s
  ret void
}

!nvvm.annotations = !{!0, !1, !2}
!0 = !{void (<8 x i16>*, <2 x half>*, half)* @halves, !"kernel", i32 1}
!1 = !{void (<4 x float>*, <2 x double>*, float)* @floats, !"kernel", i32 1}
!2 = !{void (i24*, i128*, i1*, i64*)* @integers, !"kernel", i32 1}

; Loops, switches, calls: by value, through pointers, to what does not return.
target triple = "nvptx64-nvidia-cuda"

%pair = type { i8, [3 x i16], double }

declare void @llvm.nvvm.barrier0()
declare void @llvm.trap()
declare i32 @outside(i32, %pair* byval(%pair) align 8)

define linkonce_odr i32 @once(i32 %x) noinline {
  %y = mul nsw i32 %x, %x
  ret i32 %y
}

define weak %pair @make(i8 %a, double %d) noinline {
  %x = insertvalue %pair undef, i8 %a, 0
  %y = insertvalue %pair %x, i16 -5, 1, 1
  %z = insertvalue %pair %y, double %d, 2
  ret %pair %z
}

define void @dispatch(i32* %p, i32 %n, i32 (i32)* %f) {
entry:
  %buf = alloca [16 x i32], align 4
  %pr = alloca %pair, align 8
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %at = getelementptr i32, i32* %p, i32 %i
  %v = load i32, i32* %at
  %slot = getelementptr [16 x i32], [16 x i32]* %buf, i32 0, i32 %v
  store volatile i32 %i, i32* %slot
  switch i32 %v, label %other [ i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 7, label %c
    i32 1000, label %a
    i32 -1, label %bad ]
a:
  %ra = call i32 @once(i32 %v)
  br label %latch
b:
  %rb = call i32 %f(i32 %i)
  br label %latch
c:
  %st = call %pair @make(i8 3, double 2.5)
  store %pair %st, %pair* %pr
  %rc = call i32 @outside(i32 %v, %pair* byval(%pair) align 8 %pr)
  br label %latch
other:
  call void @llvm.nvvm.barrier0()
  %ro = load volatile i32, i32* %slot
  br label %latch
bad:
  call void @llvm.trap()
  unreachable
latch:
  %r = phi i32 [ %ra, %a ], [ %rb, %b ], [ %rc, %c ], [ %ro, %other ]
  store i32 %r, i32* %at
  %next = add i32 %i, 1
  %done = icmp sge i32 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

define i32 @indirect(i32 %k) {
  %t = icmp eq i32 %k, 0
  br i1 %t, label %z, label %nz
z:
  ret i32 1
nz:
  %m = sub i32 %k, 1
  %r = call i32 @indirect(i32 %m)
  %s = mul i32 %r, %k
  ret i32 %s
}

define void @asm(i32* %p, i64 %wide) {
  %x = load i32, i32* %p
  %r = call i32 asm "vadd4.u32.u32.u32.sat $0, $1, $2, $3;", "=r,r,r,r"(i32 %x, i32 7, i32 0)
  %q = call { i32, i32 } asm sideeffect "{ .reg .b32 %t<2>; mov.b64 {%t0,%t1}, $2; add.u32 $0, %t0, 1; mov.b32 $1, %t1; }", "=r,=r,l,~{memory}"(i64 %wide)
  %a = extractvalue { i32, i32 } %q, 0
  %s = add i32 %r, %a
  store i32 %s, i32* %p
  ret void
}

!nvvm.annotations = !{!0, !1}
!0 = !{void (i32*, i32, i32 (i32)*)* @dispatch, !"kernel", i32 1}
!1 = !{void (i32*, i64)* @asm, !"kernel", i32 1}

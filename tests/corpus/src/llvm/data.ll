; Data in every state space, with initialisers that name other data.
target triple = "nvptx64-nvidia-cuda"

%node = type { i32, %node addrspace(1)*, [3 x i8] }
@first = addrspace(1) global %node { i32 1, %node addrspace(1)* @second, [3 x i8] c"abc" }, align 8
@second = addrspace(1) global %node { i32 -2, %node addrspace(1)* null, [3 x i8] zeroinitializer }, align 8
@text = private unnamed_addr addrspace(1) constant [14 x i8] c"byte \22quoted\22\00", align 1
@floats = addrspace(4) constant [4 x float] [float 1.0, float -0.0, float 0x7FF8000000000000, float 0x3810000000000000]
@doubles = addrspace(1) constant [2 x double] [double 0x7FF0000000000000, double 4.9e-324]
@tile = internal addrspace(3) global [64 x i16] undef, align 16
@dynamic = external addrspace(3) global [0 x i8], align 16
@outside = external addrspace(1) global i64
@common = common addrspace(1) global i32 0, align 4
@weakling = weak addrspace(1) global i8 200
@functions = addrspace(1) global [2 x i32 (i32)*] [i32 (i32)* @twice, i32 (i32)* @thrice]
@past = addrspace(1) global i8 addrspace(1)* getelementptr (i8, i8 addrspace(1)* bitcast (%node addrspace(1)* @first to i8 addrspace(1)*), i64 17)
@generic = addrspace(1) global i32* addrspacecast (i32 addrspace(1)* @common to i32*)
@weird$name$1 = addrspace(1) global i16 3

define i32 @twice(i32 %x) { %y = shl i32 %x, 1
  ret i32 %y }
define i32 @thrice(i32 %x) { %y = mul i32 %x, 3
  ret i32 %y }

define void @walk(i32* %out, float* %f, i32 %i) {
  %n = load %node addrspace(1)*, %node addrspace(1)* addrspace(1)* getelementptr (%node, %node addrspace(1)* @first, i32 0, i32 1)
  %v = getelementptr %node, %node addrspace(1)* %n, i32 0, i32 0
  %x = load i32, i32 addrspace(1)* %v
  %pf = getelementptr [4 x float], [4 x float] addrspace(4)* @floats, i32 0, i32 %i
  %c = load float, float addrspace(4)* %pf
  store float %c, float* %f
  %pt = getelementptr [64 x i16], [64 x i16] addrspace(3)* @tile, i32 0, i32 %i
  %s = load i16, i16 addrspace(3)* %pt
  %pd = getelementptr [0 x i8], [0 x i8] addrspace(3)* @dynamic, i32 0, i32 %i
  store i8 7, i8 addrspace(3)* %pd
  %ph = getelementptr [14 x i8], [14 x i8] addrspace(1)* @text, i32 0, i32 %i
  %ch = load i8, i8 addrspace(1)* %ph
  %fp = load i32 (i32)*, i32 (i32)* addrspace(1)* getelementptr ([2 x i32 (i32)*], [2 x i32 (i32)*] addrspace(1)* @functions, i32 0, i32 1)
  %called = call i32 %fp(i32 %x)
  %ws = zext i16 %s to i32
  %wc = sext i8 %ch to i32
  %a = add i32 %called, %ws
  %b = add i32 %a, %wc
  store i32 %b, i32* %out
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, float*, i32)* @walk, !"kernel", i32 1}

; Line and type information as LLVM writes it.
target triple = "nvptx64-nvidia-cuda"

define void @scale(i8* %p, i32 %k) !dbg !5 {
entry:
  call void @llvm.dbg.value(metadata i32 %k, metadata !10, metadata !DIExpression()), !dbg !12
  %v = load i8, i8* %p, !dbg !13
  %w = zext i8 %v to i32, !dbg !13
  %m = mul i32 %w, %k, !dbg !14
  %s = lshr i32 %m, 8, !dbg !14
  %t = trunc i32 %s to i8, !dbg !15
  store i8 %t, i8* %p, !dbg !15
  ret void, !dbg !16
}
declare void @llvm.dbg.value(metadata, metadata, metadata)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1, !2}
!nvvm.annotations = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !4, producer: "by hand", isOptimized: true, emissionKind: FullDebug)
!1 = !{i32 2, !"Dwarf Version", i32 2}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{void (i8*, i32)* @scale, !"kernel", i32 1}
!4 = !DIFile(filename: "scale.c", directory: "")
!5 = distinct !DISubprogram(name: "scale", scope: !4, file: !4, line: 3, type: !6, scopeLine: 3, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !9)
!6 = !DISubroutineType(types: !7)
!7 = !{null, null, !8}
!8 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!9 = !{!10}
!10 = !DILocalVariable(name: "k", arg: 2, scope: !5, file: !4, line: 3, type: !8)
!12 = !DILocation(line: 3, column: 30, scope: !5)
!13 = !DILocation(line: 4, column: 10, scope: !5)
!14 = !DILocation(line: 4, column: 14, scope: !5)
!15 = !DILocation(line: 4, column: 8, scope: !5)
!16 = !DILocation(line: 5, column: 1, scope: !5)

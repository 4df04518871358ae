// Kernel ops through their generator, in both row classes, beside their meaning
// in double, at odd sizes.
// RUN: %mille-emulate %s --function=gelu --rows=1,63,129 --seeds=2 | FileCheck %s --check-prefix=GELU
// GELU: kernel.matmul, few rows
// GELU-NEXT: 1 rows: passed with 2 seed(s)
// GELU-NEXT: 63 rows: passed with 2 seed(s)
// GELU-NEXT: 129 rows: passed with 2 seed(s)
// GELU-NEXT: kernel.matmul, {{.*}}
// GELU-NEXT: 1 rows: passed with 2 seed(s)
// GELU-NEXT: 63 rows: passed with 2 seed(s)
// GELU-NEXT: 129 rows: passed with 2 seed(s)
// RUN: %mille-emulate %s --function=skip --rows=65 --seeds=2 | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-2: 65 rows: passed with 2 seed(s)
// RUN: %mille-emulate %s --function=swiglu --rows=65 --seeds=2 | FileCheck %s --check-prefix=SKIP
// Each guard left out, with several tiles to a block; where the ring of few rows wraps.
// RUN: %mille-emulate %s --function=skip --class=many --rows=513 --units=1 --seeds=1 --break=all | FileCheck %s --check-prefix=BREAK
// BREAK-NOT: NOT
// BREAK: {{^([0-9]+) of [0-9]+ guards matter}}
// Of few rows the paths of fewer are not reached.
// RUN: %mille-emulate %s --function=deep --class=few --rows=33 --seeds=1 --break=all > %t.few || true
// RUN: FileCheck %s --check-prefix=FEW < %t.few
// FEW-NOT: NOT CAUGHT
// FEW: without release:{{[0-9]}} (nvvm.mbarrier.arrive): caught
// FEW-NOT: NOT CAUGHT
// FEW: {{^([0-9]+) of [0-9]+ guards matter}}

func.func @gelu(%x: memref<?x200xbf16, strided<[200, 1]>>, %w: memref<136x200xbf16>,
    %b: memref<136xf32>, %o: memref<?x136xbf16, strided<[136, 1]>>) {
  kernel.matmul %x, %w extras(%b : memref<136xf32>) outs(%o : memref<?x136xbf16, strided<[136, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678118654752 : f32
    %s = arith.addf %a, %bias : f32
    %z = arith.mulf %s, %root : f32
    %e = math.erf %z : f32
    %p = arith.addf %e, %one : f32
    %h = arith.mulf %s, %half : f32
    %y = arith.mulf %h, %p : f32
    kernel.yield %y : f32
  } : memref<?x200xbf16, strided<[200, 1]>>, memref<136x200xbf16>
  return
}

func.func @skip(%x: memref<?x72xbf16>, %w: memref<264x72xbf16>, %r: memref<?x264xbf16>,
    %o: memref<?x264xbf16>) {
  kernel.matmul %x, %w extras(%r : memref<?x264xbf16>) outs(%o : memref<?x264xbf16>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %alpha = arith.constant 1.75 : f32
    %t = arith.mulf %skip, %alpha : f32
    %y = arith.addf %a, %t : f32
    kernel.yield %y : f32
  } : memref<?x72xbf16>, memref<264x72xbf16>
  return
}

func.func @swiglu(%x: memref<?x72xbf16>, %w: memref<272x72xbf16>, %o: memref<?x136xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x136xbf16>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %gate : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %gate, %d : f32
    %y = arith.mulf %s, %up : f32
    kernel.yield %y : f32
  } : memref<?x72xbf16>, memref<272x72xbf16>
  return
}

// Every ring wraps: each guard matters (tools/check-emulate.sh leaves them out).
func.func @deep(%x: memref<?x12288xbf16>, %w: memref<72x12288xbf16>, %r: memref<?x72xbf16>,
    %o: memref<?x72xbf16>) {
  kernel.matmul %x, %w extras(%r : memref<?x72xbf16>) outs(%o : memref<?x72xbf16>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %y = arith.addf %a, %skip : f32
    kernel.yield %y : f32
  } : memref<?x12288xbf16>, memref<72x12288xbf16>
  return
}

// RUN: not %mille-emulate %s --function=packed 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: kernel-ops.mlir:{{[0-9]+}}:3: error: no Hopper kernel: {{.+}}
func.func @packed(%x: memref<?x64xf32>, %w: memref<1x64x64xf32>, %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x64xf32>, memref<1x64x64xf32>
  return
}

// Sequences of another length than the rows say.
// RUN: not %mille-emulate %s --function=swiglu --rows=65 --sequences=2 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: kernel-ops.mlir:{{[0-9]+}}:3: error: rows is 65 but sequences is 2
// RUN: not %mille-emulate %s --function=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: kernel-ops.mlir: no kernel

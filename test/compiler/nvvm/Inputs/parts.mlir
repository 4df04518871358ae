// Matmuls of f32 with odd sizes: rows that are apart, a residual that comes by
// TMA, two accumulators, an out without a tensor map.
func.func @skip(%x: memref<?x204xf32, strided<[208, 1]>>,
                %w: memref<264x204xf32>, %b: memref<264xf32>,
                %r: memref<?x264xf32, strided<[272, 1]>>,
                %o: memref<?x264xf32, strided<[272, 1]>>) {
  kernel.matmul %x, %w
      extras(%b, %r : memref<264xf32>, memref<?x264xf32, strided<[272, 1]>>)
      outs(%o : memref<?x264xf32, strided<[272, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32, %skip: f32):
    %c = arith.constant 1.75 : f32
    %s = arith.addf %a, %bias : f32
    %q = arith.mulf %skip, %c : f32
    %t = arith.addf %s, %q : f32
    kernel.yield %t : f32
  } : memref<?x204xf32, strided<[208, 1]>>, memref<264x204xf32>
  return
}
func.func @gate(%x: memref<?x72xf32>, %w: memref<400x72xf32>,
                %r: memref<?x1xf32>, %e: memref<?x200xf32>,
                %o: memref<?x200xbf16>) {
  kernel.matmul %x, %w extras(%r, %e : memref<?x1xf32>, memref<?x200xf32>)
      outs(%o : memref<?x200xbf16>) accumulators 2 {
  ^bb0(%a: f32, %c: f32, %row: f32, %el: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %a : f32
    %e1 = math.exp %n : f32
    %d = arith.addf %e1, %one : f32
    %s = arith.divf %a, %d : f32
    %t = arith.mulf %s, %c : f32
    %u = arith.mulf %t, %row : f32
    %v = arith.addf %u, %el : f32
    kernel.yield %v : f32
  } : memref<?x72xf32>, memref<400x72xf32>
  return
}
func.func @unaligned(%x: memref<?x64xf32>, %w: memref<77x64xf32>,
                     %b: memref<77xf32>, %o: memref<?x77xf32>) {
  kernel.matmul %x, %w extras(%b : memref<77xf32>) outs(%o : memref<?x77xf32>)
      accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %h = arith.constant 0.5 : f32
    %q = arith.constant -0.70710678118 : f32
    %s = arith.addf %a, %bias : f32
    %u = arith.mulf %s, %q : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %s, %h : f32
    %t = arith.mulf %v, %e : f32
    kernel.yield %t : f32
  } : memref<?x64xf32>, memref<77x64xf32>
  return
}
func.func @long(%x: memref<?x516xf32>, %w: memref<128x516xf32>,
                %o: memref<?x128xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x128xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x516xf32>, memref<128x516xf32>
  return
}

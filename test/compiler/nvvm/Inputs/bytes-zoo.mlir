// The matmuls of BERT and of a Llama in int8.
func.func @up(%x: memref<?x768xui8>, %w: memref<3072x768xi8>,
              %p: memref<?x4xf32>, %s: memref<3072x1xi32>,
              %c: memref<3072xf32>, %b: memref<3072xf32>,
              %o: memref<?x3072xbf16>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<3072x1xi32>
      extras(%c, %b : memref<3072xf32>, memref<3072xf32>)
      outs(%o : memref<?x3072xbf16>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32):
    %half = arith.constant 0.5 : f32
    %q = arith.constant -0.70710678118 : f32
    %t = math.fma %a, %scale, %bias : f32
    %u = arith.mulf %t, %q : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %t, %half : f32
    %y = arith.mulf %v, %e : f32
    kernel.yield %y : f32
  } : memref<?x768xui8>, memref<3072x768xi8>
  return
}
func.func @down(%x: memref<?x3072xui8>, %w: memref<768x3072xi8>,
                %p: memref<?x4xf32>, %s: memref<768x1xi32>,
                %c: memref<768xf32>, %b: memref<768xf32>,
                %r: memref<?x768xf32>, %o: memref<?x768xf32>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<768x1xi32>
      extras(%c, %b, %r : memref<768xf32>, memref<768xf32>, memref<?x768xf32>)
      outs(%o : memref<?x768xf32>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32, %skip: f32):
    %t = math.fma %a, %scale, %bias : f32
    %y = arith.addf %t, %skip : f32
    kernel.yield %y : f32
  } : memref<?x3072xui8>, memref<768x3072xi8>
  return
}
func.func @gated(%x: memref<?x2048xui8>, %w: memref<16384x2048xi8>,
                 %p: memref<?x4xf32>, %s: memref<16384x1xi32>,
                 %c: memref<8192xf32>, %d: memref<8192xf32>,
                 %o: memref<?x8192xbf16>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<16384x1xi32>
      extras(%c, %d : memref<8192xf32>, memref<8192xf32>)
      outs(%o : memref<?x8192xbf16>) accumulators 2 {
  ^bb0(%a: f32, %up: f32, %c0: f32, %c1: f32):
    %one = arith.constant 1.0 : f32
    %g = arith.mulf %a, %c0 : f32
    %u = arith.mulf %up, %c1 : f32
    %n = arith.negf %g : f32
    %e = math.exp %n : f32
    %q = arith.addf %e, %one : f32
    %v = arith.divf %g, %q : f32
    %y = arith.mulf %v, %u : f32
    kernel.yield %y : f32
  } : memref<?x2048xui8>, memref<16384x2048xi8>
  return
}

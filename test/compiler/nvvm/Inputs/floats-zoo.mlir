// The matmuls of BERT and of a Llama in fp8.
func.func @up(%x: memref<?x768xf8E4M3FN>, %w: memref<3072x768xf8E4M3FN>,
              %p: memref<?x1xf32>,
              %c: memref<3072xf32>, %b: memref<3072xf32>,
              %o: memref<?x3072xbf16>) {
  kernel.matmul %x, %w
      extras(%c, %b, %p : memref<3072xf32>, memref<3072xf32>, memref<?x1xf32>)
      outs(%o : memref<?x3072xbf16>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %half = arith.constant 0.5 : f32
    %q = arith.constant -0.70710678118 : f32
    %t = math.fma %s, %scale, %bias : f32
    %u = arith.mulf %t, %q : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %t, %half : f32
    %y = arith.mulf %v, %e : f32
    kernel.yield %y : f32
  } : memref<?x768xf8E4M3FN>, memref<3072x768xf8E4M3FN>
  return
}
func.func @down(%x: memref<?x3072xf8E4M3FN>, %w: memref<768x3072xf8E4M3FN>,
                %p: memref<?x1xf32>,
                %c: memref<768xf32>, %b: memref<768xf32>,
                %r: memref<?x768xf32>, %o: memref<?x768xf32>) {
  kernel.matmul %x, %w
      extras(%c, %b, %r, %p : memref<768xf32>, memref<768xf32>, memref<?x768xf32>, memref<?x1xf32>)
      outs(%o : memref<?x768xf32>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32, %skip: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %t = math.fma %s, %scale, %bias : f32
    %y = arith.addf %t, %skip : f32
    kernel.yield %y : f32
  } : memref<?x3072xf8E4M3FN>, memref<768x3072xf8E4M3FN>
  return
}
func.func @gated(%x: memref<?x2048xf8E4M3FN>, %w: memref<16384x2048xf8E4M3FN>,
                 %p: memref<?x1xf32>,
                 %c: memref<8192xf32>, %d: memref<8192xf32>,
                 %o: memref<?x8192xbf16>) {
  kernel.matmul %x, %w
      extras(%c, %d, %p : memref<8192xf32>, memref<8192xf32>, memref<?x1xf32>)
      outs(%o : memref<?x8192xbf16>) accumulators 2 {
  ^bb0(%a: f32, %up: f32, %c0: f32, %c1: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %t = arith.mulf %up, %row : f32
    %one = arith.constant 1.0 : f32
    %g = arith.mulf %s, %c0 : f32
    %u = arith.mulf %t, %c1 : f32
    %n = arith.negf %g : f32
    %e = math.exp %n : f32
    %q = arith.addf %e, %one : f32
    %v = arith.divf %g, %q : f32
    %y = arith.mulf %v, %u : f32
    kernel.yield %y : f32
  } : memref<?x2048xf8E4M3FN>, memref<16384x2048xf8E4M3FN>
  return
}

// The matmuls of BERT, of a Llama, and of a large vocabulary.
func.func @up(%x: memref<?x768xbf16>, %w: memref<3072x768xbf16>,
              %b: memref<3072xf32>, %o: memref<?x3072xbf16>) {
  kernel.matmul %x, %w extras(%b : memref<3072xf32>)
      outs(%o : memref<?x3072xbf16>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %half = arith.constant 0.5 : f32
    %c = arith.constant -0.70710678118 : f32
    %s = arith.addf %a, %bias : f32
    %u = arith.mulf %s, %c : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %s, %half : f32
    %y = arith.mulf %v, %e : f32
    kernel.yield %y : f32
  } : memref<?x768xbf16>, memref<3072x768xbf16>
  return
}
func.func @down(%x: memref<?x3072xbf16>, %w: memref<768x3072xbf16>,
                %b: memref<768xf32>, %r: memref<?x768xf32>,
                %f: memref<?x1xf32>, %o: memref<?x768xf32>) {
  kernel.matmul %x, %w
      extras(%b, %r, %f : memref<768xf32>, memref<?x768xf32>, memref<?x1xf32>)
      outs(%o : memref<?x768xf32>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32, %skip: f32, %factor: f32):
    %m = arith.mulf %a, %factor : f32
    %s = arith.addf %m, %bias : f32
    %y = arith.addf %s, %skip : f32
    kernel.yield %y : f32
  } : memref<?x3072xbf16>, memref<768x3072xbf16>
  return
}
func.func @gated(%x: memref<?x2048xbf16>, %w: memref<16384x2048xbf16>,
                 %o: memref<?x8192xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x8192xbf16>) accumulators 2 {
  ^bb0(%a: f32, %up: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %a, %d : f32
    %y = arith.mulf %s, %up : f32
    kernel.yield %y : f32
  } : memref<?x2048xbf16>, memref<16384x2048xbf16>
  return
}
func.func @logits(%x: memref<?x768xbf16>, %w: memref<50257x768xbf16>,
                  %o: memref<?x50257xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x50257xf32>) accumulators 1 {
  ^bb0(%a: f32):
    %c = arith.constant 0.0333 : f32
    %d = arith.constant 30.0 : f32
    %u = arith.mulf %a, %c : f32
    %t = math.tanh %u : f32
    %y = arith.mulf %t, %d : f32
    kernel.yield %y : f32
  } : memref<?x768xbf16>, memref<50257x768xbf16>
  return
}

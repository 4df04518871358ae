// GELU and its derivative, as the compiler writes them, also of numbers that are
// infinite in f32 but not in double. Of GELU the negative ones alone.
func.func @gelu(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%out : memref<?x64xf32>) gather [-1, -1] {
  ^bb0(%u: f32, %v: f32):
    %zero = arith.constant 0.0 : f32
    %large = arith.constant -1.0e+38 : f32
    %size = math.absf %u : f32
    %0 = arith.mulf %size, %large : f32
    %more = arith.constant 1.0e+38 : f32
    %3 = arith.mulf %0, %more : f32
    %near = arith.cmpf ogt, %v, %zero : f32
    %a = arith.select %near, %u, %3 : f32
    %h = arith.constant 0.5 : f32
    %c = arith.constant -0.70710678118654757 : f32
    %p = arith.mulf %h, %a : f32
    %t = arith.mulf %c, %a : f32
    %e = math.erfc %t : f32
    %r = arith.mulf %p, %e : f32
    kernel.yield %r : f32
  }
  return
}
func.func @slope(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%out : memref<?x64xf32>) gather [-1, -1] {
  ^bb0(%u: f32, %v: f32):
    %zero = arith.constant 0.0 : f32
    %large = arith.constant 1.0e+38 : f32
    %0 = arith.mulf %u, %large : f32
    %1 = arith.mulf %0, %large : f32
    %near = arith.cmpf ogt, %v, %zero : f32
    %a = arith.select %near, %u, %1 : f32
    %h = arith.constant 0.5 : f32
    %c = arith.constant -0.70710678118654757 : f32
    %p = arith.mulf %h, %a : f32
    %t = arith.mulf %c, %a : f32
    %e = math.erfc %t : f32
    %s = arith.mulf %t, %t : f32
    %m = arith.constant -1.0 : f32
    %n = arith.mulf %m, %s : f32
    %b = math.exp %n : f32
    %d = arith.mulf %b, %c : f32
    %k = arith.constant -1.1283791670955126 : f32
    %f = arith.mulf %k, %d : f32
    %q = arith.mulf %h, %e : f32
    %w = arith.mulf %p, %f : f32
    %r = arith.addf %q, %w : f32
    kernel.yield %r : f32
  }
  return
}
// Its last product is no factor of a sum's: GELU is computed as a whole.
func.func @added(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%out : memref<?x64xf32>) gather [-1, -1] {
  ^bb0(%a: f32, %v: f32):
    %h = arith.constant 0.5 : f32
    %c = arith.constant -0.70710678118654757 : f32
    %p = arith.mulf %h, %a : f32
    %t = arith.mulf %c, %a : f32
    %e = math.erfc %t : f32
    %g = arith.mulf %p, %e : f32
    %r = arith.addf %g, %v : f32
    kernel.yield %r : f32
  }
  return
}

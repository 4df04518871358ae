// Matmuls of experts: rows sorted by expert, biases by expert, two
// accumulators, rows that a router weighs.
func.func @biased(%x: memref<?x136xbf16, strided<[160, 1]>>,
                  %w: memref<5x328x136xbf16>, %s: memref<6xi32>,
                  %b: memref<5x328xf32>, %f: memref<?x1xf32>,
                  %o: memref<?x328xf32, strided<[336, 1]>>) {
  kernel.matmul %x, %w starts %s : memref<6xi32>
      extras(%b, %f : memref<5x328xf32>, memref<?x1xf32>)
      outs(%o : memref<?x328xf32, strided<[336, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32, %factor: f32):
    %t = arith.addf %a, %bias : f32
    %u = arith.mulf %t, %factor : f32
    kernel.yield %u : f32
  } : memref<?x136xbf16, strided<[160, 1]>>, memref<5x328x136xbf16>
  return
}
func.func @gated(%x: memref<?x200xbf16>, %w: memref<8x400x200xbf16>,
                 %s: memref<9xi32>, %o: memref<?x200xbf16>) {
  kernel.matmul %x, %w starts %s : memref<9xi32>
      outs(%o : memref<?x200xbf16>) accumulators 2 {
  ^bb0(%a: f32, %up: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %v = arith.divf %a, %d : f32
    %y = arith.mulf %v, %up : f32
    kernel.yield %y : f32
  } : memref<?x200xbf16>, memref<8x400x200xbf16>
  return
}
func.func @of_f32(%x: memref<?x136xf32, strided<[144, 1]>>,
                  %w: memref<5x328x136xf32>, %s: memref<6xi32>,
                  %b: memref<5x328xf32>,
                  %o: memref<?x328xf32, strided<[336, 1]>>) {
  kernel.matmul %x, %w starts %s : memref<6xi32>
      extras(%b : memref<5x328xf32>)
      outs(%o : memref<?x328xf32, strided<[336, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %t = arith.addf %a, %bias : f32
    kernel.yield %t : f32
  } : memref<?x136xf32, strided<[144, 1]>>, memref<5x328x136xf32>
  return
}

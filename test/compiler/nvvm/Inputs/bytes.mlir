// Matmuls of bytes with odd sizes: rows and their parameters that are apart,
// columns that fill no tile, extras of all kinds, two accumulators, experts.
func.func @bias(%x: memref<?x144xui8, strided<[192, 1]>>, %w: memref<328x144xi8>,
                %p: memref<?x4xf32, strided<[16, 1]>>, %s: memref<328x1xi32>,
                %c: memref<328xf32>, %b: memref<328xf32>,
                %o: memref<?x328xbf16, strided<[352, 1]>>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32, strided<[16, 1]>>
      sums %s : memref<328x1xi32>
      extras(%c, %b : memref<328xf32>, memref<328xf32>)
      outs(%o : memref<?x328xbf16, strided<[352, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32):
    %y = math.fma %a, %scale, %bias : f32
    kernel.yield %y : f32
  } : memref<?x144xui8, strided<[192, 1]>>, memref<328x144xi8>
  return
}
func.func @skip(%x: memref<?x272xui8>, %w: memref<264x272xi8>,
                %p: memref<?x4xf32>, %s: memref<264x1xi32>,
                %r: memref<?x264xf32, strided<[272, 1]>>,
                %o: memref<?x264xf32, strided<[272, 1]>>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<264x1xi32>
      extras(%r : memref<?x264xf32, strided<[272, 1]>>)
      outs(%o : memref<?x264xf32, strided<[272, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %y = arith.addf %a, %skip : f32
    kernel.yield %y : f32
  } : memref<?x272xui8>, memref<264x272xi8>
  return
}
func.func @gate(%x: memref<?x80xui8>, %w: memref<400x80xi8>,
                %p: memref<?x4xf32>, %s: memref<400x1xi32>,
                %c: memref<200xf32>, %d: memref<200xf32>,
                %o: memref<?x200xbf16>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<400x1xi32>
      extras(%c, %d : memref<200xf32>, memref<200xf32>)
      outs(%o : memref<?x200xbf16>) accumulators 2 {
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
  } : memref<?x80xui8>, memref<400x80xi8>
  return
}
func.func @deep(%x: memref<?x1024xui8>, %w: memref<72x1024xi8>,
                %p: memref<?x4xf32>, %s: memref<72x1xi32>,
                %c: memref<72xf32>, %o: memref<?x72xf32>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<72x1xi32>
      extras(%c : memref<72xf32>) outs(%o : memref<?x72xf32>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32):
    %y = arith.mulf %a, %scale : f32
    kernel.yield %y : f32
  } : memref<?x1024xui8>, memref<72x1024xi8>
  return
}
func.func @experts(%x: memref<?x144xui8>, %w: memref<5x328x144xi8>,
                   %p: memref<?x4xf32>, %s: memref<5x328x1xi32>,
                   %starts: memref<6xi32>, %c: memref<5x328xf32>,
                   %o: memref<?x328xf32, strided<[336, 1]>>) {
  kernel.matmul %x, %w parameters %p : memref<?x4xf32>
      sums %s : memref<5x328x1xi32> starts %starts : memref<6xi32>
      extras(%c : memref<5x328xf32>)
      outs(%o : memref<?x328xf32, strided<[336, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32):
    %y = arith.mulf %a, %scale : f32
    kernel.yield %y : f32
  } : memref<?x144xui8>, memref<5x328x144xi8>
  return
}

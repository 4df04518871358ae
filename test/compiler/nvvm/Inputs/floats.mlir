// Matmuls of floats of 8 bits with odd sizes: rows and their scales that are
// apart, columns that fill no tile, K that fills no step, two accumulators,
// experts.
func.func @bias(%x: memref<?x144xf8E4M3FN, strided<[192, 1]>>, %w: memref<328x144xf8E4M3FN>,
                %c: memref<328xf32>, %b: memref<328xf32>, %p: memref<?x1xf32, strided<[16, 1]>>,
                %o: memref<?x328xbf16, strided<[352, 1]>>) {
  kernel.matmul %x, %w
      extras(%c, %b, %p : memref<328xf32>, memref<328xf32>, memref<?x1xf32, strided<[16, 1]>>)
      outs(%o : memref<?x328xbf16, strided<[352, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %bias: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %y = math.fma %s, %scale, %bias : f32
    kernel.yield %y : f32
  } : memref<?x144xf8E4M3FN, strided<[192, 1]>>, memref<328x144xf8E4M3FN>
  return
}
func.func @skip(%x: memref<?x272xf8E4M3FN>, %w: memref<264x272xf8E4M3FN>,
                %r: memref<?x264xf32, strided<[272, 1]>>, %p: memref<?x1xf32>,
                %o: memref<?x264xf32, strided<[272, 1]>>) {
  kernel.matmul %x, %w
      extras(%r, %p : memref<?x264xf32, strided<[272, 1]>>, memref<?x1xf32>)
      outs(%o : memref<?x264xf32, strided<[272, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %y = arith.addf %s, %skip : f32
    kernel.yield %y : f32
  } : memref<?x272xf8E4M3FN>, memref<264x272xf8E4M3FN>
  return
}
func.func @gate(%x: memref<?x80xf8E4M3FN>, %w: memref<400x80xf8E4M3FN>,
                %c: memref<200xf32>, %d: memref<200xf32>, %p: memref<?x1xf32>,
                %o: memref<?x200xbf16>) {
  kernel.matmul %x, %w
      extras(%c, %d, %p : memref<200xf32>, memref<200xf32>, memref<?x1xf32>)
      outs(%o : memref<?x200xbf16>) accumulators 2 {
  ^bb0(%a: f32, %up: f32, %c0: f32, %c1: f32, %row: f32):
    %one = arith.constant 1.0 : f32
    %ar = arith.mulf %a, %row : f32
    %ur = arith.mulf %up, %row : f32
    %g = arith.mulf %ar, %c0 : f32
    %u = arith.mulf %ur, %c1 : f32
    %n = arith.negf %g : f32
    %e = math.exp %n : f32
    %q = arith.addf %e, %one : f32
    %v = arith.divf %g, %q : f32
    %y = arith.mulf %v, %u : f32
    kernel.yield %y : f32
  } : memref<?x80xf8E4M3FN>, memref<400x80xf8E4M3FN>
  return
}
func.func @deep(%x: memref<?x1024xf8E4M3FN>, %w: memref<72x1024xf8E4M3FN>,
                %p: memref<?x1xf32>, %o: memref<?x72xf32>) {
  kernel.matmul %x, %w extras(%p : memref<?x1xf32>)
      outs(%o : memref<?x72xf32>) accumulators 1 {
  ^bb0(%a: f32, %row: f32):
    %y = arith.mulf %a, %row : f32
    kernel.yield %y : f32
  } : memref<?x1024xf8E4M3FN>, memref<72x1024xf8E4M3FN>
  return
}
func.func @experts(%x: memref<?x144xf8E4M3FN>, %w: memref<5x328x144xf8E4M3FN>,
                   %starts: memref<6xi32>, %c: memref<5x328xf32>, %p: memref<?x1xf32>,
                   %o: memref<?x328xf32, strided<[336, 1]>>) {
  kernel.matmul %x, %w starts %starts : memref<6xi32>
      extras(%c, %p : memref<5x328xf32>, memref<?x1xf32>)
      outs(%o : memref<?x328xf32, strided<[336, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %scale: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %y = arith.mulf %s, %scale : f32
    kernel.yield %y : f32
  } : memref<?x144xf8E4M3FN>, memref<5x328x144xf8E4M3FN>
  return
}
// Columns that fill tiles: each guard matters.
func.func @whole(%x: memref<?x272xf8E4M3FN>, %w: memref<384x272xf8E4M3FN>,
                 %r: memref<?x384xf32>, %p: memref<?x1xf32>, %o: memref<?x384xf32>) {
  kernel.matmul %x, %w extras(%r, %p : memref<?x384xf32>, memref<?x1xf32>)
      outs(%o : memref<?x384xf32>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32, %row: f32):
    %s = arith.mulf %a, %row : f32
    %y = arith.addf %s, %skip : f32
    kernel.yield %y : f32
  } : memref<?x272xf8E4M3FN>, memref<384x272xf8E4M3FN>
  return
}

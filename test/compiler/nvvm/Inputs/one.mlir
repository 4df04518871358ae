// The smallest matmul.
func.func @one(%x: memref<?x64xbf16>, %w: memref<64x64xbf16>,
               %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x64xbf16>, memref<64x64xbf16>
  return
}

// Products of a step of a Llama of 1.2 billion: a kernel for few rows has a path
// for 8, for 16 and for 64, and stores of all columns at the end of each.
func.func @queries(%x: memref<?x2048xbf16>, %w: memref<3072x2048xbf16>,
                   %o: memref<?x3072xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x3072xbf16>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x2048xbf16>, memref<3072x2048xbf16>
  return
}
func.func @logits(%x: memref<?x2048xbf16>, %w: memref<128256x2048xbf16>,
                  %o: memref<?x128256xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x128256xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x2048xbf16>, memref<128256x2048xbf16>
  return
}

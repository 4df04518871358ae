// Matmuls that the generator leaves to another one.
func.func @packed(%x: memref<?x64xbf16>, %w: memref<1x32x128xbf16>,
                  %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x64xbf16>, memref<1x32x128xbf16>
  return
}
func.func @short(%x: memref<?x68xbf16>, %w: memref<64x68xbf16>,
                 %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x68xbf16>, memref<64x68xbf16>
  return
}
func.func @apart(%x: memref<?x64xbf16, strided<[68, 1]>>,
                 %w: memref<64x64xbf16>, %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x64xbf16, strided<[68, 1]>>, memref<64x64xbf16>
  return
}
func.func @waves(%x: memref<?x64xbf16>, %w: memref<64x64xbf16>,
                 %o: memref<?x64xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xf32>) accumulators 1 {
  ^bb0(%a: f32):
    %y = math.sin %a : f32
    kernel.yield %y : f32
  } : memref<?x64xbf16>, memref<64x64xbf16>
  return
}
func.func @normed(%rows: index, %x: memref<?x64xf32>, %w: memref<128x64xf32>,
                  %y: memref<?x128xf32>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x128xf32>
  kernel.launch {
    kernel.matmul %x, %w outs(%p : memref<?x128xf32>) accumulators 1 {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } : memref<?x64xf32>, memref<128x64xf32>
    kernel.rows ins(%p : memref<?x128xf32>) outs(%y : memref<?x128xf32>)
      gather [-1] norm <rms, 1.0e-05> attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

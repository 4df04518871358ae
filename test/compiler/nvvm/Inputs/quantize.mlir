// Rows to bytes: a row in a warp's, several warps' and shared warps' registers;
// columns that no word divides.
func.func @many(%x: memref<?x1536xbf16, strided<[1568, 1]>>,
                %v: memref<?x1536xui8>, %p: memref<?x4xf32, strided<[16, 1]>>) {
  kernel.quantize %x values(%v : memref<?x1536xui8>)
      parameters(%p : memref<?x4xf32, strided<[16, 1]>>)
      : memref<?x1536xbf16, strided<[1568, 1]>>
  return
}
func.func @warp(%x: memref<?x408xf32>, %v: memref<?x408xui8, strided<[416, 1]>>,
                %p: memref<?x4xf32>) {
  kernel.quantize %x values(%v : memref<?x408xui8, strided<[416, 1]>>)
      parameters(%p : memref<?x4xf32>) : memref<?x408xf32>
  return
}
func.func @shared(%x: memref<?x48xf32>, %v: memref<?x48xui8>,
                  %p: memref<?x4xf32>) {
  kernel.quantize %x values(%v : memref<?x48xui8>)
      parameters(%p : memref<?x4xf32>) : memref<?x48xf32>
  return
}
func.func @odd(%x: memref<?x77xf32>, %v: memref<?x77xui8>,
               %p: memref<?x4xf32>) {
  kernel.quantize %x values(%v : memref<?x77xui8>)
      parameters(%p : memref<?x4xf32>) : memref<?x77xf32>
  return
}

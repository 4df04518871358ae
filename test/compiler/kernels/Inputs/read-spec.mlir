// What kernels require of programs that verify: ReadSpecTest.cpp reads this.
func.func @copy(%x: memref<?x8xf32, strided<[16, 1]>>, %o: memref<?x8xf32>) {
  kernel.rows ins(%x : memref<?x8xf32, strided<[16, 1]>>) outs(%o : memref<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// -----

func.func @on_tensors(%x: tensor<?x8xf32>, %o: tensor<?x8xf32>) {
  // expected-error @+1 {{operand is 'tensor<?x8xf32>' but must be a memref}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @not_strided(%x: memref<?x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>, %o: memref<?x8xf32>) {
  // expected-error @+1 {{operand is 'memref<?x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>' but must be strided}}
  kernel.rows ins(%x : memref<?x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) outs(%o : memref<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// -----

func.func @columns_apart(%x: memref<?x8xf32, strided<[16, 2]>>, %o: memref<?x8xf32>) {
  // expected-error @+1 {{operand is 'memref<?x8xf32, strided<[16, 2]>>' but its last stride must be 1}}
  kernel.rows ins(%x : memref<?x8xf32, strided<[16, 2]>>) outs(%o : memref<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// -----

func.func @rows_anywhere(%x: memref<?x8xf32, strided<[?, 1]>>, %o: memref<?x8xf32>) {
  // expected-error @+1 {{operand is 'memref<?x8xf32, strided<[?, 1]>>' but its columns and strides must be known}}
  kernel.rows ins(%x : memref<?x8xf32, strided<[?, 1]>>) outs(%o : memref<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// -----

func.func @panels_of_24(%x: memref<?x8xf32>, %w: memref<1x8x24xf32>, %o: memref<?x16xf32>) {
  // expected-error @+1 {{weight is 'memref<1x8x24xf32>' but must be packed: [panels, 8, a multiple of 16]}}
  kernel.matmul %x, %w outs(%o : memref<?x16xf32>) accumulators 1 {
  ^bb0(%s: f32):
    kernel.yield %s : f32
  } : memref<?x8xf32>, memref<1x8x24xf32>
  return
}

// -----

func.func @experts_in_panels_of_24(%x: memref<?x8xf32>, %w: memref<2x1x8x24xf32>, %e: memref<3xi32>, %o: memref<?x16xf32>) {
  // expected-error @+1 {{but must be packed: [experts, panels, 8, a multiple of 16]}}
  kernel.matmul %x, %w starts %e : memref<3xi32> outs(%o : memref<?x16xf32>) accumulators 1 {
  ^bb0(%s: f32):
    kernel.yield %s : f32
  } : memref<?x8xf32>, memref<2x1x8x24xf32>
  return
}

// -----

func.func @blocks_as_numbers(%v: memref<?x64xi8>, %p: memref<?x6xf32>, %w: memref<20x64xf32>, %o: memref<?x20xf32>) {
  // expected-error @+1 {{weight is 'memref<20x64xf32>' but must be packed blocks}}
  kernel.matmul %v, %w parameters %p : memref<?x6xf32> outs(%o : memref<?x20xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%s: f32):
    kernel.yield %s : f32
  } : memref<?x64xi8>, memref<20x64xf32>
  return
}

// -----

func.func @rows_of_a_weight(%w: memref<16x8xf32>, %o: memref<16x8xf32>) {
  // expected-error @+1 {{outs is 'memref<16x8xf32>' but must be packed in panels}}
  kernel.pack %w outs(%o : memref<16x8xf32>) : memref<16x8xf32>
  return
}

// -----

func.func @a_weight() {
  // expected-error @+1 {{is no kernel; kernels are matmul, rows, quantize, attention, linear_attention, rotate, dispatch, combine and those of a training step}}
  %w = kernel.weight @w -> memref<16x8xf32>
  return
}

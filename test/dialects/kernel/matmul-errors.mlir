// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @matmul_c1(%x: tensor<8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{input is 'tensor<8xf32>' but must be f32, bf16, f16, ui8, i8 or f8E4M3FN [rows, columns]}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_outs(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x?xf32>) {
  // expected-error @+1 {{outs is 'tensor<?x?xf32>' but must be f32, bf16 or f16 [rows, columns]}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x?xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @matmul_c1_weight(%x: tensor<?x8xf32>, %w: tensor<16x4xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x4xf32>' but input is [?, 8] of 'f32', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x4xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_columns(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x8xf32>' but input is [?, 8] of 'f32', outs is [?, 16] and accumulators is 2}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 2 {
  ^bb0(%a: f32, %b: f32, %c: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_panels(%x: tensor<?x8xf32>, %w: tensor<2x8x64xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<2x8x64xf32>' but input is [?, 8] of 'f32', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x8x64xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{accumulators is 3 but must be 1 or 2}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 3 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<8xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{extra 0 is 'tensor<8xf32>' but must be f32 [?, 16], [16], [1, 16], [?, 1] or [1]}}
  %y = kernel.matmul %x, %w extras(%e : tensor<8xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c4(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{region has 1 arguments but 2 are needed, one per accumulator and extra}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c4_type(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{region has an argument of type 'f64' but they are f32}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f64):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c4_yield(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{region must yield one f32}}
  %y = kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c5(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %e: tensor<16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.matmul %x, %w extras(%e : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32>
  return
}

// -----

func.func @matmul_c5_memref(%x: memref<?x8xf32>, %w: memref<16x8xf32>, %o: memref<?x16xf32>) {
  // expected-error @+1 {{outs is a memref but there is a result}}
  %y = kernel.matmul %x, %w outs(%o : memref<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x8xf32>, memref<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c5_type(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{result is 'tensor<?x8xf32>' but outs is 'tensor<?x16xf32>'}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @matmul_c3_experts(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<5xi32>, %e: tensor<3x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{extra 0 is 'tensor<3x16xf32>' but must be f32 [?, 16], [16], [1, 16], [?, 1] or [1], or by expert [4, 16]}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<3x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c3_experts_type(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<5xi32>, %e: tensor<4x16xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{extra 0 is 'tensor<4x16xi32>' but must be f32 [?, 16], [16], [1, 16], [?, 1] or [1], or by expert [4, 16]}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<4x16xi32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c3_two(%x: tensor<?x8xf32>, %w: tensor<4x32x8xf32>, %s: tensor<5xi32>, %e: tensor<4x32xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{extra 0 is 'tensor<4x32xf32>' but must be f32 [?, 16], [16], [1, 16], [?, 1] or [1], or by expert [4, 16]}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<4x32xf32>) outs(%o : tensor<?x16xf32>) accumulators 2 {
  ^bb0(%a0: f32, %a1: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x32x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c6(%x: tensor<?x8xf32>, %w: tensor<3x16x8xf32>, %s: tensor<5xi32>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<3x16x8xf32>' but input is [?, 8] of 'f32', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<3x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c6_one(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %s: tensor<5xi32>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x8xf32>' but input is [?, 8] of 'f32', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c6_starts(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<5xi64>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{starts is 'tensor<5xi64>' but must be i32 [entries + 1]}}
  %y = kernel.matmul %x, %w starts %s : tensor<5xi64> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c6_dynamic(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<?xi32>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{starts is 'tensor<?xi32>' but must be i32 [entries + 1]}}
  %y = kernel.matmul %x, %w starts %s : tensor<?xi32> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c6_none(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<1xi32>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{starts is 'tensor<1xi32>' but must be i32 [entries + 1]}}
  %y = kernel.matmul %x, %w starts %s : tensor<1xi32> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a0: f32, %b: f32):
    kernel.yield %b : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_elements(%x: tensor<?x8xbf16>, %w: tensor<16x8xf32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x8xf32>' but input is [?, 8] of 'bf16', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xbf16>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c7(%x: tensor<?x8xui8>, %w: tensor<16x8xi8>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x8xi8>' but there are no parameters and sums}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xui8>, tensor<16x8xi8> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c7_f32(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %z: tensor<?x4xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x8xf32>' but parameters and sums are for one of i8}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x4xf32> sums %i : tensor<16x1xi32> outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c7_inner(%x: tensor<?x65540xui8>, %w: tensor<16x65540xi8>, %z: tensor<?x4xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{K is 65540 but must be <= 65536 where integers are summed}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x4xf32> sums %i : tensor<16x1xi32> outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x65540xui8>, tensor<16x65540xi8> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c7_initial(%x: tensor<?x8xui8>, %w: tensor<16x8xi8>, %z: tensor<?x4xf32>, %i: tensor<8x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{sums is 'tensor<8x1xi32>' but must be i32, a number for each row of the weight}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x4xf32> sums %i : tensor<8x1xi32> outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xui8>, tensor<16x8xi8> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c8_encoding(%x: tensor<?x32xi8>, %w: tensor<16x32xf32>, %z: tensor<?x2xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{blocks is q3_k but must be q8_0, q6_k, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0 or mxfp4}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x2xf32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q3_k {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x32xi8>, tensor<16x32xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c8_length(%x: tensor<?x48xi8>, %w: tensor<16x48xf32>, %z: tensor<?x3xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{K is 48 but must be a multiple of 32 in blocks}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x3xf32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x48xi8>, tensor<16x48xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c8_length_of_steps(%x: tensor<?x96xi8>, %w: tensor<16x96xf32>, %z: tensor<?x9xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{K is 96 but must be a multiple of 256 in blocks}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x9xf32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q4_k {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x96xi8>, tensor<16x96xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c8_sums(%x: tensor<?x32xi8>, %w: tensor<16x32xf32>, %z: tensor<?x2xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{has blocks, which go with parameters and no sums}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x2xf32> sums %i : tensor<16x1xi32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x32xi8>, tensor<16x32xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c8_parameters(%x: tensor<?x64xi8>, %w: tensor<16x64xf32>, %z: tensor<?x2xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{parameters has 2 columns but must have 6}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x2xf32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x64xi8>, tensor<16x64xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_blocks(%x: tensor<?x64xi8>, %w: tensor<1x2x288xi8>, %z: tensor<?x6xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<1x2x288xi8>' but input is [?, 64] of 'i8', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x6xf32> outs(%o : tensor<?x16xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x64xi8>, tensor<1x2x288xi8> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c1_no_blocks(%x: tensor<?x64xi8>, %w: tensor<16x64xi8>, %z: tensor<?x6xf32>, %i: tensor<16x1xi32>, %o: tensor<?x16xf32>) {
  // expected-error @+1 {{weight is 'tensor<16x64xi8>' but input is [?, 64] of 'i8', outs is [?, 16] and accumulators is 1}}
  %y = kernel.matmul %x, %w parameters %z : tensor<?x6xf32> outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x64xi8>, tensor<16x64xi8> -> tensor<?x16xf32>
  return
}

// -----

func.func @matmul_c9(%x: tensor<?x8xf32>, %w: tensor<2x6x4xf32>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{heads is 3 but input has 8 columns and outs 12}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x12xf32>) accumulators 1 heads 3 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x6x4xf32> -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c9_negative(%x: tensor<?x8xf32>, %w: tensor<2x6x4xf32>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{heads is -2 but input has 8 columns and outs 12}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x12xf32>) accumulators 1 heads -2 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x6x4xf32> -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c9_extras(%x: tensor<?x8xf32>, %w: tensor<2x6x4xf32>, %e: tensor<12xf32>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{has heads, which go with f32 or bf16, one accumulator, and neither starts nor extras}}
  %y = kernel.matmul %x, %w extras(%e : tensor<12xf32>) outs(%o : tensor<?x12xf32>) accumulators 1 heads 2 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x6x4xf32> -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c9_bytes(%x: tensor<?x8xf8E4M3FN>, %w: tensor<2x6x4xf8E4M3FN>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{has heads, which go with f32 or bf16, one accumulator, and neither starts nor extras}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x12xf32>) accumulators 1 heads 2 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf8E4M3FN>, tensor<2x6x4xf8E4M3FN> -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c9_two(%x: tensor<?x8xf32>, %w: tensor<2x12x4xf32>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{has heads, which go with f32 or bf16, one accumulator, and neither starts nor extras}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x12xf32>) accumulators 2 heads 2 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x12x4xf32> -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c1_heads(%x: tensor<?x8xf32>, %w: tensor<2x4x6xf32>, %o: tensor<?x12xf32>) {
  // expected-error @+1 {{weight is 'tensor<2x4x6xf32>' but input is [?, 8] of 'f32', outs is [?, 12] and accumulators is 1}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x12xf32>) accumulators 1 heads 2 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<2x4x6xf32> -> tensor<?x12xf32>
  return
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

transformer.model @parameter_c1 {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value is [4, 8] but the type is [8, 4]}}
  transformer.parameter @p : tensor<8x4xf32> = @m
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_name {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value names @w, which is not a parameter}}
  transformer.parameter @p : tensor<8x4xf32> = #transformer.transpose<@w>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_kind {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value is not a parameter's value}}
  transformer.parameter @p : tensor<8xf32> = "v"
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_axis {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value slices axis 2 of a rank 2 tensor}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.slice<@m, axis = 2, offset = 0, size = 1, stride = 1>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_extent {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value slices 4 elements from 5 of an extent of 8}}
  transformer.parameter @p : tensor<4x4xf32> = #transformer.slice<@m, axis = 1, offset = 5, size = 4, stride = 1>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_transpose {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value transposes a rank 1 tensor}}
  transformer.parameter @p : tensor<8xf32> = #transformer.transpose<@v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_join {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value joins tensors of different shapes}}
  transformer.parameter @p : tensor<12x8xf32> = #transformer.concat<@m, @v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_times {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value multiplies by a tensor that has neither one element nor one per row or column}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.times<@m, @v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_plus {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value adds tensors of different shapes}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.plus<@m, #transformer.slice<@v, axis = 0, offset = 0, size = 4, stride = 1>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_pack {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value packs a tensor that is not [accumulators * out, in]}}
  transformer.parameter @p : tensor<1x8x64xf32> = #transformer.pack<@v, panel = 64, accumulators = 1>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_pack_panel {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value packs a tensor that is not [accumulators * out, in]}}
  transformer.parameter @p : tensor<1x8x64xf32> = #transformer.pack<@m, panel = 0, accumulators = 1>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_stored {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an extent that is not a number > 0}}
  transformer.parameter @p : tensor<8xf32> = #transformer.stored<"f", "x", tensor<?xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_large {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has more elements than any memory}}
  transformer.parameter @p : tensor<8xf32> = #transformer.stored<"f", "x", tensor<4611686018427387904x4xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_scalar {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value joins scalars}}
  transformer.parameter @p : tensor<8xf32> = #transformer.concat<#transformer.stored<"f", "x", tensor<f32>>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_deep {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value nests more than 64 deep}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<#transformer.transpose<@m>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c2 {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{type is 'tensor<0x8xf32>' but every extent must be static and > 0}}
  transformer.parameter @p : tensor<0x8xf32> = @m
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c3 {
  // expected-error @below {{dtype is 'fp4' but must be one of f32, f16, bf16, int8, q8_0, q6_k, fp8, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0, mxfp4, stored}}
  transformer.parameter @a : tensor<2xf32> = #transformer.numbers<[0.5, 0.25], tensor<2xf32>> dtype "fp4"
}

// -----

transformer.model @parameter_c2_dynamic {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{type is 'tensor<?x8xf32>' but every extent must be static and > 0}}
  transformer.parameter @p : tensor<?x8xf32> = @m
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_gather {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value gathers row 4 of 4}}
  transformer.parameter @p : tensor<3x8xf32> = #transformer.gather<@m, [0, 4, 1]>
  func.func @forward() {
    return
  }
}

// -----

// -1 is a row of zeros.
transformer.model @parameter_c1_gather_sign {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value gathers row -2 of 4}}
  transformer.parameter @p : tensor<3x8xf32> = #transformer.gather<@m, [0, -2, 1]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_gather_none {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an extent that is not a number > 0}}
  transformer.parameter @p : tensor<3x8xf32> = #transformer.gather<@m, []>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_gather_scalar {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value gathers from a scalar}}
  transformer.parameter @p : tensor<1xf32> = #transformer.gather<#transformer.stored<"f", "x", tensor<f32>>, [0]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_repeat {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value repeats 0 times a rank 1 tensor}}
  transformer.parameter @p : tensor<8xf32> = #transformer.repeat<@v, 0, each = true>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_repeat_scalar {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value repeats 8 times a rank 0 tensor}}
  transformer.parameter @p : tensor<8xf32> = #transformer.repeat<#transformer.stored<"f", "x", tensor<f32>>, 8, each = true>
  func.func @forward() {
    return
  }
}

// -----

// 8 * 2^61 is 0 modulo 2^64.
transformer.model @parameter_c1_repeat_overflow {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value repeats 2305843009213693952 times a rank 1 tensor}}
  transformer.parameter @p : tensor<8xf32> = #transformer.repeat<@v, 2305843009213693952, each = false>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_repeat_large {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has more elements than any memory}}
  transformer.parameter @p : tensor<8xf32> = #transformer.repeat<@m, 576460752303423488, each = false>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_reshape {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value gives 32 elements a shape of 40}}
  transformer.parameter @p : tensor<8x5xf32> = #transformer.reshape<@m, [8, 5]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_reshape_sign {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an extent that is not a number > 0}}
  transformer.parameter @p : tensor<8x4xf32> = #transformer.reshape<@m, [-8, -4]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_reshape_overflow {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has more elements than any memory}}
  transformer.parameter @p : tensor<8x4xf32> = #transformer.reshape<@m, [4294967296, 4294967296, 32]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_permute {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an order that is no permutation of its value's 2 dimensions}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.permute<@m, [0, 0]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_permute_rank {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an order that is no permutation of its value's 2 dimensions}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.permute<@m, [1, 0, 2]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_permute_sign {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has an order that is no permutation of its value's 2 dimensions}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.permute<@m, [-1, 0]>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_stack {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value stacks tensors of different shapes}}
  transformer.parameter @p : tensor<2x4x8xf32> = #transformer.stack<@m, @v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_product {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value multiplies tensors that are not [m, k] and [n, k]}}
  transformer.parameter @p : tensor<4x4xf32> = #transformer.product<@m, #transformer.transpose<@m>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_product_rank {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value multiplies tensors that are not [m, k] and [n, k]}}
  transformer.parameter @p : tensor<4xf32> = #transformer.product<@m, @v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_apply {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value is [4, 8] but the type is [8, 4]}}
  transformer.parameter @p : tensor<8x4xf32> = #transformer.apply<@m, relu>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_normed {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value norms rows with a weight or bias of another length}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.normed<@m, weight = @v, bias = @m, eps = 1.0e-7>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_normed_rank {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value norms rows with a weight or bias of another length}}
  transformer.parameter @p : tensor<8xf32> = #transformer.normed<@v, weight = @v, bias = @v, eps = 1.0e-7>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_normed_eps {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value norms rows with an eps of -1.0, which is not finite and >= 0}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.normed<@m, weight = @v, bias = @v, eps = -1.0>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_normed_name {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value names @b, which is not a parameter}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.normed<@m, weight = @v, bias = @b, eps = 1.0e-7>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_sinusoid {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has sines and cosines in a tensor that is not [positions, 2n]}}
  transformer.parameter @p : tensor<4x7xf32> = #transformer.sinusoid<divisor = 3.0, zero = -1, tensor<4x7xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_sinusoid_divisor {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has a sinusoid's divisor of 0.0, which is not finite and > 0}}
  transformer.parameter @p : tensor<4x2xf32> = #transformer.sinusoid<divisor = 0.0, zero = -1, tensor<4x2xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_sinusoid_zero {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value has zeros in row 4 of 4}}
  transformer.parameter @p : tensor<4x8xf32> = #transformer.sinusoid<divisor = 3.0, zero = 4, tensor<4x8xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_numbers {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value is [2] but the type is [8]}}
  transformer.parameter @p : tensor<8xf32> = #transformer.numbers<[0.5, 0.25], tensor<2xf32>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_pack_stack {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value packs a tensor that is not [accumulators * out, in]}}
  transformer.parameter @p : tensor<2x1x8x64xf32> = #transformer.pack<#transformer.stack<@m, @m>, panel = 64, accumulators = 3>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_row_scales {
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value takes the rows of a tensor that has fewer than two dimensions}}
  transformer.parameter @p : tensor<8xf32> = #transformer.row_scales<@v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_column_rms {
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{value takes the columns of a tensor that has not two dimensions}}
  transformer.parameter @p : tensor<1x8xf32> = #transformer.column_rms<@v>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_row_sums {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  // expected-error @+1 {{value is [4, 1] but the type is [4]}}
  transformer.parameter @p : tensor<4xf32> = #transformer.row_sums<#transformer.quantized<@m>>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_in_blocks {
  transformer.parameter @m : tensor<4x40xf32> = #transformer.stored<"f", "m", tensor<4x40xf32>>
  // expected-error @+1 {{value has rows of 40 numbers in blocks of 32}}
  transformer.parameter @p : tensor<4x40xf32> = #transformer.in_blocks<@m, q8_0>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_in_blocks_encoding {
  transformer.parameter @m : tensor<4x32xf32> = #transformer.stored<"f", "m", tensor<4x32xf32>>
  // expected-error @+1 {{value is in blocks of q3_k but must be of q8_0, q6_k, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0 or mxfp4}}
  transformer.parameter @p : tensor<4x32xf32> = #transformer.in_blocks<@m, q3_k>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_pack_blocks {
  transformer.parameter @m : tensor<4x32xf32> = #transformer.stored<"f", "m", tensor<4x32xf32>>
  // expected-error @+1 {{value packs a tensor that is not [accumulators * out, in]}}
  transformer.parameter @p : tensor<1x1x576xf32> = #transformer.pack_blocks<@m, q4_0, accumulators = 3>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c1_pack_blocks_type {
  transformer.parameter @m : tensor<4x32xf32> = #transformer.stored<"f", "m", tensor<4x32xf32>>
  // expected-error @+1 {{value is [1, 1, 288] but the type is [1, 1, 544]}}
  transformer.parameter @p : tensor<1x1x544xf32> = #transformer.pack_blocks<@m, q4_0, accumulators = 1>
  func.func @forward() {
    return
  }
}

// -----

transformer.model @parameter_c4 {
  // expected-error @+1 {{fixed_rows is array<i64: 4, 3, 2> but must be [period, first, count] of 4 rows}}
  transformer.parameter @m : tensor<4x32xf32> = #transformer.stored<"f", "m", tensor<4x32xf32>> fixed_rows [4, 3, 2]
  func.func @forward() {
    return
  }
}

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
  // expected-error @+1 {{value multiplies by a tensor that has neither one element nor one per row}}
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
  transformer.parameter @p : tensor<4x8xf32> = #transformer.plus<@m, @v>
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

transformer.model @parameter_c2_dynamic {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  // expected-error @+1 {{type is 'tensor<?x8xf32>' but every extent must be static and > 0}}
  transformer.parameter @p : tensor<?x8xf32> = @m
  func.func @forward() {
    return
  }
}

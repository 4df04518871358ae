// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @values
transformer.model @values {
  // CHECK: transformer.parameter @h.0.q.weight : tensor<32x32xf32> = #transformer.transpose<#transformer.slice<#transformer.stored<"model.safetensors", "h.0.c_attn.weight", tensor<32x96xf32>>, axis = 1, offset = 0, size = 32, stride = 1>>
  transformer.parameter @h.0.q.weight : tensor<32x32xf32> =
    #transformer.transpose<#transformer.slice<#transformer.stored<"model.safetensors", "h.0.c_attn.weight", tensor<32x96xf32>>, axis = 1, offset = 0, size = 32, stride = 1>>
  // Stored as bf16, used as f32.
  // CHECK: transformer.parameter @wte : tensor<64x32xf32> = #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>
  transformer.parameter @wte : tensor<64x32xf32> = #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>
  transformer.parameter @gamma : tensor<32xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "gamma", tensor<32xf32>>
  // CHECK: #transformer.times<@h.0.q.weight, @gamma>
  transformer.parameter @rows : tensor<32x32xf32> = #transformer.times<@h.0.q.weight, @gamma>
  // CHECK: #transformer.times<@h.0.q.weight, 5.000000e-01
  transformer.parameter @half : tensor<32x32xf32> = #transformer.times<@h.0.q.weight, 5.000000e-01>
  // CHECK: #transformer.plus<@gamma, 1.000000e+00
  transformer.parameter @plus : tensor<32xf32> = #transformer.plus<@gamma, 1.000000e+00>
  // CHECK: #transformer.concat<@h.0.q.weight, @rows>
  transformer.parameter @joined : tensor<64x32xf32> = #transformer.concat<@h.0.q.weight, @rows>
  // CHECK: #transformer.slice<@wte, axis = 0, offset = 1, size = 32, stride = 2>
  transformer.parameter @odd : tensor<32x32xf32> = #transformer.slice<@wte, axis = 0, offset = 1, size = 32, stride = 2>
  // CHECK: #transformer.pack<@joined, panel = 64, accumulators = 2>
  transformer.parameter @packed : tensor<1x32x64xf32> = #transformer.pack<@joined, panel = 64, accumulators = 2>
  func.func @forward() {
    return
  }
}

// Values that rearrange and compute; an f64 keeps every digit.
// CHECK-LABEL: transformer.model @rearranged
transformer.model @rearranged {
  transformer.parameter @m : tensor<4x8xf32> = #transformer.stored<"f", "m", tensor<4x8xf32>>
  transformer.parameter @v : tensor<8xf32> = #transformer.stored<"f", "v", tensor<8xf32>>
  transformer.parameter @conv : tensor<8x3x4x4xf32> = #transformer.stored<"f", "conv", tensor<8x3x4x4xf32>>
  // CHECK: @numbers : tensor<2xf32> = #transformer.numbers<[0.30000000000000004, 0.7937005259840998], tensor<2xf32>>
  transformer.parameter @numbers : tensor<2xf32> = #transformer.numbers<[0.30000000000000004, 0.79370052598409979], tensor<2xf32>>
  // CHECK: #transformer.sinusoid<divisor = 3.0000000000000004, zero = -1, tensor<16x8xf32>>
  transformer.parameter @sines : tensor<16x8xf32> = #transformer.sinusoid<divisor = 3.0000000000000004, zero = -1, tensor<16x8xf32>>
  // CHECK: #transformer.sinusoid<divisor = 4.0, zero = 1, tensor<16x8xf32>>
  transformer.parameter @padded : tensor<16x8xf32> = #transformer.sinusoid<divisor = 4.0, zero = 1, tensor<16x8xf32>>
  // CHECK: @gathered : tensor<5x8xf32> = #transformer.gather<@m, [2, 1, -1, 1, 2]>
  transformer.parameter @gathered : tensor<5x8xf32> = #transformer.gather<@m, [2, 1, -1, 1, 2]>
  // CHECK: @whole : tensor<32xf32> = #transformer.repeat<@v, 4, each = false>
  transformer.parameter @whole : tensor<32xf32> = #transformer.repeat<@v, 4, each = false>
  // CHECK: @each : tensor<12x8xf32> = #transformer.repeat<@m, 3, each = true>
  transformer.parameter @each : tensor<12x8xf32> = #transformer.repeat<@m, 3, each = true>
  // CHECK: @rows : tensor<8x48xf32> = #transformer.reshape<@conv, [8, 48]>
  transformer.parameter @rows : tensor<8x48xf32> = #transformer.reshape<@conv, [8, 48]>
  // CHECK: @last : tensor<8x4x4x3xf32> = #transformer.permute<@conv, [0, 2, 3, 1]>
  transformer.parameter @last : tensor<8x4x4x3xf32> = #transformer.permute<@conv, [0, 2, 3, 1]>
  // CHECK: @experts : tensor<2x4x8xf32> = #transformer.stack<@m, #transformer.times<@m, 5.000000e-01 : f64>>
  transformer.parameter @experts : tensor<2x4x8xf32> = #transformer.stack<@m, #transformer.times<@m, 5.000000e-01>>
  // CHECK: @product : tensor<4x5xf32> = #transformer.product<@m, @gathered>
  transformer.parameter @product : tensor<4x5xf32> = #transformer.product<@m, @gathered>
  // CHECK: @applied : tensor<8xf32> = #transformer.apply<@v, exp_min_ln100>
  transformer.parameter @applied : tensor<8xf32> = #transformer.apply<@v, exp_min_ln100>
  // CHECK: @rounded : tensor<8xf32> = #transformer.apply<@v, bfloat16>
  transformer.parameter @rounded : tensor<8xf32> = #transformer.apply<@v, bfloat16>
  // CHECK: @normed : tensor<4x8xf32> = #transformer.normed<@m, weight = @v, bias = @applied, eps = 1.2345678901234566e-07>
  transformer.parameter @normed : tensor<4x8xf32> = #transformer.normed<@m, weight = @v, bias = @applied, eps = 1.2345678901234566e-7>
  // A term of [columns] goes to every row.
  // CHECK: @shifted : tensor<4x8xf32> = #transformer.plus<@m, @v>
  transformer.parameter @shifted : tensor<4x8xf32> = #transformer.plus<@m, @v>
  // CHECK: @packed : tensor<2x1x8x64xf32> = #transformer.pack<@experts, panel = 64, accumulators = 1>
  transformer.parameter @packed : tensor<2x1x8x64xf32> = #transformer.pack<@experts, panel = 64, accumulators = 1>
  func.func @forward() {
    return
  }
}

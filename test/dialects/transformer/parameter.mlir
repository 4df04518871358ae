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

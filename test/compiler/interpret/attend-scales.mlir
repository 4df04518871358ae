// What multiplies scores. Keys 0 and ln 3, values 0 and 8: a factor f gives
// 8 * 3^f / (1 + 3^f): 6 for 1, 7.2 for 2.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w head_scale:f32:2=1,2 sink:f32:2=1.3862943611198906,0
// RUN: python3 %tensors make %t/in q:f32:1x2x2=1 k:f32:1x2x1=0,1.0986122886681098 v:f32:1x2x1=0,8 positions:i32:1x2=0,3
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: heads [1, 2, 2] 6 7.2 6 7.2{{$}}
// stream + attention, first with 1, then with 2
// CHECK-DAG: layers [1, 2, 2] 14.2 14.2 14.2 14.2{{$}}
// log(i + 1) of base root 2, at least 1
// CHECK-DAG: log_position [1, 2, 2] 6 6 7.2 7.2{{$}}
// log of the number of keys, same base; row 0 sees key 0 only
// CHECK-DAG: log_keys [1, 2, 2] 0 0 7.2 7.2{{$}}
// at least log 4 of base 2
// CHECK-DAG: log_floored [1, 2, 2] 7.2 7.2 7.2 7.2{{$}}
// 1 + log_3(1 + floor((p + 1) / 2)): 1, 2
// CHECK-DAG: log_floor [1, 2, 2] 6 6 7.2 7.2{{$}}
// sinks 4 and 1: 24 / 8, 24 / 5
// CHECK-DAG: sinks [1, 2, 2] 3 4.8 3 4.8{{$}}
transformer.model @m {
  transformer.parameter @head_scale : tensor<2xf32> = #transformer.stored<"w", "head_scale", tensor<2xf32>>
  transformer.parameter @sink : tensor<2xf32> = #transformer.stored<"w", "sink", tensor<2xf32>>
  func.func @forward(%q: tensor<?x?x2xf32> {transformer.name = "q"},
      %k: tensor<?x?x1xf32> {transformer.name = "k"},
      %v: tensor<?x?x1xf32> {transformer.name = "v"},
      %p: tensor<?x?xi32> {transformer.name = "positions"})
      -> (tensor<?x?x2xf32> {transformer.name = "heads"},
          tensor<?x?x2xf32> {transformer.name = "layers"},
          tensor<?x?x2xf32> {transformer.name = "log_position"},
          tensor<?x?x2xf32> {transformer.name = "log_keys"},
          tensor<?x?x2xf32> {transformer.name = "log_floored"},
          tensor<?x?x2xf32> {transformer.name = "log_floor"},
          tensor<?x?x2xf32> {transformer.name = "sinks"}) {
    %0 = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 head_scale @head_scale mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %1 = transformer.layers %q slots [["layers.*.scale"]] bodies [0, 0] table [[1.0], [2.0]] {
    ^bb0(%s: tensor<?x?x2xf32>):
      %a = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 layer_scale @"layers.*.scale" mask bidirectional
        : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
      %sum = transformer.add %s, %a : tensor<?x?x2xf32>
      transformer.yield %sum : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %2 = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0
      length_scale <log_position, base = 1.4142135623730951> mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %3 = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0
      length_scale <log_keys, base = 1.4142135623730951> mask causal
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %4 = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0
      length_scale <log_keys, base = 2.0, floor = 4.0> mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %5 = transformer.attend %q, %k, %v positions %p : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0
      length_scale <log_floor, beta = 0.9102392266268373, period = 2, offset = 1> mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %6 = transformer.attend %q, %k, %v heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 sink @sink mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
  }
}

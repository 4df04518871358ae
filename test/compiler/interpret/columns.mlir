// Parameters that differ by layer are columns of the layer table: experts'
// stacks, sinks, tables of biases and of rotations.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w0:f32:2x1x1=1,10 w1:f32:2x1x1=2,20 sink0:f32:1=0 sink1:f32:1=1.0986122886681098 near0:f32:1x1=5 near1:f32:1x1=0 turn0:f32:1x2=1,0 turn1:f32:1x2=0,1
// RUN: python3 %tensors make %t/in x:f32:1x2x1=1,2 experts:i32:1x2=0,1 pair:f32:1x2x2=1,2
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// 1 * 1 * 2 and 2 * 10 * 20
// CHECK-DAG: experts [1, 2, 1] 2 400{{$}}
// mean 1.5 of the values, weights e^5 (twice) and 1, then 1 (twice) and 3
// CHECK-DAG: attended.0 [1, 2, 1] 1.494964 1.494964{{$}}
// CHECK-DAG: attended.1 [1, 2, 1] 0.5979854 0.5979854{{$}}
// CHECK-DAG: turned [1, 2, 2] -2 1 -2 1{{$}}
transformer.model @m {
  transformer.parameter @w0 : tensor<2x1x1xf32> = #transformer.stored<"w", "w0", tensor<2x1x1xf32>>
  transformer.parameter @w1 : tensor<2x1x1xf32> = #transformer.stored<"w", "w1", tensor<2x1x1xf32>>
  transformer.parameter @sink0 : tensor<1xf32> = #transformer.stored<"w", "sink0", tensor<1xf32>>
  transformer.parameter @sink1 : tensor<1xf32> = #transformer.stored<"w", "sink1", tensor<1xf32>>
  transformer.parameter @near0 : tensor<1x1xf32> = #transformer.stored<"w", "near0", tensor<1x1xf32>>
  transformer.parameter @near1 : tensor<1x1xf32> = #transformer.stored<"w", "near1", tensor<1x1xf32>>
  transformer.parameter @turn0 : tensor<1x2xf32> = #transformer.stored<"w", "turn0", tensor<1x2xf32>>
  transformer.parameter @turn1 : tensor<1x2xf32> = #transformer.stored<"w", "turn1", tensor<1x2xf32>>
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"}, %e: tensor<?x?xi32> {transformer.name = "experts"},
      %zeros: tensor<?x?xi32> {transformer.name = "position_ids", transformer.default = "zeros"}, %p: tensor<?x?x2xf32> {transformer.name = "pair"})
      -> (tensor<?x?x1xf32> {transformer.name = "experts"}, tensor<?x?x2xf32> {transformer.name = "turned"}) {
    %0 = transformer.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@w0], [@w1]] {
    ^bb0(%s: tensor<?x?x1xf32>):
      %a = transformer.linear %s experts %e : tensor<?x?xi32> weight @"layers.*.w" : tensor<?x?x1xf32> -> tensor<?x?x1xf32>
      transformer.yield %a : tensor<?x?x1xf32>
    } : tensor<?x?x1xf32>
    %nothing = transformer.affine %x scale <constant 0.0> : tensor<?x?x1xf32>
    %1 = transformer.layers %x slots [["layers.*.sink", "layers.*.near"]] bodies [0, 0] table [[@sink0, @near0], [@sink1, @near1]] {
    ^bb0(%s: tensor<?x?x1xf32>):
      %b = transformer.distance_bias %s table @"layers.*.near" buckets [0] : tensor<?x?x1xf32> -> tensor<?x1x?x?xf32>
      %a = transformer.attend %nothing, %nothing, %s bias %b : tensor<?x1x?x?xf32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 sink @"layers.*.sink" mask bidirectional
        : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
      transformer.keep %a as "attended" index 0 : tensor<?x?x1xf32>
      transformer.yield %a : tensor<?x?x1xf32>
    } : tensor<?x?x1xf32>
    %2 = transformer.layers %p slots [["layers.*.turn"]] bodies [0, 0] table [[@turn0], [@turn1]] {
    ^bb0(%s: tensor<?x?x2xf32>):
      %r = transformer.rotate %s at %zeros heads 1 head_dim 2 pairing half table @"layers.*.turn" : tensor<?x?x2xf32>, tensor<?x?xi32>
      transformer.yield %r : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    return %0, %2 : tensor<?x?x1xf32>, tensor<?x?x2xf32>
  }
}

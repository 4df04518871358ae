// What is added to scores, [batch, heads, queries, keys]; outputs of rank 4 are
// written entry by entry, here by sequence.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w near:f32:2x2=1,10,2,20 pairs:f32:3x2=1,10,2,20,3,30
// RUN: python3 %tensors make %t/in x:f32:1x2x2=1,2,3,4 v:f32:1x2x1=0,8 position_ids:i32:1x2=1,5
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// 2 * 0.5 * (p_j - p_i)
// CHECK-DAG: position.0 [1, 2, 2] 0 4 -4 0{{$}}
// bf16(0.3) is 0.30078125; five times that lies halfway, and is 1.5 in bf16
// CHECK-DAG: falcon.0 [1, 2, 2] 0.6015625 3 0.6015625 3{{$}}
// entry 0 behind, 1 at and after the query
// CHECK-DAG: distance.0 [2, 2, 2] 2 2 1 2 20 20 10 20{{$}}
// CHECK-DAG: pair.0 [2, 2, 2] 1 2 3 1 10 20 30 10{{$}}
// half of the row's number times entry 2 behind, 0 at, 1 after the query
// CHECK-DAG: of_query.0 [2, 2, 2] 0.5 1 4.5 1.5 10 20 60 20{{$}}
// CHECK-DAG: of_key.0 [2, 2, 2] 0.5 3 1.5 1.5 10 40 30 20{{$}}
// head h's number of each key
// CHECK-DAG: of_key_head.0 [2, 2, 2] 1 3 1 3 2 4 2 4{{$}}
// twice the slope ln 3 / 2 on scores that are equal
// CHECK-DAG: attended [1, 2, 1] 6 6{{$}}
transformer.model @m {
  transformer.parameter @near : tensor<2x2xf32> = #transformer.stored<"w", "near", tensor<2x2xf32>>
  transformer.parameter @pairs : tensor<3x2xf32> = #transformer.stored<"w", "pairs", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x2x2xf32> {transformer.name = "x"},
      %v: tensor<?x2x1xf32> {transformer.name = "v"},
      %p: tensor<?x2xi32> {transformer.name = "position_ids"})
      -> (tensor<?x1x2x2xf32> {transformer.name = "position"},
          tensor<?x1x2x2xf32> {transformer.name = "falcon"},
          tensor<?x2x2x2xf32> {transformer.name = "distance"},
          tensor<?x2x2x2xf32> {transformer.name = "pair"},
          tensor<?x2x2x2xf32> {transformer.name = "of_query"},
          tensor<?x2x2x2xf32> {transformer.name = "of_key"},
          tensor<?x2x1xf32> {transformer.name = "attended"},
          tensor<?x2x2x2xf32> {transformer.name = "of_key_head"}) {
    %0 = transformer.position_bias %p slopes [0.5] factor 2.0 : tensor<?x2xi32> -> tensor<?x1x2x2xf32>
    %1 = transformer.position_bias %p slopes [0.3] factor 2.0 rounding bfloat16 : tensor<?x2xi32> -> tensor<?x1x2x2xf32>
    %2 = transformer.distance_bias %x table @near buckets [0, 1, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %3 = transformer.pair_bias %x table @pairs index [0, 1, 2, 0] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %4 = transformer.content_bias %x of_key false table @pairs factor 0.5 buckets [2, 0, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %5 = transformer.content_bias %x of_key true table @pairs factor 0.5 buckets [2, 0, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %n = transformer.token_numbers %x [0, 1] : tensor<?x2x2xf32> -> tensor<?x2xi32>
    %b = transformer.position_bias %n slopes [0.5493061443340549] : tensor<?x2xi32> -> tensor<?x1x2x2xf32>
    %zero = transformer.affine %v scale <constant 0.0> : tensor<?x2x1xf32>
    %6 = transformer.attend %zero, %zero, %v bias %b, %b : tensor<?x1x2x2xf32>, tensor<?x1x2x2xf32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x1xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x1xf32>
    %7 = transformer.key_head_bias %x : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x1x2x2xf32>, tensor<?x1x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x2x2xf32>
  }
}

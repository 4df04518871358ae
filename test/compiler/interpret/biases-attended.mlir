// Biases as attention adds them. Scores are 0 and values 0 and 8, so a bias of
// ln 3 on one of two keys gives it three quarters of the weight.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// ln 3 where the key comes after the query, and for pair (1, 0)
// RUN: python3 %tensors make %t/w near:f32:2x2=0,0,1.0986122886681098,0 pairs:f32:3x2=0,0,1.0986122886681098,0,0,1.0986122886681098
// ln 3 / 2 of a row's number where the key comes after the query
// RUN: python3 %tensors make %t/c content:f32:3x2=0,0,0.5493061443340549,9,0,0
// RUN: python3 %tensors make %t/in x:f32:1x2x2=2,0,4,0 v:f32:1x2x1=0,8 position_ids:i32:1x2=1,5
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: distance [1, 2, 2] 6 4 4 4{{$}}
// (0, 1) takes row 1, ln 3 for head 0; (1, 0) row 2, ln 3 for head 1
// CHECK-DAG: pair [1, 2, 2] 6 4 4 2{{$}}
// row 0 is 2: ln 3 / 2 * 2 for the key after it; row 1 has none after it
// CHECK-DAG: of_query [1, 2, 2] 6 4 4 4{{$}}
// key 1 is 4: 2 ln 3, weight 9 / 10
// CHECK-DAG: of_key [1, 2, 2] 7.2 4 4 4{{$}}
// two of ln 3 for key 1
// CHECK-DAG: several [1, 2, 2] 7.2 4 4 4{{$}}
// bf16(0.3) * 5 is 1.5 in bf16, * 1 is 0.30078125: 8 / (1 + e^-1.19921875)
// CHECK-DAG: falcon [1, 2, 2] 6.147086 4 6.147086 4{{$}}
transformer.model @m {
  transformer.parameter @near : tensor<2x2xf32> = #transformer.stored<"w", "near", tensor<2x2xf32>>
  transformer.parameter @pairs : tensor<3x2xf32> = #transformer.stored<"w", "pairs", tensor<3x2xf32>>
  transformer.parameter @content : tensor<3x2xf32> = #transformer.stored<"c", "content", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x2x2xf32> {transformer.name = "x"}, %v: tensor<?x2x1xf32> {transformer.name = "v"},
      %p: tensor<?x2xi32> {transformer.name = "position_ids"})
      -> (tensor<?x2x2xf32> {transformer.name = "distance"}, tensor<?x2x2xf32> {transformer.name = "pair"},
          tensor<?x2x2xf32> {transformer.name = "of_query"}, tensor<?x2x2xf32> {transformer.name = "of_key"},
          tensor<?x2x2xf32> {transformer.name = "several"}, tensor<?x2x2xf32> {transformer.name = "falcon"}) {
    %q = transformer.affine %x scale <constant 0.0> : tensor<?x2x2xf32>
    %k = transformer.affine %v scale <constant 0.0> : tensor<?x2x1xf32>
    %near = transformer.distance_bias %x table @near buckets [0, 0, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %0 = transformer.attend %q, %k, %v bias %near : tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    %pair = transformer.pair_bias %x table @pairs index [0, 1, 2, 0] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %1 = transformer.attend %q, %k, %v bias %pair : tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    %of_query = transformer.content_bias %x of_key false table @content factor 1.0 buckets [2, 0, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %2 = transformer.attend %q, %k, %v bias %of_query : tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    %of_key = transformer.content_bias %x of_key true table @content factor 1.0 buckets [2, 0, 1] : tensor<?x2x2xf32> -> tensor<?x2x2x2xf32>
    %3 = transformer.attend %q, %k, %v bias %of_key : tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    %4 = transformer.attend %q, %k, %v bias %near, %of_query : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    %falcon = transformer.position_bias %p slopes [0.3, 0.0] rounding bfloat16 : tensor<?x2xi32> -> tensor<?x2x2x2xf32>
    %5 = transformer.attend %q, %k, %v bias %falcon : tensor<?x2x2x2xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x2x2xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32> -> tensor<?x2x2xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>
  }
}

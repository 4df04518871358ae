// Key and value of token 2 are NaN; whoever does not see it knows nothing of it.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w decay:f32:1=0.6931471805599453 table:f32:1x1=1 sink:f32:1=0
// RUN: python3 %tensors make %t/in q:f32:1x3x1=1 k:f32:1x3x1=0,0,nan v:f32:1x3x1=1,3,nan mask:i32:1x3=1,1,0 segments:i32:1x3=0,0,1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: causal [1, 3, 1] 1 2 nan{{$}}
// CHECK-DAG: window [1, 3, 1] 1 3 nan{{$}}
// CHECK-DAG: chunk [1, 3, 1] 2 2 nan{{$}}
// CHECK-DAG: segments [1, 3, 1] 2 2 nan{{$}}
// weights 1, 1 and the sink's 1; the bias of the NaN key is a NaN too
// CHECK-DAG: masked [1, 3, 1] 1.333333 1.333333 1.333333{{$}}
// q . v is 1 and 3: 1; 1 / 2 + 9; 1 / 4 + 9 / 2
// CHECK-DAG: linear [1, 3, 1] 1 9.5 4.75{{$}}
transformer.model @m {
  transformer.parameter @decay : tensor<1xf32> = #transformer.stored<"w", "decay", tensor<1xf32>>
  transformer.parameter @table : tensor<1x1xf32> = #transformer.stored<"w", "table", tensor<1x1xf32>>
  transformer.parameter @sink : tensor<1xf32> = #transformer.stored<"w", "sink", tensor<1xf32>>
  func.func @forward(%q: tensor<?x?x1xf32> {transformer.name = "q"},
      %k: tensor<?x?x1xf32> {transformer.name = "k"},
      %v: tensor<?x?x1xf32> {transformer.name = "v"},
      %m: tensor<?x?xi32> {transformer.name = "mask"},
      %s: tensor<?x?xi32> {transformer.name = "segments"})
      -> (tensor<?x?x1xf32> {transformer.name = "causal"},
          tensor<?x?x1xf32> {transformer.name = "window"},
          tensor<?x?x1xf32> {transformer.name = "chunk"},
          tensor<?x?x1xf32> {transformer.name = "segments"},
          tensor<?x?x1xf32> {transformer.name = "masked"},
          tensor<?x?x1xf32> {transformer.name = "linear"}) {
    %0 = transformer.attend %q, %k, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %1 = transformer.attend %q, %k, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional window [1, 1]
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %2 = transformer.attend %q, %k, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional chunk 2
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %3 = transformer.attend %q, %k, %v segments %s : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %b = transformer.content_bias %k of_key true table @table factor 1.0 buckets [0] : tensor<?x?x1xf32> -> tensor<?x1x?x?xf32>
    %4 = transformer.attend %q, %k, %v key_mask %m : tensor<?x?xi32> bias %b : tensor<?x1x?x?xf32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 sink @sink mask bidirectional softcap 2.0
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %5 = transformer.linear_attend %q, %v, %v key_mask %m : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 decay @decay
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>
  }
}

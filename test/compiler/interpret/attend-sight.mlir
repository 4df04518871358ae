// Which keys a query sees. All scores are equal, so a row is the mean of the
// values it sees: 1 2 4 8 16 32.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in q:f32:1x6x1=0 v:f32:1x6x1=1,2,4,8,16,32 prefix:i32:1=3 segments:i32:1x6=0,0,1,1,1,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// j > i - 2 and j < i + 2: one to each side
// CHECK-DAG: both_sides [1, 6, 1] 1.5 2.333333 4.666667 9.333333 18.66667 24{{$}}
// the last three
// CHECK-DAG: behind [1, 6, 1] 1 1.5 2.333333 4.666667 9.333333 18.66667{{$}}
// none before token 4 from there on
// CHECK-DAG: chunks [1, 6, 1] 1 1.5 2.333333 3.75 16 24{{$}}
// the first three always; the others causally
// CHECK-DAG: prefixed [1, 6, 1] 2.333333 2.333333 2.333333 3.75 6.2 10.5{{$}}
// tokens 0, 1 and 5; tokens 2, 3 and 4
// CHECK-DAG: segmented [1, 6, 1] 11.66667 11.66667 9.333333 9.333333 9.333333 11.66667{{$}}
// two sequences of three, each causal
// CHECK-DAG: halves [1, 6, 1] 1 1.5 2.333333 8 12 18.66667{{$}}
transformer.model @m {
  func.func @forward(%q: tensor<?x6x1xf32> {transformer.name = "q"},
      %v: tensor<?x6x1xf32> {transformer.name = "v"},
      %p: tensor<?xi32> {transformer.name = "prefix"},
      %s: tensor<?x6xi32> {transformer.name = "segments"})
      -> (tensor<?x6x1xf32> {transformer.name = "both_sides"},
          tensor<?x6x1xf32> {transformer.name = "behind"},
          tensor<?x6x1xf32> {transformer.name = "chunks"},
          tensor<?x6x1xf32> {transformer.name = "prefixed"},
          tensor<?x6x1xf32> {transformer.name = "segmented"},
          tensor<?x6x1xf32> {transformer.name = "halves"}) {
    %0 = transformer.attend %q, %q, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional window [2, 2]
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    %1 = transformer.attend %q, %q, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal window [3, 0]
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    %2 = transformer.attend %q, %q, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal chunk 4
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    %3 = transformer.attend %q, %q, %v prefix %p : tensor<?xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    %4 = transformer.attend %q, %q, %v segments %s : tensor<?x6xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    %5 = transformer.attend %q, %q, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal sequences 2
      : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32> -> tensor<?x6x1xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32>, tensor<?x6x1xf32>
  }
}

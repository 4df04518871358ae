// Scores: scale, then softcap. Query 1, keys 0 and ln 3 / 2, scale 2: weights 1
// and 3 over 4. With softcap 1 both scores saturate where keys are far out:
// tanh of 100 and 200 is 1.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in q:f32:1x2x1=1 k:f32:1x2x1=0,0.549306144334 far:f32:1x2x1=50,100 v:f32:1x2x1=0,8
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: capped [1, 2, 1] 4 4{{$}}
// CHECK-DAG: scaled [1, 2, 1] 6 6{{$}}
// A NaN in a key that is not seen touches nothing.
// RUN: python3 %tensors make %t/in q:f32:1x2x1=1 k:f32:1x2x1=0,nan far:f32:1x2x1=0,0 v:f32:1x2x1=7,nan attention_mask:i32:1x2=1,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out scaled | FileCheck %s --check-prefix=NAN
// NAN: scaled [1, 2, 1] 7 7{{$}}
transformer.model @m {
  func.func @forward(%q: tensor<?x?x1xf32> {transformer.name = "q"},
      %k: tensor<?x?x1xf32> {transformer.name = "k"},
      %far: tensor<?x?x1xf32> {transformer.name = "far"},
      %v: tensor<?x?x1xf32> {transformer.name = "v"},
      %m: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"})
      -> (tensor<?x?x1xf32> {transformer.name = "scaled"},
          tensor<?x?x1xf32> {transformer.name = "capped"}) {
    %0 = transformer.attend %q, %k, %v key_mask %m : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 2.0 mask bidirectional
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    %1 = transformer.attend %q, %far, %v heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 2.0 mask bidirectional softcap 1.0
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    return %0, %1 : tensor<?x?x1xf32>, tensor<?x?x1xf32>
  }
}

// Attention among each two tokens of a run; three tokens are no whole number of them.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:1x4x1=1,3,5,9
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 4, 1] 2 2 7 7{{$}}
// RUN: python3 %tensors make %t/in x:f32:1x3x1=1,3,5
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: a batch entry has 3 and 3 tokens but sequence_tokens is 2
transformer.model @m {
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"}) -> (tensor<?x?x1xf32> {transformer.name = "y"}) {
    %y = transformer.attend %x, %x, %x heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 0.0 mask bidirectional sequence_tokens 2
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    return %y : tensor<?x?x1xf32>
  }
}

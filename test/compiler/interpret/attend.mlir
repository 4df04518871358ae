// Two query heads share one key and value head. All scores of head 0 are equal,
// so it gives the mean of the values it sees; head 1 adds slope * distance.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in q:f32:2x3x2=0 k:f32:2x3x1=1,2,3 v:f32:2x3x1=3,6,12 attention_mask:i32:2x3=1,1,0,0,0,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// causal: row 0 sees 3, row 1 sees 3 and 6, so does row 2 (key 2 is masked);
// sequence 1 sees nothing: 0
// CHECK-DAG: causal [2, 3, 2] 3 3 4.5 4.5 4.5 4.5 0 0 0 0 0 0{{$}}
// no mask, head 1 with slope ln 2: weights 1 2 4 over 7: (3 + 12 + 48) / 7 = 9
// CHECK-DAG: biased [2, 3, 2] 7 9 7 9 7 9 7 9 7 9 7 9{{$}}
transformer.model @m {
  func.func @forward(%q: tensor<?x?x2xf32> {transformer.name = "q"},
      %k: tensor<?x?x1xf32> {transformer.name = "k"},
      %v: tensor<?x?x1xf32> {transformer.name = "v"},
      %m: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"},
      %p: tensor<?x?xi32> {transformer.name = "position_ids", transformer.default = "positions"})
      -> (tensor<?x?x2xf32> {transformer.name = "causal"},
          tensor<?x?x2xf32> {transformer.name = "biased"}) {
    %0 = transformer.attend %q, %k, %v key_mask %m : tensor<?x?xi32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask causal
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    %b = transformer.position_bias %p slopes [0.0, 0.6931471805599453] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    %1 = transformer.attend %q, %k, %v bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x2xf32>
    return %0, %1 : tensor<?x?x2xf32>, tensor<?x?x2xf32>
  }
}

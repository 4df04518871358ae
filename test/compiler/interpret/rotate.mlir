// Positions 0 and 1 turn each pair by 0 and by a quarter; the second frequency
// is 0, dimension 4 of the head stays; attention_factor multiplies.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:1x2x5=1,2,3,4,5
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// half: pairs (0, 2), (1, 3): (1, 3) -> (-3, 1)
// CHECK-DAG: half [1, 2, 5] 2 4 6 8 5 -6 4 2 8 5{{$}}
// interleaved: pairs (0, 1), (2, 3): (1, 2) -> (-2, 1)
// CHECK-DAG: interleaved [1, 2, 5] 1 2 3 4 5 -2 1 3 4 5{{$}}
transformer.model @m {
  func.func @forward(%x: tensor<?x?x5xf32> {transformer.name = "x"},
      %p: tensor<?x?xi32> {transformer.name = "position_ids", transformer.default = "positions"})
      -> (tensor<?x?x5xf32> {transformer.name = "half"},
          tensor<?x?x5xf32> {transformer.name = "interleaved"}) {
    %0 = transformer.rotate %x at %p heads 1 head_dim 5 pairing half frequencies [1.5707963267948966, 0.0] attention_factor 2.0
      : tensor<?x?x5xf32>, tensor<?x?xi32>
    %1 = transformer.rotate %x at %p heads 1 head_dim 5 pairing interleaved frequencies [1.5707963267948966, 0.0]
      : tensor<?x?x5xf32>, tensor<?x?xi32>
    return %0, %1 : tensor<?x?x5xf32>, tensor<?x?x5xf32>
  }
}

// Element by element: sums, scales and shifts, bounds, gates; norms of groups.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w scalar:f32:1=2 channel:f32:4=1,2,3,4 head:f32:2=1,10 every:f32:4=1,2,3,4
// RUN: python3 %tensors make %t/in x:f32:1x1x4=3,4,6,-8 y:f32:1x1x4=1,0,-1,2
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: sum [1, 1, 4] 4 4 5 -6{{$}}
// CHECK-DAG: affine [1, 1, 4] 7 10 15 -12{{$}}
// CHECK-DAG: shifted [1, 1, 4] 4 5 7 -7{{$}}
// CHECK-DAG: clamped [1, 1, 4] 3 4 5 -5{{$}}
// relu(x) * (y + 1)
// CHECK-DAG: gated [1, 1, 4] 6 4 0 0{{$}}
// lengths 5 and 10: a weight of the group, one of every channel
// CHECK-DAG: by_group [1, 1, 4] 0.6 8 0.6 -8{{$}}
// CHECK-DAG: by_channel [1, 1, 4] 0.6 1.6 1.8 -3.2{{$}}
transformer.model @m {
  transformer.parameter @scalar : tensor<1xf32> = #transformer.stored<"w", "scalar", tensor<1xf32>>
  transformer.parameter @channel : tensor<4xf32> = #transformer.stored<"w", "channel", tensor<4xf32>>
  transformer.parameter @head : tensor<2xf32> = #transformer.stored<"w", "head", tensor<2xf32>>
  transformer.parameter @every : tensor<4xf32> = #transformer.stored<"w", "every", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %y: tensor<?x?x4xf32> {transformer.name = "y"})
      -> (tensor<?x?x4xf32> {transformer.name = "sum"}, tensor<?x?x4xf32> {transformer.name = "affine"},
          tensor<?x?x4xf32> {transformer.name = "shifted"}, tensor<?x?x4xf32> {transformer.name = "clamped"},
          tensor<?x?x4xf32> {transformer.name = "gated"}, tensor<?x?x4xf32> {transformer.name = "by_group"},
          tensor<?x?x4xf32> {transformer.name = "by_channel"}) {
    %0 = transformer.add %x, %y : tensor<?x?x4xf32>
    %1 = transformer.affine %x scale <learned_scalar @scalar> shift <learned_channel @channel> : tensor<?x?x4xf32>
    %2 = transformer.affine %x shift <constant 1.0> : tensor<?x?x4xf32>
    %3 = transformer.clamp %x low -5.0 high 5.0 : tensor<?x?x4xf32>
    %4 = transformer.gate %x, %y by relu up_offset 1.0 : tensor<?x?x4xf32>
    %5 = transformer.norm %x by <l2_norm, affine = weight, weight = @head, group = 2> : tensor<?x?x4xf32>
    %6 = transformer.norm %x by <l2_norm, affine = weight, weight = @every, group = 2> : tensor<?x?x4xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}

// Tokens out of pixels, in another order, counted, chosen.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w probe:f32:1x2=5,6
// Two channels of a 2 x 3 image; a sound of 3 steps.
// RUN: python3 %tensors make %t/in image:f32:1x2x2x3=1,2,3,4,5,6,10,20,30,40,50,60 sound:f32:1x2x3=1,2,3,10,20,30 ids:i32:1x4=7,1,9,9 x:f32:1x4x1=1,2,4,8
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// a token of zeros, then the patches at columns 0 and 1, channel by channel
// CHECK-DAG: patches [1, 3, 8] 0 0 0 0 0 0 0 0 1 2 4 5 10 20 40 50 2 3 5 6 20 30 50 60{{$}}
// three steps wide from one before the start, every second
// CHECK-DAG: sound [1, 2, 6] 0 1 2 0 10 20 2 3 0 20 30 0{{$}}
// CHECK-DAG: gathered [1, 2, 2] 4 1 0 8{{$}}
// CHECK-DAG: counted [1, 4] 1 0 2 3{{$}}
// CHECK-DAG: counted_mask [1, 4] 1 2 3 4{{$}}
// pairs of those that are not 1
// CHECK-DAG: pairs [1, 4] 0 0 0 1{{$}}
// CHECK-DAG: numbers [1, 3] 2 0 1{{$}}
// CHECK-DAG: probe [1, 1, 2] 5 6{{$}}
// CHECK-DAG: first [1, 1] 2{{$}}
// CHECK-DAG: first_id [1, 1] 4{{$}}
// CHECK-DAG: absent_id [1, 1] 1{{$}}
// CHECK-DAG: highest_id [1, 1] 4{{$}}
// CHECK-DAG: mean [1, 1] 4.666667{{$}}
transformer.model @m {
  transformer.parameter @probe : tensor<1x2xf32> = #transformer.stored<"w", "probe", tensor<1x2xf32>>
  func.func @forward(%i: tensor<?x2x2x3xf32> {transformer.name = "image"}, %s: tensor<?x2x3xf32> {transformer.name = "sound"},
      %ids: tensor<?x4xi32> {transformer.name = "ids"}, %x: tensor<?x4x1xf32> {transformer.name = "x"})
      -> (tensor<?x3x8xf32> {transformer.name = "patches"}, tensor<?x2x6xf32> {transformer.name = "sound"},
          tensor<?x2x2xf32> {transformer.name = "gathered"}, tensor<?x4xi32> {transformer.name = "counted"},
          tensor<?x4xi32> {transformer.name = "counted_mask"}, tensor<?x4xi32> {transformer.name = "pairs"}, tensor<?x3xi32> {transformer.name = "numbers"},
          tensor<?x1x2xf32> {transformer.name = "probe"}, tensor<?x1xf32> {transformer.name = "first"},
          tensor<?x1xf32> {transformer.name = "first_id"}, tensor<?x1xf32> {transformer.name = "absent_id"},
          tensor<?x1xf32> {transformer.name = "highest_id"}, tensor<?x1xf32> {transformer.name = "mean"}) {
    %0 = transformer.patches %i kernel [2, 2] stride [1, 1] padding [0, 0] prefix 1 : tensor<?x2x2x3xf32> -> tensor<?x3x8xf32>
    %1 = transformer.patches %s kernel [1, 3] stride [1, 2] padding [0, 1] : tensor<?x2x3xf32> -> tensor<?x2x6xf32>
    %2 = transformer.gather_tokens %x index [2, 0, -1, 3] group 2 : tensor<?x4x1xf32> -> tensor<?x2x2xf32>
    %3 = transformer.count_tokens %ids padding 1 : tensor<?x4xi32>
    %4 = transformer.count_tokens %ids : tensor<?x4xi32>
    %pairs = transformer.count_tokens %ids padding 1 first 0 each 2 : tensor<?x4xi32>
    %5 = transformer.token_numbers %x [2, 0, 1] : tensor<?x4x1xf32> -> tensor<?x3xi32>
    %6 = transformer.constant @probe for %x : tensor<?x4x1xf32> -> tensor<?x1x2xf32>
    %7 = transformer.pool %x by first skip 1 : tensor<?x4x1xf32> -> tensor<?x1xf32>
    %8 = transformer.pool %x ids %ids : tensor<?x4xi32> by first_id id 9 : tensor<?x4x1xf32> -> tensor<?x1xf32>
    %9 = transformer.pool %x ids %ids : tensor<?x4xi32> by first_id id 8 : tensor<?x4x1xf32> -> tensor<?x1xf32>
    %10 = transformer.pool %x ids %ids : tensor<?x4xi32> by highest_id : tensor<?x4x1xf32> -> tensor<?x1xf32>
    %11 = transformer.pool %x by mean skip 1 : tensor<?x4x1xf32> -> tensor<?x1xf32>
    return %0, %1, %2, %3, %4, %pairs, %5, %6, %7, %8, %9, %10, %11 : tensor<?x3x8xf32>, tensor<?x2x6xf32>, tensor<?x2x2xf32>, tensor<?x4xi32>, tensor<?x4xi32>, tensor<?x4xi32>, tensor<?x3xi32>, tensor<?x1x2xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// First token, last valid one, mean over valid ones; a sequence without any
// valid token has last = first and mean 0.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:2x3x1=1,3,8 attention_mask:i32:2x3=1,1,0,0,0,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: first [2, 1] 1 1{{$}}
// CHECK-DAG: last [2, 1] 3 1{{$}}
// CHECK-DAG: mean [2, 1] 2 0{{$}}
// CHECK-DAG: whole_mean [2, 1] 4 4{{$}}
transformer.model @m {
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"},
      %m: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"})
      -> (tensor<?x1xf32> {transformer.name = "first"}, tensor<?x1xf32> {transformer.name = "last"},
          tensor<?x1xf32> {transformer.name = "mean"}, tensor<?x1xf32> {transformer.name = "whole_mean"}) {
    %0 = transformer.pool %x by first : tensor<?x?x1xf32> -> tensor<?x1xf32>
    %1 = transformer.pool %x key_mask %m : tensor<?x?xi32> by last : tensor<?x?x1xf32> -> tensor<?x1xf32>
    %2 = transformer.pool %x key_mask %m : tensor<?x?xi32> by mean : tensor<?x?x1xf32> -> tensor<?x1xf32>
    %3 = transformer.pool %x by mean : tensor<?x?x1xf32> -> tensor<?x1xf32>
    return %0, %1, %2, %3 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// Each norm on rows [1, 3] and [0, 0]; eps is chosen so that numbers are round.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w g:f32:2=1,2 b:f32:2=0.5,0
// RUN: python3 %tensors make %t/in x:f32:1x2x2=1,3,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// layer_norm: mean 2, variance 1, root of 1 + 3 is 2: [-.5, .5] * g + b
// CHECK-DAG: layer [1, 2, 2] 0 1 0.5 0{{$}}
// rms_norm: mean square 5, root of 5 + 4 is 3: [1/3, 1] * (1 + g)
// CHECK-DAG: rms [1, 2, 2] 0.6666667 3 0 0{{$}}
// l2_norm: length sqrt(10), at least 4
// CHECK-DAG: l2 [1, 2, 2] 0.25 0.75 0 0{{$}}
// CHECK-DAG: same [1, 2, 2] 1 3 0 0{{$}}
transformer.model @m {
  transformer.parameter @g : tensor<2xf32> = #transformer.stored<"w", "g", tensor<2xf32>>
  transformer.parameter @b : tensor<2xf32> = #transformer.stored<"w", "b", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x2xf32> {transformer.name = "x"})
      -> (tensor<?x?x2xf32> {transformer.name = "layer"},
          tensor<?x?x2xf32> {transformer.name = "rms"},
          tensor<?x?x2xf32> {transformer.name = "l2"},
          tensor<?x?x2xf32> {transformer.name = "same"}) {
    %0 = transformer.norm %x by <layer_norm, eps = 3.0, affine = weight, weight = @g, bias = @b> : tensor<?x?x2xf32>
    %1 = transformer.norm %x by <rms_norm, eps = 4.0, affine = one_plus_weight, weight = @g> : tensor<?x?x2xf32>
    %2 = transformer.norm %x by <l2_norm, eps = 4.0> : tensor<?x?x2xf32>
    %3 = transformer.norm %x by <identity> : tensor<?x?x2xf32>
    return %0, %1, %2, %3 : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
  }
}

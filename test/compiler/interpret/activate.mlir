// Every scalar function at -1, 0, 1 and 2; gate and softcap.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:1x1x4=-1,0,1,2 u:f32:1x1x4=10
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: identity [1, 1, 4] -1 0 1 2{{$}}
// CHECK-DAG: relu [1, 1, 4] 0 0 1 2{{$}}
// CHECK-DAG: relu2 [1, 1, 4] 0 0 1 4{{$}}
// CHECK-DAG: gelu_erf [1, 1, 4] -0.1586553 0 0.841344{{[78]}} 1.9545{{$}}
// CHECK-DAG: gelu_tanh [1, 1, 4] -0.158808 0 0.841192 1.954598{{$}}
// CHECK-DAG: quick_gelu [1, 1, 4] -0.1542042 0 0.8457958 1.935659{{$}}
// CHECK-DAG: silu [1, 1, 4] -0.2689414 0 0.7310586 1.761594{{$}}
// CHECK-DAG: tanh [1, 1, 4] -0.7615942 0 0.7615942 0.9640276{{$}}
// CHECK-DAG: sigmoid [1, 1, 4] 0.2689414 0.5 0.7310586 0.8807971{{$}}
// CHECK-DAG: softplus [1, 1, 4] 0.3132617 0.6931472 1.313262 2.126928{{$}}
// CHECK-DAG: exp [1, 1, 4] 0.3678795 1 2.718282 7.389056{{$}}
// CHECK-DAG: gate [1, 1, 4] -2.689414 0 7.310586 17.61594{{$}}
// CHECK-DAG: softcap [1, 1, 4] -0.9242343 0 0.9242343 1.523188{{$}}
transformer.model @m {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %u: tensor<?x?x4xf32> {transformer.name = "u"})
      -> (tensor<?x?x4xf32> {transformer.name = "identity"}, tensor<?x?x4xf32> {transformer.name = "relu"},
          tensor<?x?x4xf32> {transformer.name = "relu2"}, tensor<?x?x4xf32> {transformer.name = "gelu_erf"},
          tensor<?x?x4xf32> {transformer.name = "gelu_tanh"}, tensor<?x?x4xf32> {transformer.name = "quick_gelu"},
          tensor<?x?x4xf32> {transformer.name = "silu"}, tensor<?x?x4xf32> {transformer.name = "tanh"},
          tensor<?x?x4xf32> {transformer.name = "sigmoid"}, tensor<?x?x4xf32> {transformer.name = "gate"},
          tensor<?x?x4xf32> {transformer.name = "softcap"}, tensor<?x?x4xf32> {transformer.name = "softplus"},
          tensor<?x?x4xf32> {transformer.name = "exp"}) {
    %0 = transformer.activate %x by identity : tensor<?x?x4xf32>
    %1 = transformer.activate %x by relu : tensor<?x?x4xf32>
    %2 = transformer.activate %x by relu2 : tensor<?x?x4xf32>
    %3 = transformer.activate %x by gelu_erf : tensor<?x?x4xf32>
    %4 = transformer.activate %x by gelu_tanh : tensor<?x?x4xf32>
    %5 = transformer.activate %x by quick_gelu : tensor<?x?x4xf32>
    %6 = transformer.activate %x by silu : tensor<?x?x4xf32>
    %7 = transformer.activate %x by tanh : tensor<?x?x4xf32>
    %8 = transformer.activate %x by sigmoid : tensor<?x?x4xf32>
    %9 = transformer.gate %x, %u by silu : tensor<?x?x4xf32>
    %10 = transformer.softcap %x cap 2.0 : tensor<?x?x4xf32>
    %11 = transformer.activate %x by softplus : tensor<?x?x4xf32>
    %12 = transformer.activate %x by exp : tensor<?x?x4xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12
      : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>,
        tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}

// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Scale and shift may be numbers, parameters, or a schedule; a bound that is
// infinite bounds nothing.
// CHECK-LABEL: transformer.model @elements
// CHECK-DAG: %[[G:.*]] = kernel.weight @g -> tensor<4xf32>
// CHECK-DAG: %[[O:.*]] = kernel.weight @one -> tensor<1xf32>
// CHECK: kernel.rows ins(%[[X:.*]], %[[G]] : tensor<?x4xf32>, tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: arith.constant 2.000000e+00
// CHECK-NEXT: %[[M:.*]] = arith.mulf %{{.*}}, %[[A]]
// CHECK-NEXT: arith.addf %[[M]], %[[B]]
// CHECK: kernel.rows ins(%{{.*}}, %[[O]] : tensor<?x4xf32>, tensor<1xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: arith.mulf %[[B]], %[[A]]
// CHECK-NEXT: yield
// CHECK: kernel.rows
// CHECK: arith.constant -7.000000e+00
// CHECK: arith.maximumf
// CHECK: arith.constant 7.000000e+00
// CHECK: arith.minimumf
// CHECK: kernel.rows
// CHECK-NOT: arith.maximumf
// CHECK: arith.minimumf
// CHECK: kernel.rows
// CHECK: %[[U:.*]] = arith.addf %{{.*}}, %cst_1
// CHECK: arith.mulf %{{.*}}, %[[U]]
transformer.model @elements {
  transformer.parameter @g : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "g", tensor<4xf32>>
  transformer.parameter @one : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "one", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.affine %x scale <constant 2.0> shift <learned_channel @g> : tensor<?x?x4xf32>
    %b = transformer.affine %a scale <learned_scalar @one> : tensor<?x?x4xf32>
    %c = transformer.clamp %b low -7.0 high 7.0 : tensor<?x?x4xf32>
    %d = transformer.clamp %b low 0xFFF0000000000000 high 7.0 : tensor<?x?x4xf32>
    %y = transformer.gate %c, %d by quick_gelu up_offset 1.0 : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// A head's norm repeats its weight, a number per column; a weight of all channels
// is one already.
// CHECK-LABEL: transformer.model @grouped_norms
// CHECK-DAG: %[[W:.*]] = kernel.weight #transformer.repeat<#transformer.plus<@w, 1.000000e+00 : f64>, 2, each = false> -> tensor<4xf32>
// CHECK-DAG: %[[B:.*]] = kernel.weight #transformer.repeat<@b, 2, each = false> -> tensor<4xf32>
// CHECK-DAG: %[[ALL:.*]] = kernel.weight @all -> tensor<4xf32>
// CHECK: kernel.rows ins(%{{.*}}, %[[W]], %[[B]] : {{.*}} norm <rms, 1.0e-06, group = 2>
// CHECK: kernel.rows ins(%{{.*}}, %[[ALL]] : {{.*}} norm <layer, 1.0e-05, group = 2>
// CHECK: kernel.rows ins({{.*}} norm <l2, 1.0e-12, group = 2>
transformer.model @grouped_norms {
  transformer.parameter @w : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<2xf32>>
  transformer.parameter @b : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "b", tensor<2xf32>>
  transformer.parameter @all : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "all", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.norm %x by <rms_norm, eps = 1.0e-6, affine = one_plus_weight, weight = @w, bias = @b, group = 2> : tensor<?x?x4xf32>
    %b = transformer.norm %a by <layer_norm, eps = 1.0e-5, affine = weight, weight = @all, group = 2> : tensor<?x?x4xf32>
    %c = transformer.norm %b by <l2_norm, eps = 1.0e-12, group = 2> : tensor<?x?x4xf32>
    return %c : tensor<?x?x4xf32>
  }
}

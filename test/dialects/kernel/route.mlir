// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @route
// CHECK: %{{.*}}:4 = kernel.route %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>) k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.000000e+00 factor 1.000000e+00 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
// CHECK: kernel.route %{{.*}} selection_bias %{{.*}} : memref<8xf32> outs({{.*}}) k 2 score sigmoid groups 4 top_groups 2 group_score sum_top2 renormalised true softmax_chosen true epsilon 9.9999999999999995E-21 factor 2.5000000000000004 : memref<?x8xf32>{{$}}
func.func @route(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<9xi32>,
    %m: memref<?x8xf32>, %s: memref<8xf32>, %w: memref<?x2xf32>, %i: memref<?xi32>, %n: memref<9xi32>) {
  %0, %1, %2, %3 = kernel.route %l outs(%a, %b, %b, %c : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  kernel.route %m selection_bias %s : memref<8xf32> outs(%w, %i, %i, %n : memref<?x2xf32>, memref<?xi32>, memref<?xi32>, memref<9xi32>)
    k 2 score sigmoid groups 4 top_groups 2 group_score sum_top2 renormalised true softmax_chosen true epsilon 1.0e-20 factor 2.5000000000000004
    : memref<?x8xf32>
  return
}

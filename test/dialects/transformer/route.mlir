// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: transformer.model @route
// CHECK: %{{.*}}, %{{.*}} = transformer.route %{{.*}} k 2 score softmax renormalised true : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
// CHECK: transformer.route %{{.*}} k 2 score sigmoid selection_bias @b groups 4 top_groups 2 group_score sum_top2 renormalised true epsilon 9.9999999999999995E-21 factor 2.5000000000000004 :
// CHECK: transformer.route %{{.*}} k 2 score softmax softmax_chosen true : tensor
transformer.model @route {
  transformer.parameter @b : tensor<8xf32> = #transformer.stored<"f", "b", tensor<8xf32>>
  func.func @forward(%logits: tensor<?x?x8xf32> {transformer.name = "logits"}) {
    %e, %w = transformer.route %logits k 2 score softmax renormalised true : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %f, %v = transformer.route %logits k 2 score sigmoid selection_bias @b groups 4 top_groups 2 group_score sum_top2 renormalised true epsilon 1.0e-20 factor 2.5000000000000004
      : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %g, %u = transformer.route %logits k 2 score softmax softmax_chosen true : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    return
  }
}

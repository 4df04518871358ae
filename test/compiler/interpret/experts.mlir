// The weights of the experts that a row takes, and what they give. Which ones
// these are is in experts-chosen.mlir.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// Logits ln 7, ln 2, ln 5, ln 6: softmax .35 .1 .25 .3. The second row ties.
// RUN: python3 %tensors make %t/w preferred:f32:4=0,1,0,0 w:f32:4x1x1=1,10,100,1000 b:f32:4x1=0.5,1,2,3
// RUN: python3 %tensors make %t/in x:f32:1x2x1=2,3 logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: plain [1, 2, 2] 0.35 0.3 0.25 0.25{{$}}
// over their sum, .65 and .5, plus .35; times 2
// CHECK-DAG: shared_out [1, 2, 2] 0.7 0.6 0.5882353 0.5882353{{$}}
// a softmax over the logits of the two
// CHECK-DAG: chosen [1, 2, 2] 0.5384615 0.4615385 0.5 0.5{{$}}
// expert 1 is preferred, but its weight does not say so
// CHECK-DAG: biased [1, 2, 2] 0.1 0.35 0.25 0.25{{$}}
// one of two groups: by its largest the first, by its sum the second
// CHECK-DAG: by_max [1, 2, 2] 0.35 0.1 0.25 0.25{{$}}
// CHECK-DAG: by_sum [1, 2, 2] 0.3 0.25 0.25 0.25{{$}}
// 7 / 8 and 6 / 7
// CHECK-DAG: sigmoid [1, 2, 2] 0.875 0.8571429 0.5 0.5{{$}}
// row 0: .35 (2 + .5) + .3 (2000 + 3); row 1: .25 (3 + .5) + .25 (30 + 1)
// CHECK-DAG: mixed [1, 2, 1] 601.775 8.625{{$}}
// the weight before the product: .7 + .5 + 600 + 3; .75 + .5 + 7.5 + 1
// CHECK-DAG: weighed_before [1, 2, 1] 604.2 9.75{{$}}
transformer.model @m {
  transformer.parameter @preferred : tensor<4xf32> = #transformer.stored<"w", "preferred", tensor<4xf32>>
  transformer.parameter @w : tensor<4x1x1xf32> = #transformer.stored<"w", "w", tensor<4x1x1xf32>>
  transformer.parameter @b : tensor<4x1xf32> = #transformer.stored<"w", "b", tensor<4x1xf32>>
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"}, %l: tensor<?x?x4xf32> {transformer.name = "logits"})
      -> (tensor<?x?x2xf32> {transformer.name = "plain"},
          tensor<?x?x2xf32> {transformer.name = "shared_out"},
          tensor<?x?x2xf32> {transformer.name = "chosen"},
          tensor<?x?x2xf32> {transformer.name = "biased"},
          tensor<?x?x2xf32> {transformer.name = "by_max"}, tensor<?x?x2xf32> {transformer.name = "by_sum"},
          tensor<?x?x2xf32> {transformer.name = "sigmoid"},
          tensor<?x?x1xf32> {transformer.name = "mixed"}, tensor<?x?x1xf32> {transformer.name = "weighed_before"}) {
    %e0, %w0 = transformer.route %l k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e1, %w1 = transformer.route %l k 2 score softmax renormalised true epsilon 0.35 factor 2.0 : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e2, %w2 = transformer.route %l k 2 score softmax softmax_chosen true : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e3, %w3 = transformer.route %l k 2 score softmax selection_bias @preferred : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e4, %w4 = transformer.route %l k 2 score softmax groups 2 top_groups 1 : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e5, %w5 = transformer.route %l k 2 score softmax groups 2 top_groups 1 group_score sum_top2 : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e6, %w6 = transformer.route %l k 2 score sigmoid : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %d = transformer.dispatch %x to %e0 : tensor<?x?x1xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x1xf32>
    %y = transformer.linear %d experts %e0 : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x1xf32> -> tensor<?x?x2x1xf32>
    %m = transformer.combine %y times %w0 : tensor<?x?x2xf32> : tensor<?x?x2x1xf32> -> tensor<?x?x1xf32>
    %g = transformer.dispatch %x to %e0 times %w0 : tensor<?x?x2xf32> : tensor<?x?x1xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x1xf32>
    %z = transformer.linear %g experts %e0 : tensor<?x?x2xi32> weight @w bias @b : tensor<?x?x2x1xf32> -> tensor<?x?x2x1xf32>
    %n = transformer.combine %z : tensor<?x?x2x1xf32> -> tensor<?x?x1xf32>
    return %w0, %w1, %w2, %w3, %w4, %w5, %w6, %m, %n : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>
  }
}

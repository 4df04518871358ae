// Which experts a row takes, largest score first; of equal ones the smaller.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// Logits ln 7, ln 2, ln 5, ln 6: softmax .35 .1 .25 .3. The second row ties.
// RUN: python3 %tensors make %t/w preferred:f32:4=0,1,0,0
// RUN: python3 %tensors make %t/in logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: plain [1, 2, 2] 0 3 0 1{{$}}
// expert 1 is preferred
// CHECK-DAG: biased [1, 2, 2] 1 0 1 0{{$}}
// one of two groups: by its largest the first, by its sum the second
// CHECK-DAG: by_max [1, 2, 2] 0 1 0 1{{$}}
// CHECK-DAG: by_sum [1, 2, 2] 3 2 0 1{{$}}
// A row of NaN takes experts that exist.
// RUN: python3 %tensors make %t/in logits:f32:1x2x4=nan
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out plain by_sum | FileCheck %s --check-prefix=NAN
// NAN: plain [1, 2, 2] 0 1 0 1{{$}}
// NAN: by_sum [1, 2, 2] 0 1 0 1{{$}}
transformer.model @m {
  transformer.parameter @preferred : tensor<4xf32> = #transformer.stored<"w", "preferred", tensor<4xf32>>
  func.func @forward(%l: tensor<?x?x4xf32> {transformer.name = "logits"})
      -> (tensor<?x?x2xi32> {transformer.name = "plain"}, tensor<?x?x2xi32> {transformer.name = "biased"},
          tensor<?x?x2xi32> {transformer.name = "by_max"}, tensor<?x?x2xi32> {transformer.name = "by_sum"}) {
    %e0, %w0 = transformer.route %l k 2 score softmax : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e1, %w1 = transformer.route %l k 2 score softmax selection_bias @preferred : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e2, %w2 = transformer.route %l k 2 score softmax groups 2 top_groups 1 : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %e3, %w3 = transformer.route %l k 2 score softmax groups 2 top_groups 1 group_score sum_top2 : tensor<?x?x4xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    return %e0, %e1, %e2, %e3 : tensor<?x?x2xi32>, tensor<?x?x2xi32>, tensor<?x?x2xi32>, tensor<?x?x2xi32>
  }
}

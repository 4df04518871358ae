// The loss that balances experts, of one layer: its rows choose 0 and 3, 0 and 1 of four.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/in logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0 experts:i32:1x2x2=0,3,0,1 losses:f32:1x2=1,2 mask:i32:1x2=1,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: shares [1, 2, 8] 1 0 0 1 0.35 0.1 0.25 0.3 1 1 0 0 0.25 0.25 0.25 0.25{{$}}
// .5 * 4 / 2^2 of the counts 2, 1, 0, 1
// CHECK-DAG: gradient [1, 2, 8] 0 0 0 0 1 0.5 0 0.5 0 0 0 0 1 0.5 0 0.5{{$}}
// .35 + .05 + .15 and .25 + .125 + .125 beside what there is
// CHECK-DAG: total [1, 2] 1.55 2.5{{$}}
// CHECK-DAG: of_logits [1, 2, 4] 0.1575 -0.00{{5|4999999}} -0.1375 -0.015 0.125 0 -0.125 0{{$}}
// .5 * 4 of the counts 1, 0, 0, 1
// CHECK-DAG: first_gradient [1, 2, 8] 0 0 0 0 2 0 0 2 0 0 0 0 0 0 0 0{{$}}
// CHECK-DAG: first [1, 2] 2.3 2{{$}}
transformer.model @m {
  func.func @forward(%l: tensor<?x?x4xf32> {transformer.name = "logits"}, %e: tensor<?x?x2xi32> {transformer.name = "experts"},
      %x: tensor<?x?xf32> {transformer.name = "losses"}, %m: tensor<?x?xi32> {transformer.name = "mask"})
      -> (tensor<?x?x8xf32> {transformer.name = "shares"}, tensor<?x?xf32> {transformer.name = "total"}, tensor<?x?x8xf32> {transformer.name = "gradient"},
          tensor<?x?x4xf32> {transformer.name = "of_logits"}, tensor<?x?xf32> {transformer.name = "first"}, tensor<?x?x8xf32> {transformer.name = "first_gradient"}) {
    %0 = transformer.route_shares %l to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x8xf32>
    %1, %2 = transformer.balance_loss %x, %0 k 2 factor 0.5 : tensor<?x?xf32>, tensor<?x?x8xf32>
    %3 = transformer.shares_gradient %2 at %l : tensor<?x?x8xf32>, tensor<?x?x4xf32>
    %4, %5 = transformer.balance_loss %x, %0 key_mask %m : tensor<?x?xi32> k 2 factor 0.5 : tensor<?x?xf32>, tensor<?x?x8xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>, tensor<?x?x8xf32>
  }
}

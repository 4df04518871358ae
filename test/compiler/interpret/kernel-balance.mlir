// The loss that balances experts; numbers as in balance.mlir.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/in logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0 losses:f32:1x2x1=1,2 mask:i32:1x2=1,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: shares [1, 2, 8] 1 0 0 1 0.35 0.1 0.25 0.3 1 1 0 0 0.25 0.25 0.25 0.25{{$}}
// CHECK-DAG: gradient [1, 2, 8] 0 0 0 0 1 0.5 0 0.5 0 0 0 0 1 0.5 0 0.5{{$}}
// CHECK-DAG: total [1, 2, 1] 1.55 2.5{{$}}
// CHECK-DAG: of_logits [1, 2, 4] 0.1575 -0.00{{5|4999999}} -0.1375 -0.015 0.125 0 -0.125 0{{$}}
// CHECK-DAG: first_gradient [1, 2, 8] 0 0 0 0 2 0 0 2 0 0 0 0 0 0 0 0{{$}}
// CHECK-DAG: first [1, 2, 1] 2.3 2{{$}}
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %l: tensor<?x4xf32> {transformer.name = "logits", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %x: tensor<?x1xf32> {transformer.name = "losses", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %m: tensor<?xi32> {transformer.name = "mask", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x8xf32> {transformer.name = "shares", transformer.shape = #transformer.shape<batch, tokens, 8>},
          tensor<?x1xf32> {transformer.name = "total", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x8xf32> {transformer.name = "gradient", transformer.shape = #transformer.shape<batch, tokens, 8>},
          tensor<?x4xf32> {transformer.name = "of_logits", transformer.shape = #transformer.shape<batch, tokens, 4>},
          tensor<?x1xf32> {transformer.name = "first", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x8xf32> {transformer.name = "first_gradient", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %rows = arith.muli %batch, %tokens : index
    %k = arith.constant 2 : index
    %slots = arith.muli %rows, %k : index
    %ow = tensor.empty(%rows) : tensor<?x2xf32>
    %oi = tensor.empty(%slots) : tensor<?xi32>
    %os = tensor.empty() : tensor<5xi32>
    %w, %o, %p, %s = kernel.route %l outs(%ow, %oi, %oi, %os : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
      k 2 score softmax groups 1 top_groups 1 group_score max renormalised false softmax_chosen false epsilon 0.0 factor 1.0
      : tensor<?x4xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>
    %o8 = tensor.empty(%rows) : tensor<?x8xf32>
    %o4 = tensor.empty(%rows) : tensor<?x4xf32>
    %o1 = tensor.empty(%rows) : tensor<?x1xf32>
    %0 = kernel.route_shares %l place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o8 : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
    %1, %2 = kernel.balance_loss %x, %0 outs(%o1, %o8 : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 0.5 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
    %3 = kernel.shares_gradient %2 at %l outs(%o4 : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %4, %5 = kernel.balance_loss %x, %0 key_mask %m : tensor<?xi32> outs(%o1, %o8 : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 0.5 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x8xf32>, tensor<?x1xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x8xf32>
  }
}

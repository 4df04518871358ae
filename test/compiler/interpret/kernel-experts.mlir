// Rows on their way to experts and back; numbers as in experts.mlir.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:4x2x1=1,2,10,20,100,200,1000,2000 b:f32:4x1=0.5,1,2,3
// RUN: python3 %tensors make %t/in x:f32:1x2x1=2,3 logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: weights [1, 2, 2] 0.35 0.3 0.25 0.25{{$}}
// row 0 takes experts 0 and 3, row 1 experts 0 and 1
// CHECK-DAG: order [4] 0 1 1 0{{$}}
// CHECK-DAG: place [4] 0 3 1 2{{$}}
// CHECK-DAG: starts [5] 0 2 3 3 4{{$}}
// CHECK-DAG: sent [4, 1] 0.7 0.75 0.75 0.6{{$}}
// first minus second product, plus the expert's bias:
// row 0: .35 (2 - 4 + .5) + .3 (2000 - 4000 + 3)
// row 1: .25 (3 - 6 + .5) + .25 (30 - 60 + 1)
// CHECK-DAG: mixed [1, 2, 1] -599.625 -7.875{{$}}
// CHECK-DAG: summed [1, 2, 1] 1.3 1.5{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<4x2x1xf32> = #transformer.stored<"w", "w", tensor<4x2x1xf32>>
  transformer.parameter @b : tensor<4x1xf32> = #transformer.stored<"w", "b", tensor<4x1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x1xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %l: tensor<?x4xf32> {transformer.name = "logits", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x2xf32> {transformer.name = "weights", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?xi32> {transformer.name = "order"}, tensor<?xi32> {transformer.name = "place"},
          tensor<5xi32> {transformer.name = "starts"}, tensor<?x1xf32> {transformer.name = "sent"},
          tensor<?x1xf32> {transformer.name = "mixed", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "summed", transformer.shape = #transformer.shape<batch, tokens, 1>}) {
    %rows = arith.muli %batch, %tokens : index
    %k = arith.constant 2 : index
    %slots = arith.muli %rows, %k : index
    %ow = tensor.empty(%rows) : tensor<?x2xf32>
    %oi = tensor.empty(%slots) : tensor<?xi32>
    %os = tensor.empty() : tensor<5xi32>
    %w, %o, %p, %s = kernel.route %l outs(%ow, %oi, %oi, %os : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
      k 2 score softmax groups 1 top_groups 1 group_score max renormalised false softmax_chosen false epsilon 0.0 factor 1.0
      : tensor<?x4xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>
    %od = tensor.empty(%slots) : tensor<?x1xf32>
    %sent = kernel.dispatch %x order %o : tensor<?xi32> place %p : tensor<?xi32> times %w : tensor<?x2xf32> outs(%od : tensor<?x1xf32>) k 2 : tensor<?x1xf32> -> tensor<?x1xf32>
    %d = kernel.dispatch %x order %o : tensor<?xi32> place %p : tensor<?xi32> outs(%od : tensor<?x1xf32>) k 2 : tensor<?x1xf32> -> tensor<?x1xf32>
    %weight = kernel.weight @w -> tensor<4x2x1xf32>
    %bias = kernel.weight @b -> tensor<4x1xf32>
    %y = kernel.matmul %d, %weight starts %s : tensor<5xi32> extras(%bias : tensor<4x1xf32>) outs(%od : tensor<?x1xf32>) accumulators 2 {
    ^bb0(%first: f32, %second: f32, %add: f32):
      %0 = arith.subf %first, %second : f32
      %1 = arith.addf %0, %add : f32
      kernel.yield %1 : f32
    } : tensor<?x1xf32>, tensor<4x2x1xf32> -> tensor<?x1xf32>
    %oc = tensor.empty(%rows) : tensor<?x1xf32>
    %m = kernel.combine %y place %p : tensor<?xi32> times %w : tensor<?x2xf32> outs(%oc : tensor<?x1xf32>) k 2 : tensor<?x1xf32> -> tensor<?x1xf32>
    %n = kernel.combine %sent place %p : tensor<?xi32> outs(%oc : tensor<?x1xf32>) k 2 : tensor<?x1xf32> -> tensor<?x1xf32>
    return %w, %o, %p, %s, %sent, %m, %n : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}

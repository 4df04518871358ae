// The way back from experts; the routing is that of kernel-experts.mlir.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:4x2x1=1,2,10,20,100,200,1000,2000 g:f32:4x1x1=100,200,300,400
// RUN: python3 %tensors make %t/in x:f32:1x2x1=2,3 logits:f32:1x2x4=1.9459101490553132,0.6931471805599453,1.6094379124341003,1.791759469228055,0,0,0,0 gw:f32:1x2x2=1,0,2,1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// row 0 of softmax .35 .1 .25 .3, of which 0 and 3 are chosen; row 1 of four .25
// CHECK-DAG: of_logits [1, 2, 4] 0.2275 -0.035 -0.0875 -0.105 0.3125 0.0625 -0.1875 -0.1875{{$}}
// .7 * 2, .6 * 2, .75 * 3 twice
// CHECK-DAG: of_weights [1, 2, 2] 1.4 1.2 2.25 2.25{{$}}
// CHECK-DAG: experts [4] 0 0 1 3{{$}}
// .7 * 2 + .75 * 3 for expert 0, beside what was there; none for expert 2
// CHECK-DAG: gradient [4, 1, 1] 103.65 202.25 300 401.2{{$}}
// CHECK-DAG: packed.0 [1, 2, 2] 1 0 2 0{{$}}
// CHECK-DAG: packed.3 [1, 2, 2] 1000 0 2000 0{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<4x2x1xf32> = #transformer.stored<"w", "w", tensor<4x2x1xf32>>
  transformer.parameter @g : tensor<4x1x1xf32> = #transformer.stored<"w", "g", tensor<4x1x1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x1xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %l: tensor<?x4xf32> {transformer.name = "logits", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %gw: tensor<?x2xf32> {transformer.name = "gw", transformer.shape = #transformer.shape<batch, tokens, 2>})
      -> (tensor<?x4xf32> {transformer.name = "of_logits", transformer.shape = #transformer.shape<batch, tokens, 4>},
          tensor<?x2xf32> {transformer.name = "of_weights", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?xi32> {transformer.name = "experts"}, tensor<4x1x1xf32> {transformer.name = "gradient"},
          tensor<4x1x2x2xf32> {transformer.name = "packed"}) {
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
    %ol = tensor.empty(%rows) : tensor<?x4xf32>
    %0 = kernel.route_gradient %gw at %l place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%ol : tensor<?x4xf32>)
      score softmax renormalised false softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %1 = kernel.slot_products %sent, %x place %p : tensor<?xi32> outs(%ow : tensor<?x2xf32>) : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %2 = kernel.experts %s outs(%oi : tensor<?xi32>) : tensor<5xi32> -> tensor<?xi32>
    %g = kernel.weight @g -> tensor<4x1x1xf32>
    %3 = kernel.weight_gradient %sent, %d starts %s : tensor<5xi32> outs(%g : tensor<4x1x1xf32>) : tensor<?x1xf32>, tensor<?x1xf32> -> tensor<4x1x1xf32>
    %weight = kernel.weight @w -> tensor<4x2x1xf32>
    %op = tensor.empty() : tensor<4x1x2x2xf32>
    %4 = kernel.pack %weight transposed starts %s : tensor<5xi32> outs(%op : tensor<4x1x2x2xf32>) : tensor<4x2x1xf32> -> tensor<4x1x2x2xf32>
    return %0, %1, %2, %3, %4 : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?xi32>, tensor<4x1x1xf32>, tensor<4x1x2x2xf32>
  }
}

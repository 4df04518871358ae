// The kernels of a training step, each by hand.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in gy:f32:1x2x2=1,2,3,4 x:f32:1x2x3=1,0,2,0,1,1 ids:i32:1x2=1,1 n:f32:1x2x2=3,4,3,4 z:f32:1x2x2=0,1.0986122886681098,0,0 y:i32:1x2=1,-100 times:f32:1=0.5 q:f32:1x2x1=1,2 k:f32:1x2x1=1,1 v:f32:1x2x1=1,3 g:f32:1x2x1=1,1 mask:i32:1x2=1,1 step:i32:1=5 first:i32:1=3
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// What the outs held is added to: 10 at the weight's first number.
// CHECK-DAG: weight [2, 3] 11 3 5 2 4 8{{$}}
// CHECK-DAG: columns [2] 11 20{{$}}
// CHECK-DAG: whole [1] 11{{$}}
// CHECK-DAG: places [2] 7 4{{$}}
// CHECK-DAG: table [3, 2] 0 0 4 6 0 0{{$}}
// rms of [3, 4] is 5 / sqrt 2, so h = sqrt 2 [0.6, 0.8] and r = sqrt 2 / 5: of token 0
// q = [0.5, 2], r (q - h mean(q h))
// CHECK-DAG: normed [2, 2] 0.8485281 1.131371 0.8485281 1.131371{{$}}
// CHECK-DAG: to_norm [2, 2] -0.1810193 0.1357645 -0.271529 0.2036467{{$}}
// CHECK-DAG: losses [2, 1] 0.143841 0{{$}}
// CHECK-DAG: to_logits [2, 2] 0.125 -0.125 0 0{{$}}
// CHECK-DAG: turned [3, 2] 1 4 2 5 3 6{{$}}
// Token 1 sees both keys alike: their values are apart by 2.
// CHECK-DAG: dk [2, 1] -1 1{{$}}
// CHECK-DAG: dv [2, 1] 1.5 0.5{{$}}
// CHECK-DAG: dq [2, 1] 0 0{{$}}
// With a sink of score 2 it gives a third away, and token 0 more.
// CHECK-DAG: by_distance [2, 3] 0 0.1966119 0 -0.1111111 0.5555556 0{{$}}
// CHECK-DAG: to_sink [2, 1] -0.1966119 -0.4444444{{$}}
// A bias of each pair, and one of each key: token 1 gives half to both.
// CHECK-DAG: by_pair [2, 2] 0 0 -0.5 0.5{{$}}
// CHECK-DAG: by_key [2, 1] -0.5 0.5{{$}}
// CHECK-DAG: pairs [2, 1] 10.5 -0.5{{$}}
// CHECK-DAG: shifted [2] 3 3{{$}}
// CHECK-DAG: spread [2, 2] 0 10 10 0{{$}}
// CHECK-DAG: of_mean [2, 2] 3 4 3 4{{$}}
// CHECK-DAG: of_last [2, 2] 0 0 6 8{{$}}
// Words of Philox by another program: the first number of token 1 goes.
// CHECK-DAG: dropped [2, 2] 2 4 0 8{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<2x3xf32> = #transformer.numbers<[10.0, 0.0, 0.0, 0.0, 0.0, 0.0], tensor<2x3xf32>>
  transformer.parameter @t : tensor<3x2xf32> = #transformer.numbers<[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], tensor<3x2xf32>>
  transformer.parameter @c : tensor<2xf32> = #transformer.numbers<[1.0, 0.0], tensor<2xf32>>
  transformer.parameter @one : tensor<1xf32> = #transformer.numbers<[1.0], tensor<1xf32>>
  transformer.parameter @half : tensor<2xf32> = #transformer.numbers<[0.5, 1.0], tensor<2xf32>>
  transformer.parameter @m : tensor<2x3xf32> = #transformer.numbers<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], tensor<2x3xf32>>
  transformer.parameter @two : tensor<1xf32> = #transformer.numbers<[2.0], tensor<1xf32>>
  transformer.parameter @none : tensor<1x3xf32> = #transformer.numbers<[0.0, 0.0, 0.0], tensor<1x3xf32>>
  transformer.parameter @four : tensor<1x4xf32> = #transformer.numbers<[0.0, 0.0, 0.0, 0.0], tensor<1x4xf32>>
  transformer.parameter @pairs : tensor<2x1xf32> = #transformer.numbers<[10.0, 0.0], tensor<2x1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %gy: tensor<?x2xf32> {transformer.name = "gy", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %x: tensor<?x3xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 3>},
      %ids: tensor<?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, tokens>},
      %n: tensor<?x2xf32> {transformer.name = "n", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %z: tensor<?x2xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %y: tensor<?xi32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens>},
      %times: tensor<1xf32> {transformer.name = "times"},
      %q: tensor<?x1xf32> {transformer.name = "q", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %k: tensor<?x1xf32> {transformer.name = "k", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %v: tensor<?x1xf32> {transformer.name = "v", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %g: tensor<?x1xf32> {transformer.name = "g", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %mask: tensor<?xi32> {transformer.name = "mask", transformer.shape = #transformer.shape<batch, tokens>},
      %step: tensor<1xi32> {transformer.name = "step"}, %first: tensor<1xi32> {transformer.name = "first"})
      -> (tensor<2x3xf32> {transformer.name = "weight"}, tensor<2xf32> {transformer.name = "columns"},
          tensor<1xf32> {transformer.name = "whole"}, tensor<2xf32> {transformer.name = "places"},
          tensor<3x2xf32> {transformer.name = "table"},
          tensor<?x2xf32> {transformer.name = "to_norm"}, tensor<?x2xf32> {transformer.name = "normed"},
          tensor<?x1xf32> {transformer.name = "losses"}, tensor<?x2xf32> {transformer.name = "to_logits"},
          tensor<3x2xf32> {transformer.name = "turned"},
          tensor<?x1xf32> {transformer.name = "dk"}, tensor<?x1xf32> {transformer.name = "dv"}, tensor<?x1xf32> {transformer.name = "dq"},
          tensor<?x3xf32> {transformer.name = "by_distance"}, tensor<?x1xf32> {transformer.name = "to_sink"},
          tensor<?xi32> {transformer.name = "shifted"}, tensor<2x2xf32> {transformer.name = "spread"},
          tensor<?x2xf32> {transformer.name = "of_mean"}, tensor<?x2xf32> {transformer.name = "of_last"},
          tensor<?x2xf32> {transformer.name = "dropped"}, tensor<?x2xf32> {transformer.name = "by_pair"},
          tensor<?x1xf32> {transformer.name = "by_key"}, tensor<2x1xf32> {transformer.name = "pairs"}) {
    %rows = arith.muli %batch, %tokens : index
    %o1 = tensor.empty(%rows) : tensor<?x1xf32>
    %o2 = tensor.empty(%rows) : tensor<?x2xf32>
    %o3 = tensor.empty(%rows) : tensor<?x3xf32>
    %oi = tensor.empty(%rows) : tensor<?xi32>
    %ob = tensor.empty(%batch) : tensor<?xi32>
    %w = kernel.weight @w -> tensor<2x3xf32>
    %0 = kernel.weight_gradient %gy, %x outs(%w : tensor<2x3xf32>) : tensor<?x2xf32>, tensor<?x3xf32> -> tensor<2x3xf32>
    %c = kernel.weight @c -> tensor<2xf32>
    %1 = kernel.column_sums ins(%gy, %gy : tensor<?x2xf32>, tensor<?x2xf32>) outs(%c : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      kernel.yield %p : f32
    } -> tensor<2xf32>
    %one = kernel.weight @one -> tensor<1xf32>
    %2 = kernel.column_sums ins(%gy : tensor<?x2xf32>) outs(%one : tensor<1xf32>) {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<1xf32>
    %3 = kernel.column_sums ins(%gy : tensor<?x2xf32>) outs(%c : tensor<2xf32>) to [1, 0] {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<2xf32>
    %t = kernel.weight @t -> tensor<3x2xf32>
    %4 = kernel.embed_gradient %gy at %ids outs(%t : tensor<3x2xf32>) : tensor<?x2xf32>, tensor<?xi32> -> tensor<3x2xf32>
    %half = kernel.weight @half -> tensor<2xf32>
    %5:2 = kernel.norm_backward %gy, %n weight %half : tensor<2xf32> outs(%o2, %o2 : tensor<?x2xf32>, tensor<?x2xf32>) norm <rms, 0.0>
      : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>, tensor<?x2xf32>
    %6:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %times : tensor<1xf32> losses(%o1 : tensor<?x1xf32>) gradient(%o2 : tensor<?x2xf32>)
      : tensor<?x2xf32> -> tensor<?x1xf32>, tensor<?x2xf32>
    %m = kernel.weight @m -> tensor<2x3xf32>
    %ot = tensor.empty() : tensor<3x2xf32>
    %7 = kernel.pack %m transposed outs(%ot : tensor<3x2xf32>) : tensor<2x3xf32> -> tensor<3x2xf32>
    %8:3 = kernel.attention_backward %q, %k, %v gradient %g : tensor<?x1xf32> queries %tokens keys %tokens
      outs(%o1, %o1, %o1 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal true
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
    %sink = kernel.weight @two -> tensor<1xf32>
    %bias = kernel.weight @none -> tensor<1x3xf32>
    %9:5 = kernel.attention_backward %q, %k, %v gradient %g : tensor<?x1xf32> sink %sink : tensor<1xf32> bias %bias : tensor<1x3xf32> queries %tokens keys %tokens
      outs(%o1, %o1, %o3, %o1, %o1 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal true bias_by distance
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>
    %10 = kernel.shift %ids by 2 outs(%oi : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
    %os = tensor.empty() : tensor<2x2xf32>
    %11 = kernel.spread %w from [3, 0, 0, 1] outs(%os : tensor<2x2xf32>) : tensor<2x3xf32> -> tensor<2x2xf32>
    %sum = tensor.empty(%batch) : tensor<?x2xf32>
    %12 = kernel.rows ins(%half : tensor<2xf32>) outs(%sum : tensor<?x2xf32>) gather [-1] {
    ^bb0(%a: f32):
      %e = arith.constant 4.0 : f32
      %f = arith.mulf %a, %e : f32
      %h = arith.addf %f, %e : f32
      kernel.yield %h : f32
    } -> tensor<?x2xf32>
    %13 = kernel.pool_gradient %12 key_mask %mask : tensor<?xi32> tokens %tokens skip 0 outs(%o2 : tensor<?x2xf32>) : tensor<?x2xf32> -> tensor<?x2xf32>
    %last = kernel.pool_index of %mask : tensor<?xi32> tokens %tokens kind last skip 0 id 0 outs(%ob : tensor<?xi32>) -> tensor<?xi32>
    %14 = kernel.pool_gradient %12 index %last : tensor<?xi32> tokens %tokens skip 0 outs(%o2 : tensor<?x2xf32>) : tensor<?x2xf32> -> tensor<?x2xf32>
    %15 = kernel.dropout %gy step %step first %first tokens %tokens rate 0.5 seed 1 site 2 outs(%o2 : tensor<?x2xf32>) : tensor<?x2xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x2xf32>
    %four = kernel.weight @four -> tensor<1x4xf32>
    %none = kernel.rows ins(%k : tensor<?x1xf32>) outs(%o1 : tensor<?x1xf32>) gather [-1] {
    ^bb0(%a: f32):
      %e = arith.subf %a, %a : f32
      kernel.yield %e : f32
    } -> tensor<?x1xf32>
    %16:5 = kernel.attention_backward %q, %k, %v gradient %g : tensor<?x1xf32> key_head_bias %none : tensor<?x1xf32> bias %four : tensor<1x4xf32> queries %tokens keys %tokens
      outs(%o1, %o1, %o1, %o2, %o1 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal true bias_by pair key_head_gradient
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x1xf32>
    %pairs = kernel.weight @pairs -> tensor<2x1xf32>
    %17 = kernel.pair_sums %16#3 index [0, 1, 1, 0] outs(%pairs : tensor<2x1xf32>) : tensor<?x2xf32> -> tensor<2x1xf32>
    return %0, %1, %2, %3, %4, %5#0, %5#1, %6#0, %6#1, %7, %8#0, %8#1, %8#2, %9#2, %9#3, %10, %11, %13, %14, %15, %16#3, %16#2, %17
      : tensor<2x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<3x2xf32>,
        tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?xi32>, tensor<2x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<2x1xf32>
  }
}

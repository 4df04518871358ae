// One buffer holds query, key and value; rotation by half turns per position;
// slopes by distance; keys that the mask hides are not seen.
// RUN: rm -rf %t && mkdir %t
// Queries 0: every seen key weighs the same, but for slope ln 2 per position.
// RUN: python3 %tensors make %t/in x:f32:2x3x6=0,0,1,1,3,30,0,0,1,1,6,60,0,0,1,1,12,120 attention_mask:i32:2x3=1,1,1,1,1,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out slopes causal | FileCheck %s
// 1 2 4 over 7, then 1 2 over 3
// CHECK-DAG: slopes [2, 3, 2] 9 90 9 90 9 90 5 50 5 50 5 50{{$}}
// CHECK-DAG: causal [2, 3, 2] 3 30 4.5 45 7 70 3 30 4.5 45 4.5 45{{$}}
// Positions 0 and 1, half a turn: score of query 0 and key 0 is 1, of query 0
// and key 1 is -1, and so on: weights by exp(ln 3 * score / 2): 3/4 and 1/4.
// RUN: python3 %tensors make %t/in x:f32:1x2x6=1,0,1,0,0,0,1,0,1,0,4,8
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out rotated | FileCheck %s --check-prefix=TURN
// TURN: rotated [1, 2, 2] 1 2 3 6{{$}}
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x6xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 6>},
      %mask: tensor<?xi32> {transformer.name = "attention_mask", transformer.default = "ones", transformer.shape = #transformer.shape<batch, tokens>},
      %positions: tensor<?xi32> {transformer.name = "position_ids", transformer.default = "positions", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x2xf32> {transformer.name = "slopes", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "causal", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "rotated", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %t = tensor.empty(%rows) : tensor<?x2xf32>
    %turn = kernel.rotation %positions frequencies [3.141592653589793] factor 1.0 outs(%t : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
    %o = tensor.empty(%rows) : tensor<?x2xf32>
    %0 = kernel.attention %x, %x, %x key_mask %mask : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 1 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 2, 4] scale 1.0 causal false slopes [0.6931471805599453]
      : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32> -> tensor<?x2xf32>
    %p = tensor.empty(%rows) : tensor<?x2xf32>
    %1 = kernel.attention %x, %x, %x key_mask %mask : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%p : tensor<?x2xf32>)
      heads 1 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 2, 4] scale 1.0 causal true
      : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32> -> tensor<?x2xf32>
    %q = tensor.empty(%rows) : tensor<?x2xf32>
    %2 = kernel.attention %x, %x, %x rotation %turn : tensor<?x2xf32> queries %tokens keys %tokens first %zero outs(%q : tensor<?x2xf32>)
      heads 1 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 2, 4] scale 0.5493061443340549 causal false
      : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32> -> tensor<?x2xf32>
    return %0, %1, %2 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
  }
}

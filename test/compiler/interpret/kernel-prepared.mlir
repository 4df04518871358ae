// What the runtime prepares: positions, factors of queries, tokens, rows to pool.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in ids:i32:2x3=7,1,9,1,9,9 mask:i32:2x3=1,1,0,1,1,1 x:f32:2x3x4=1,2,3,4,5,6,7,8,9,10,11,12 sound:f32:2x2x3=1,2,3,10,20,30 position_ids:i32:2x3=0,1,5
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: alibi [6, 1] 0 0.6015625 3 0 0.6015625 3{{$}}
// the longest run is 6 long, over 1: a quarter turn per position
// CHECK-DAG: turned [2, 3, 4] 1 2 3 4 5 6 -8 7 9 10 -12 11 1 2 3 4 5 6 -8 7 9 10 -12 11{{$}}
// log of the number of keys, base 2: two, then three
// CHECK-DAG: log_keys [6, 1] 1 1 1 1.584962 1.584962 1.584962{{$}}
// only those up to the query, and at most the two before it and itself
// CHECK-DAG: causal_keys [6, 1] 0 1 0 0 1 1{{$}}
// CHECK-DAG: numbers [4] 3 4 3 4{{$}}
// CHECK-DAG: counted [2, 3] 1 0 2 0 1 2{{$}}
// CHECK-DAG: gathered [4, 8] 9 10 11 12 1 2 3 4 0 0 0 0 5 6 7 8 9 10 11 12 1 2 3 4 0 0 0 0 5 6 7 8{{$}}
// CHECK-DAG: patches [4, 6] 0 1 2 0 10 20 2 3 0 20 30 0 0 1 2 0 10 20 2 3 0 20 30 0{{$}}
// CHECK-DAG: second [2] 1 4{{$}}
// CHECK-DAG: last [2] 1 5{{$}}
// CHECK-DAG: first_id [2] 2 4{{$}}
// CHECK-DAG: highest_id [2] 2 4{{$}}
// CHECK-DAG: mean [2, 4] 5 6 7 8 7 8 9 10{{$}}
// CHECK-DAG: grouped [2, 3, 4] 0.4472136 0.8944272 0.6 0.8
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %ids: tensor<?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, tokens>},
      %mask: tensor<?xi32> {transformer.name = "mask", transformer.shape = #transformer.shape<batch, tokens>},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %sound: tensor<?x6xf32> {transformer.name = "sound", transformer.shape = #transformer.shape<batch, 2, 3>},
      %positions: tensor<?xi32> {transformer.name = "position_ids", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x1xf32> {transformer.name = "alibi"},
          tensor<?x4xf32> {transformer.name = "turned", transformer.shape = #transformer.shape<batch, tokens, 4>},
          tensor<?x1xf32> {transformer.name = "log_keys"}, tensor<?x1xf32> {transformer.name = "causal_keys"},
          tensor<?xi32> {transformer.name = "numbers"},
          tensor<?xi32> {transformer.name = "counted", transformer.shape = #transformer.shape<batch, tokens>},
          tensor<?x8xf32> {transformer.name = "gathered"}, tensor<?x6xf32> {transformer.name = "patches"},
          tensor<?xi32> {transformer.name = "second"}, tensor<?xi32> {transformer.name = "last"},
          tensor<?xi32> {transformer.name = "first_id"}, tensor<?xi32> {transformer.name = "highest_id"},
          tensor<?x4xf32> {transformer.name = "mean"},
          tensor<?x4xf32> {transformer.name = "grouped", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %o1 = tensor.empty(%rows) : tensor<?x1xf32>
    %o2 = tensor.empty(%rows) : tensor<?x2xf32>
    %o4 = tensor.empty(%rows) : tensor<?x4xf32>
    %oi = tensor.empty(%rows) : tensor<?xi32>
    %ob = tensor.empty(%batch) : tensor<?xi32>
    %two = arith.constant 2 : index
    %twice = arith.muli %batch, %two : index
    %0 = kernel.alibi %positions slopes [0.3] factor 2.0 outs(%o1 : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
    %r = kernel.rotation %positions frequencies [3.141592653589793] factor 1.0 long <after = 1, frequencies = [1.5707963267948966]> outs(%o2 : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
    %1 = kernel.rotate %x by %r outs(%o4 : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 2
      : tensor<?x4xf32>, tensor<?x2xf32> -> tensor<?x4xf32>
    %2 = kernel.query_scale key_mask %mask : tensor<?xi32> tokens %tokens scale <log_keys, base = 2.0> causal false outs(%o1 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %3 = kernel.query_scale key_mask %mask : tensor<?xi32> tokens %tokens scale <log_keys, base = 2.0> causal true window [2, 0] outs(%o1 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %on = tensor.empty(%twice) : tensor<?xi32>
    %4 = kernel.token_numbers [3, 4] outs(%on : tensor<?xi32>) -> tensor<?xi32>
    %5 = kernel.count_tokens %ids tokens %tokens padding 1 outs(%oi : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
    %og = tensor.empty(%twice) : tensor<?x8xf32>
    %6 = kernel.gather_tokens %x index [2, 0, -1, 1] group 2 tokens 3 outs(%og : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
    %op = tensor.empty(%twice) : tensor<?x6xf32>
    %7 = kernel.patches %sound image [2, 1, 3] kernel [1, 3] stride [1, 2] padding [0, 1] prefix 0 outs(%op : tensor<?x6xf32>) : tensor<?x6xf32> -> tensor<?x6xf32>
    %8 = kernel.pool_index tokens %tokens kind first skip 1 id 0 outs(%ob : tensor<?xi32>) -> tensor<?xi32>
    %9 = kernel.pool_index of %mask : tensor<?xi32> tokens %tokens kind last skip 0 id 0 outs(%ob : tensor<?xi32>) -> tensor<?xi32>
    %10 = kernel.pool_index of %ids : tensor<?xi32> tokens %tokens kind first_id skip 0 id 9 outs(%ob : tensor<?xi32>) -> tensor<?xi32>
    %11 = kernel.pool_index of %ids : tensor<?xi32> tokens %tokens kind highest_id skip 0 id 0 outs(%ob : tensor<?xi32>) -> tensor<?xi32>
    %om = tensor.empty(%batch) : tensor<?x4xf32>
    %12 = kernel.pool_mean %x key_mask %mask : tensor<?xi32> tokens %tokens skip 1 outs(%om : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %13 = kernel.rows ins(%x : tensor<?x4xf32>) outs(%o4 : tensor<?x4xf32>) gather [-1] norm <l2, 0.0, group = 2> {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x4xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}

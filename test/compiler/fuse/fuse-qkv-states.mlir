// Projections whose keys and values a state remembers: one matmul, RoPE of
// queries and keys at once, and appends from columns of both.
// RUN: %mille-opt %s --fuse-qkv --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-qkv --fuse-qkv --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: transformer.model @turned
// CHECK: launches_saved = 3 : i64, layers = "", reason = "one matmul", status = "fused", unit = "a"
// CHECK: %[[W:.*]] = kernel.weight #transformer.concat<@a.q.weight, @a.k.weight, @a.v.weight> -> tensor<16x4xf32>
// CHECK: %[[QKV:.*]] = kernel.matmul %{{.*}}, %[[W]]
// CHECK: %[[QK:.*]] = kernel.rotate %[[QKV]] by %{{.*}} outs(%{{.*}} : tensor<?x12xf32>) heads 3 head_dim 4 pairing  half start 0 : tensor<?x16xf32>
// CHECK-NOT: kernel.rotate
// CHECK: %[[K:.*]] = kernel.remember %[[QK]] past {{.*}} {kernel.from = 8 : i64} : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK-NEXT: %[[V:.*]] = kernel.remember %[[QKV]] past {{.*}} {kernel.from = 12 : i64} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: kernel.attention %[[QK]], %[[K]], %[[V]] {{.*}} offsets [0, 0, 0]
transformer.model @turned {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @not_turned
// CHECK: launches_saved = 2 : i64, layers = "", reason = "one matmul", status = "fused", unit = "a"
// CHECK: %[[QKV:.*]] = kernel.matmul {{.*}} outs(%{{.*}} : tensor<?x16xf32>)
// CHECK: %[[K:.*]] = kernel.remember %[[QKV]] past {{.*}} {kernel.from = 8 : i64}
// CHECK-NEXT: %[[V:.*]] = kernel.remember %[[QKV]] past {{.*}} {kernel.from = 12 : i64}
// CHECK: kernel.attention %[[QKV]], %[[K]], %[[V]] {{.*}} offsets [0, 0, 0]
transformer.model @not_turned {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %k past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %q, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Values of another input stay a matmul of their own.
// CHECK-LABEL: transformer.model @values_apart
// CHECK: reason = "query and key in one matmul: query, key and value are projections of different inputs", status = "fused"
// CHECK: %[[V:.*]] = kernel.matmul {{.*}} outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: %[[QK:.*]] = kernel.matmul {{.*}} outs(%{{.*}} : tensor<?x12xf32>)
// CHECK: %[[TURNED:.*]] = kernel.rotate %[[QK]]
// CHECK: kernel.remember %[[V]] past
// CHECK: kernel.remember %[[TURNED]] past {{.*}} {kernel.from = 8 : i64}
transformer.model @values_apart {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %z, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_stored_in_different_types
// CHECK: reason = "the projections' weights are stored in different types", status = "declined: law", unit = "a"
// CHECK-NOT: kernel.from
// REMARK: declined: law: the projections' weights are stored in different types
transformer.model @keep_as_stored_in_different_types {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>> dtype "q4_k"
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>> dtype "q6_k"
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>> dtype "q4_k"
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_turned_differently
// CHECK: reason = "query and key are turned differently", status = "declined: law", unit = "a"
// CHECK-NOT: kernel.from
// REMARK: declined: law: query and key are turned differently
transformer.model @keep_as_turned_differently {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing interleaved start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_key_is_not_turned
// CHECK: reason = "query and key are turned differently", status = "declined: law", unit = "a"
// CHECK-NOT: kernel.from
// REMARK: declined: law: query and key are turned differently
transformer.model @keep_as_key_is_not_turned {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %k past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_projection_has_another_reader
// CHECK: reason = "a projection has another reader", status = "declined: missing", unit = "a"
// CHECK-NOT: kernel.from
// REMARK: declined: missing: a projection has another reader
transformer.model @keep_as_projection_has_another_reader {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}, tensor<?x8xf32> {transformer.name = "q", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %eu = tensor.empty(%rows) : tensor<?x8xf32>
    %u = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%eu : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %u, %q : tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_state_has_another_reader
// CHECK: reason = "something else reads what is remembered", status = "declined: law", unit = "a"
// CHECK-NOT: kernel.from
// REMARK: declined: law: something else reads what is remembered
transformer.model @keep_as_state_has_another_reader {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}, tensor<?x4xf32> {transformer.name = "k", transformer.shape = #transformer.shape<batch, context, 4>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %v past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %eu = tensor.empty(%rows) : tensor<?x8xf32>
    %u = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%eu : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %u, %sk : tensor<?x8xf32>, tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @values_are_turned
// CHECK: reason = "query and key in one matmul: values are turned", status = "fused"
// CHECK: kernel.remember {{.*}} {kernel.from = 8 : i64}
// CHECK-NOT: kernel.from
transformer.model @values_are_turned {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @next(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %r: tensor<?x4xf32> {transformer.name = "r", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x4xf32> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>},
      %values: tensor<1x?x4xf32> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 4>})
      -> (tensor<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x8xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x8xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %oq = tensor.empty(%rows) : tensor<?x8xf32>
    %rq = kernel.rotate %q by %r outs(%oq : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    %ok = tensor.empty(%rows) : tensor<?x4xf32>
    %rk = kernel.rotate %k by %r outs(%ok : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hk = kernel.recall 0 of %keys rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sk = kernel.remember %rk past %past : tensor<?xi32> rows %context outs(%hk : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ov = tensor.empty(%rows) : tensor<?x4xf32>
    %rv = kernel.rotate %v by %r outs(%ov : tensor<?x4xf32>) heads 1 head_dim 4 pairing half start 0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %hv = kernel.recall 0 of %values rows %held : tensor<1x?x4xf32> -> tensor<?x4xf32>
    %sv = kernel.remember %rv past %past : tensor<?xi32> rows %context outs(%hv : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x4xf32>
    %ey = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.attention %rq, %sk, %sv past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%ey : tensor<?x8xf32>) heads 2 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.5 causal true : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

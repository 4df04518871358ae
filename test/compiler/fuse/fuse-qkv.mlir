// RUN: %mille-opt %s --fuse-qkv --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-qkv --fuse-qkv --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Fewer key and value heads, and a projection without a bias beside two with
// one: the missing one is zeros.
// CHECK-LABEL: transformer.model @some_biases
// CHECK: kernel.fusions = [{boundary = "qkv", bytes_saved = 32 : i64, launches_saved = 2 : i64, layers = "", reason = "one matmul", status = "fused", unit = "a"}]
// CHECK-DAG: %[[B:.*]] = kernel.weight #transformer.concat<@a.q.bias, #transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 0, stream = "", tensor<2xf32>>, @a.v.bias> -> tensor<8xf32>
// CHECK-DAG: %[[W:.*]] = kernel.weight #transformer.concat<@a.q.weight, @a.k.weight, @a.v.weight> -> tensor<8x4xf32>
// CHECK: %[[QKV:.*]] = kernel.matmul %{{.*}}, %[[W]] extras(%[[B]] : tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK-NEXT: arith.addf %[[ACC]], %[[BIAS]]
// CHECK-NOT: kernel.matmul
// CHECK: kernel.attention %[[QKV]], %[[QKV]], %[[QKV]] {{.*}} offsets [0, 4, 6]
transformer.model @some_biases {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.q.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.bias", tensor<4xf32>>
  transformer.parameter @a.k.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<2x4xf32>>
  transformer.parameter @a.v.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<2x4xf32>>
  transformer.parameter @a.v.bias : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.bias", tensor<2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %bq = kernel.weight @a.q.bias -> tensor<4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<2x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<2x4xf32>
    %bv = kernel.weight @a.v.bias -> tensor<2xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq extras(%bq : tensor<4xf32>) outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x2xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %dv = tensor.empty(%rows) : tensor<?x2xf32>
    %v = kernel.matmul %x, %wv extras(%bv : tensor<2xf32>) outs(%dv : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// Epilogues that are equal stay; without biases there are no extras.
// CHECK-LABEL: transformer.model @equal_epilogues
// CHECK: kernel.matmul %{{.*}}, %{{.*}} outs(
// CHECK: arith.mulf
// CHECK-NOT: kernel.matmul
// CHECK: offsets [0, 4, 8]
transformer.model @equal_epilogues {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 2.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 2.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 2.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_epilogues_differ
// CHECK: reason = "query and value in one matmul: the projections have different epilogues", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_epilogues_differ {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 2.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 3.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      %c = arith.constant 2.0 : f32
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_inputs_differ
// CHECK: reason = "key and value in one matmul: query, key and value are projections of different inputs", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_inputs_differ {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %z, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %z, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_projection_has_another_reader
// CHECK: reason = "query and value in one matmul: a projection has another reader", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_projection_has_another_reader {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}, tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at, %k : tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_projection_is_shared
// CHECK: reason = "two of query, key and value are one projection already", status = "declined: law", unit = "a"
// CHECK: offsets [0, 0, 0]
// REMARK: declined: law: two of query, key and value are one projection already
transformer.model @keep_as_projection_is_shared {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %q, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_a_kernel_stands_between
// CHECK: reason = "query and value in one matmul: not all of query, key and value are normed", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_a_kernel_stands_between {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%k : tensor<?x4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1] norm <l2, 1.000000e-06> {
    ^bb0(%in_a: f32):
      kernel.yield %in_a : f32
    } -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %n, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_weight_is_no_parameter
// CHECK: reason = "query and value in one matmul: a weight is not a parameter", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_weight_is_no_parameter {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %wk: tensor<4x4xf32> {transformer.name = "w", transformer.shape = #transformer.shape<4, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_projection_has_two_accumulators
// CHECK: reason = "key and value in one matmul: a projection has two accumulators already", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_projection_has_two_accumulators {
  transformer.parameter @a.q.weight : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<8x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<8x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 2 {
    ^bb0(%acc: f32, %second: f32):
      %0 = arith.addf %acc, %second : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_destination_is_given
// CHECK: reason = "query and value in one matmul: a projection's destination is not its own", status = "fused", unit = "a"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_destination_is_given {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%z : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_epilogues_read_different_values
// CHECK: reason = "the projections' epilogues read different values", status = "declined: law", unit = "a"
// CHECK: offsets [0, 0, 0]
// REMARK: declined: law: the projections' epilogues read different values
transformer.model @keep_as_epilogues_read_different_values {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq extras(%x : tensor<?x4xf32>) outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %e: f32):
      %0 = arith.mulf %acc, %e : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk extras(%z : tensor<?x4xf32>) outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %e: f32):
      %0 = arith.mulf %acc, %e : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv extras(%x : tensor<?x4xf32>) outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %e: f32):
      %0 = arith.mulf %acc, %e : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_projection_is_outside_the_layer
// CHECK: reason = "a projection is made outside the layer", status = "declined: law", unit = "a"
// CHECK: offsets [0, 0, 0]
// REMARK: declined: law: a projection is made outside the layer
transformer.model @keep_as_projection_is_outside_the_layer {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %l = kernel.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x4xf32>):
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    kernel.yield %at : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}

// -----

// Norms of heads, alike but for their weights, are one over both; value apart.
// CHECK-LABEL: transformer.model @normed_heads
// CHECK: launches_saved = 2 : i64, layers = "", reason = "query and key in one matmul: not all of query, key and value are normed", status = "fused", unit = "a"
// CHECK: %[[QK:.*]] = kernel.matmul {{.*}} outs(%{{.*}} : tensor<?x6xf32>)
// CHECK: %[[W:.*]] = kernel.weight #transformer.concat<#transformer.repeat<@a.q_norm, 2, each = false>, @a.k_norm> -> tensor<6xf32>
// CHECK: %[[N:.*]] = kernel.rows ins(%[[QK]], %[[W]] : tensor<?x6xf32>, tensor<6xf32>) {{.*}} norm <rms, 1.0e-06, group = 2>
// CHECK: kernel.attention %[[N]], %[[N]], %{{.*}} offsets [0, 4, 0]
transformer.model @normed_heads {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<2x4xf32>>
  transformer.parameter @a.v.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<2x4xf32>>
  transformer.parameter @a.q_norm : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q_norm", tensor<2xf32>>
  transformer.parameter @a.k_norm : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k_norm", tensor<2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<2x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<2x4xf32>
    %nq = kernel.weight #transformer.repeat<@a.q_norm, 2, each = false> -> tensor<4xf32>
    %nk = kernel.weight @a.k_norm -> tensor<2xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %eq = tensor.empty(%rows) : tensor<?x4xf32>
    %qn = kernel.rows ins(%q, %nq : tensor<?x4xf32>, tensor<4xf32>) outs(%eq : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.0e-06, group = 2> {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x2xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %ek = tensor.empty(%rows) : tensor<?x2xf32>
    %kn = kernel.rows ins(%k, %nk : tensor<?x2xf32>, tensor<2xf32>) outs(%ek : tensor<?x2xf32>) gather [-1, -1] norm <rms, 1.0e-06, group = 2> {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x2xf32>
    %dv = tensor.empty(%rows) : tensor<?x2xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %qn, %kn, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// Norms that differ in nothing but their epsilon are two.
// CHECK-LABEL: transformer.model @keep_as_norms_differ
// CHECK: reason = "the norms are different"
// CHECK: offsets [0, 0, 0]
transformer.model @keep_as_norms_differ {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<2x4xf32>>
  transformer.parameter @a.v.weight : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<2x4xf32>>
  transformer.parameter @a.q_norm : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q_norm", tensor<2xf32>>
  transformer.parameter @a.k_norm : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k_norm", tensor<2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<2x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<2x4xf32>
    %nq = kernel.weight #transformer.repeat<@a.q_norm, 2, each = false> -> tensor<4xf32>
    %nk = kernel.weight @a.k_norm -> tensor<2xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %eq = tensor.empty(%rows) : tensor<?x4xf32>
    %qn = kernel.rows ins(%q, %nq : tensor<?x4xf32>, tensor<4xf32>) outs(%eq : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.0e-06, group = 2> {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x2xf32>
    %k = kernel.matmul %x, %wk outs(%dk : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %ek = tensor.empty(%rows) : tensor<?x2xf32>
    %kn = kernel.rows ins(%k, %nk : tensor<?x2xf32>, tensor<2xf32>) outs(%ek : tensor<?x2xf32>) gather [-1, -1] norm <rms, 1.0e-05, group = 2> {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x2xf32>
    %dv = tensor.empty(%rows) : tensor<?x2xf32>
    %v = kernel.matmul %x, %wv outs(%dv : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %qn, %kn, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 1 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// Beside a projection without a bias others may have one, as a bias of 0 is none; but not
// what multiplies.
// CHECK-LABEL: transformer.model @keep_as_bias_multiplies
// CHECK: reason = "key and value in one matmul: the projections have different epilogues"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_bias_multiplies {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.bias", tensor<4xf32>>
  transformer.parameter @a.v.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.bias", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %bk = kernel.weight @a.k.bias -> tensor<4xf32>
    %bv = kernel.weight @a.v.bias -> tensor<4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk extras(%bk : tensor<4xf32>) outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32):
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv extras(%bv : tensor<4xf32>) outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32):
      %0 = arith.mulf %acc, %c : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

// -----

// Nor a column that the epilogue has and does not add.
// CHECK-LABEL: transformer.model @keep_as_column_is_not_added
// CHECK: reason = "key and value in one matmul: the projections have different epilogues"
// CHECK: offsets [0, 0, 4]
transformer.model @keep_as_column_is_not_added {
  transformer.parameter @a.q.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.q.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.weight", tensor<4x4xf32>>
  transformer.parameter @a.v.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.weight", tensor<4x4xf32>>
  transformer.parameter @a.k.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.k.bias", tensor<4xf32>>
  transformer.parameter @a.v.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.v.bias", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %wq = kernel.weight @a.q.weight -> tensor<4x4xf32>
    %wk = kernel.weight @a.k.weight -> tensor<4x4xf32>
    %wv = kernel.weight @a.v.weight -> tensor<4x4xf32>
    %bk = kernel.weight @a.k.bias -> tensor<4xf32>
    %bv = kernel.weight @a.v.bias -> tensor<4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %wq outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dk = tensor.empty(%rows) : tensor<?x4xf32>
    %k = kernel.matmul %x, %wk extras(%bk : tensor<4xf32>) outs(%dk : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32):
      %0 = arith.addf %acc, %acc : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dv = tensor.empty(%rows) : tensor<?x4xf32>
    %v = kernel.matmul %x, %wv extras(%bv : tensor<4xf32>) outs(%dv : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32):
      %0 = arith.addf %acc, %acc : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %zero = arith.constant 0 : index
    %at = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 0.5 causal false : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    return %at : tensor<?x4xf32>
  }
}

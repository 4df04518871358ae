// RUN: %mille-opt %s --fuse-bias-activation --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-bias-activation --fuse-bias-activation --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// A bias and what follows it, as many ops as there are, into one epilogue.
// CHECK-LABEL: transformer.model @bias_and_activation
// CHECK: kernel.fusions = [{boundary = "bias-activation", bytes_saved = 96 : i64, launches_saved = 2 : i64, layers = "", reason = "in the matmul's epilogue", status = "fused", unit = "l"}]
// CHECK: %[[Y:.*]] = kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}} : tensor<6xf32>) outs(
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[B]]
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[S]], %[[Z]]
// CHECK-NEXT: kernel.yield %[[M]]
// CHECK-NOT: kernel.rows
// CHECK: return %[[Y]]
transformer.model @bias_and_activation {
  transformer.parameter @l.w : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<6x4xf32>>
  transformer.parameter @l.b : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.b", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<6x4xf32>
    %b = kernel.weight @l.b -> tensor<6xf32>
    %dp = tensor.empty(%rows) : tensor<?x6xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %ds = tensor.empty(%rows) : tensor<?x6xf32>
    %s = kernel.rows ins(%p, %b : tensor<?x6xf32>, tensor<6xf32>) outs(%ds : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    %dr = tensor.empty(%rows) : tensor<?x6xf32>
    %r = kernel.rows ins(%s : tensor<?x6xf32>) outs(%dr : tensor<?x6xf32>) gather [-1] {
    ^bb0(%in_a: f32):
      %c = arith.constant 0.0 : f32
      %0 = arith.maximumf %in_a, %c : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %r : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_value_has_another_reader
// CHECK: reason = "the value has another reader", status = "declined: law"
// CHECK: kernel.matmul
// CHECK: kernel.rows
// REMARK: l keeps bias-activation apart, declined: law: the value has another reader
transformer.model @keep_as_value_has_another_reader {
  transformer.parameter @l.w : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<6x4xf32>>
  transformer.parameter @l.b : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.b", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}, tensor<?x6xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<6x4xf32>
    %b = kernel.weight @l.b -> tensor<6xf32>
    %dp = tensor.empty(%rows) : tensor<?x6xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %ds = tensor.empty(%rows) : tensor<?x6xf32>
    %s = kernel.rows ins(%p, %b : tensor<?x6xf32>, tensor<6xf32>) outs(%ds : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %s, %p : tensor<?x6xf32>, tensor<?x6xf32>
  }
}

// -----

// What reads another activation by element is a residual, not an activation.
// CHECK-LABEL: transformer.model @keep_as_a_residual
// CHECK: kernel.matmul
// CHECK: kernel.rows
transformer.model @keep_as_a_residual {
  transformer.parameter @l.w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<4x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %ds = tensor.empty(%rows) : tensor<?x4xf32>
    %s = kernel.rows ins(%p, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%ds : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %s : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_value_is_made_outside_the_layer
// CHECK: reason = "the value is made outside the layer", status = "declined: missing"
// REMARK: declined: missing: the value is made outside the layer
transformer.model @keep_as_value_is_made_outside_the_layer {
  transformer.parameter @l.w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<4x4xf32>>
  transformer.parameter @l.b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.b", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<4x4xf32>
    %b = kernel.weight @l.b -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %l = kernel.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x4xf32>):
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%p, %b : tensor<?x4xf32>, tensor<4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}

// -----

// A kernel has at most 16 buffers (runtime/abi.h).
// CHECK-LABEL: transformer.model @keep_as_buffers_are_too_many
// CHECK: reason = "the merged kernel would have more than 16 buffers", status = "declined: law", unit = "l"
// REMARK: declined: law: the merged kernel would have more than 16 buffers
transformer.model @keep_as_buffers_are_too_many {
  transformer.parameter @l.w : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<6x4xf32>>
  transformer.parameter @l.ba : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.ba", tensor<6xf32>>
  transformer.parameter @l.bb : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bb", tensor<6xf32>>
  transformer.parameter @l.bc : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bc", tensor<6xf32>>
  transformer.parameter @l.bd : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bd", tensor<6xf32>>
  transformer.parameter @l.be : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.be", tensor<6xf32>>
  transformer.parameter @l.bf : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bf", tensor<6xf32>>
  transformer.parameter @l.bg : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bg", tensor<6xf32>>
  transformer.parameter @l.bh : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bh", tensor<6xf32>>
  transformer.parameter @l.bi : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bi", tensor<6xf32>>
  transformer.parameter @l.bj : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bj", tensor<6xf32>>
  transformer.parameter @l.bk : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bk", tensor<6xf32>>
  transformer.parameter @l.bl : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bl", tensor<6xf32>>
  transformer.parameter @l.bm : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bm", tensor<6xf32>>
  transformer.parameter @l.bn : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bn", tensor<6xf32>>
  transformer.parameter @l.bo : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.bo", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<6x4xf32>
    %ba = kernel.weight @l.ba -> tensor<6xf32>
    %bb = kernel.weight @l.bb -> tensor<6xf32>
    %bc = kernel.weight @l.bc -> tensor<6xf32>
    %bd = kernel.weight @l.bd -> tensor<6xf32>
    %be = kernel.weight @l.be -> tensor<6xf32>
    %bf = kernel.weight @l.bf -> tensor<6xf32>
    %bg = kernel.weight @l.bg -> tensor<6xf32>
    %bh = kernel.weight @l.bh -> tensor<6xf32>
    %bi = kernel.weight @l.bi -> tensor<6xf32>
    %bj = kernel.weight @l.bj -> tensor<6xf32>
    %bk = kernel.weight @l.bk -> tensor<6xf32>
    %bl = kernel.weight @l.bl -> tensor<6xf32>
    %bm = kernel.weight @l.bm -> tensor<6xf32>
    %bn = kernel.weight @l.bn -> tensor<6xf32>
    %bo = kernel.weight @l.bo -> tensor<6xf32>
    %dp = tensor.empty(%rows) : tensor<?x6xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dy = tensor.empty(%rows) : tensor<?x6xf32>
    %y = kernel.rows ins(%p, %ba, %bb, %bc, %bd, %be, %bf, %bg, %bh, %bi, %bj, %bk, %bl, %bm, %bn, %bo : tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%dy : tensor<?x6xf32>) gather [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] {
    ^bb0(%in_p: f32, %in_a: f32, %in_b: f32, %in_c: f32, %in_d: f32, %in_e: f32, %in_f: f32, %in_g: f32, %in_h: f32, %in_i: f32, %in_j: f32, %in_k: f32, %in_l: f32, %in_m: f32, %in_n: f32, %in_o: f32):
      %0 = arith.addf %in_p, %in_a : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %y : tensor<?x6xf32>
  }
}

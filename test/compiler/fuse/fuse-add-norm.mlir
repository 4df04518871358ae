// RUN: %mille-opt %s --fuse-add-norm --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-add-norm --fuse-add-norm --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// The sum is read in the task that makes it. It is handed out only where
// something else reads it.
// CHECK-LABEL: transformer.model @norm_of_a_sum
// CHECK: kernel.fusions = [{boundary = "add-norm", bytes_saved = 16 : i64, launches_saved = 1 : i64, layers = "", reason = "in the task that makes the sum", status = "fused", unit = "a"}]
// CHECK: %[[L:.*]] = kernel.launch {
// CHECK: %[[P:.*]] = kernel.matmul
// CHECK: %[[N:.*]] = kernel.rows ins(%[[P]], {{.*}} norm <layer,
// CHECK: kernel.yield %[[N]] : tensor<?x4xf32>
// CHECK: } : tensor<?x4xf32>
// CHECK: return %[[L]]
transformer.model @norm_of_a_sum {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%p, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %n : tensor<?x4xf32>
  }
}

// -----

// A branch norm with its sum, then the next unit's norm: one launch, and the sum
// is handed out for the skip.
// CHECK-LABEL: transformer.model @chain
// CHECK: %[[L:.*]]:2 = kernel.launch {
// CHECK: %[[P:.*]] = kernel.matmul
// CHECK: %[[S:.*]] = kernel.rows ins(%[[P]],
// CHECK: %[[N:.*]] = kernel.rows ins(%[[S]],
// CHECK: kernel.yield %[[S]], %[[N]] : tensor<?x4xf32>, tensor<?x4xf32>
// CHECK: return %[[L]]#0, %[[L]]#1
transformer.model @chain {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}, tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %ds = tensor.empty(%rows) : tensor<?x4xf32>
    %s = kernel.rows ins(%p, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%ds : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.000000e-06> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%s, %h : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %s, %n : tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_another_operand_is_made_later
// CHECK: reason = "it reads another value that is made later", status = "declined: law", unit = "a"
// CHECK-NOT: kernel.launch
// REMARK: a keeps add-norm apart, declined: law: it reads another value that is made later
transformer.model @keep_as_another_operand_is_made_later {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %x, %w outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %ds = tensor.empty(%rows) : tensor<?x4xf32>
    %s = kernel.rows ins(%p, %q : tensor<?x4xf32>, tensor<?x4xf32>) outs(%ds : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.000000e-06> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %s : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_sum_is_of_another_layer
// CHECK: layers = "0-1", reason = "the layer before makes the sum, and not every layer begins with this norm", status = "declined: missing", unit = "a"
// CHECK-NOT: kernel.launch
// REMARK: a keeps add-norm apart, declined: missing: the layer before makes the sum, and not every layer begins with this norm
transformer.model @keep_as_sum_is_of_another_layer {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %l = kernel.layers %x slots [[]] bodies [0, 0] table [[], []] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %n, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    kernel.yield %p : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_rows_differ
// CHECK: reason = "the kernels run over different rows", status = "declined: law"
// REMARK: declined: law: the kernels run over different rows
transformer.model @keep_as_rows_differ {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %other = arith.constant 4 : index
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%other) : tensor<?x4xf32>
    %n = kernel.rows ins(%p, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %n : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_sum_is_made_outside_the_layer
// CHECK: reason = "the value is made outside the layer", status = "declined: missing"
// REMARK: declined: missing: the value is made outside the layer
transformer.model @keep_as_sum_is_made_outside_the_layer {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %l = kernel.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x4xf32>):
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%p, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %n : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_sum_is_of_the_last_layer
// CHECK: reason = "the last layer makes the sum, and not every layer begins with this norm", status = "declined: missing"
// REMARK: declined: missing: the last layer makes the sum, and not every layer begins with this norm
transformer.model @keep_as_sum_is_of_the_last_layer {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %l = kernel.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x4xf32>):
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %s, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    kernel.yield %p : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%l, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %n : tensor<?x4xf32>
  }
}

// -----

// What is written into another's memory says nothing about its rows.
// CHECK-LABEL: transformer.model @keep_as_destination_is_given
// CHECK: reason = "the kernels run over different rows"
// CHECK-NOT: kernel.launch
transformer.model @keep_as_destination_is_given {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.out_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.out_norm.weight", tensor<4xf32>>
  transformer.parameter @f.in_norm.weight : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in_norm.weight", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %g = kernel.weight @a.out_norm.weight -> tensor<4xf32>
    %h = kernel.weight @f.in_norm.weight -> tensor<4xf32>
    %p = kernel.matmul %x, %w outs(%z : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%p, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %n : tensor<?x4xf32>
  }
}

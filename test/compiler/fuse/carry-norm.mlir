// RUN: %mille-opt %s --carry-norm --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: %mille-opt %s --carry-norm --carry-norm --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// The first layer's norm is done before the loop, the next layer's at the end of
// a body; after the last layer that is the final norm.
// CHECK-LABEL: transformer.model @final_norm
// CHECK: %[[G0:.*]] = kernel.weight @layers.0.n
// CHECK: %[[U0:.*]] = kernel.rows ins(%[[X:.*]], %[[G0]] :
// CHECK: %[[L:.*]]:2 = kernel.layers %[[X]], %[[U0]] slots
// CHECK-SAME: "layers.*.n", "next.layers.*.n"
// CHECK-SAME: table
// CHECK-SAME: @layers.0.n, @layers.1.n], [@layers.1.n, @final]
// CHECK-NEXT: ^bb0(%[[S:.*]]: tensor<?x4xf32>, %[[U:.*]]: tensor<?x4xf32>):
// CHECK: %[[M:.*]] = kernel.matmul %[[U]],
// CHECK: %[[Y:.*]] = kernel.rows ins(%[[S]], %[[M]] :
// CHECK: %[[G:.*]] = kernel.weight @"next.layers.*.n"
// CHECK: %[[V:.*]] = kernel.rows ins(%[[Y]], %[[G]] : {{.*}} norm <layer
// CHECK: kernel.yield %[[Y]], %[[V]]
// CHECK: return %[[L]]#1
transformer.model @final_norm {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %f = kernel.weight @final -> tensor<4xf32>
    %l = kernel.layers %x slots [["layers.*.n"]] bodies [0, 0] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%s, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    %dz = tensor.empty(%rows) : tensor<?x4xf32>
    %z = kernel.rows ins(%l, %f : tensor<?x4xf32>, tensor<4xf32>) outs(%dz : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %z : tensor<?x4xf32>
  }
}

// -----

// Without a final norm the last layer's carried norm is by the first one's
// parameters, and dropped.
// CHECK-LABEL: transformer.model @no_final_norm
// CHECK: kernel.layers
// CHECK-SAME: @layers.0.n, @layers.1.n], [@layers.1.n, @layers.0.n]
// CHECK: return %{{.*}}#0
transformer.model @no_final_norm {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %l = kernel.layers %x slots [["layers.*.n"]] bodies [0, 0] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%s, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
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

// A skip of the normed value: nothing but norms reads the stream, so it is not
// handed over.
// CHECK-LABEL: transformer.model @stream_of_normed_skip
// CHECK: %[[L:.*]] = kernel.layers %{{[^,]*}} slots
// CHECK-NEXT: ^bb0(%[[U:.*]]: tensor<?x4xf32>):
// CHECK: %[[M:.*]] = kernel.matmul %[[U]],
// CHECK: kernel.rows ins(%[[U]], %[[M]] :
// CHECK: kernel.yield %{{[^,]*}} : tensor<?x4xf32>
// CHECK: return %[[L]] :
transformer.model @stream_of_normed_skip {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %f = kernel.weight @final -> tensor<4xf32>
    %l = kernel.layers %x slots [["layers.*.n"]] bodies [0, 0] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%u, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    %dz = tensor.empty(%rows) : tensor<?x4xf32>
    %z = kernel.rows ins(%l, %f : tensor<?x4xf32>, tensor<4xf32>) outs(%dz : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %z : tensor<?x4xf32>
  }
}

// -----

// A final norm of another kind stays where it is.
// CHECK-LABEL: transformer.model @keep_as_final_norm_differs
// CHECK: %[[L:.*]]:2 = kernel.layers
// CHECK: kernel.rows ins(%[[L]]#0, {{.*}} norm <rms
transformer.model @keep_as_final_norm_differs {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %f = kernel.weight @final -> tensor<4xf32>
    %l = kernel.layers %x slots [["layers.*.n"]] bodies [0, 0] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%s, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    %dz = tensor.empty(%rows) : tensor<?x4xf32>
    %z = kernel.rows ins(%l, %f : tensor<?x4xf32>, tensor<4xf32>) outs(%dz : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %z : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_layers_begin_differently
// CHECK: %[[L:.*]] = kernel.layers %{{[^,]*}} slots
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x4xf32>):
transformer.model @keep_as_layers_begin_differently {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %l = kernel.layers %x slots [["layers.*.n"], ["layers.*.n"]] bodies [0, 1] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%s, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    }, {
    ^bb0(%s: tensor<?x4xf32>):
    %w2 = kernel.weight @w -> tensor<4x4xf32>
    %g2 = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du2 = tensor.empty(%rows) : tensor<?x4xf32>
    %u2 = kernel.rows ins(%s, %g2 : tensor<?x4xf32>, tensor<4xf32>) outs(%du2 : tensor<?x4xf32>) gather [-1, -1] norm <rms, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm2 = tensor.empty(%rows) : tensor<?x4xf32>
    %m2 = kernel.matmul %u2, %w2 outs(%dm2 : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy2 = tensor.empty(%rows) : tensor<?x4xf32>
    %y2 = kernel.rows ins(%s, %m2 : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy2 : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y2 : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    return %l : tensor<?x4xf32>
  }
}

// -----

// A final norm whose column is no parameter stays, too.
// CHECK-LABEL: transformer.model @keep_as_final_norm_reads_an_input
// CHECK: %[[L:.*]]:2 = kernel.layers
// CHECK: kernel.rows ins(%[[L]]#0, {{.*}} norm <layer
transformer.model @keep_as_final_norm_reads_an_input {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @layers.0.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.0.n", tensor<4xf32>>
  transformer.parameter @layers.1.n : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "layers.1.n", tensor<4xf32>>
  transformer.parameter @final : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "final", tensor<4xf32>>
  transformer.parameter @other : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "other", tensor<4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %f: tensor<4xf32> {transformer.name = "f", transformer.shape = #transformer.shape<4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %l = kernel.layers %x slots [["layers.*.n"]] bodies [0, 0] table [[@layers.0.n], [@layers.1.n]] {
    ^bb0(%s: tensor<?x4xf32>):
    %w = kernel.weight @w -> tensor<4x4xf32>
    %g = kernel.weight @"layers.*.n" -> tensor<4xf32>
    %du = tensor.empty(%rows) : tensor<?x4xf32>
    %u = kernel.rows ins(%s, %g : tensor<?x4xf32>, tensor<4xf32>) outs(%du : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    %dm = tensor.empty(%rows) : tensor<?x4xf32>
    %m = kernel.matmul %u, %w outs(%dm : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%u, %m : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    kernel.yield %y : tensor<?x4xf32>
    } : tensor<?x4xf32> -> tensor<?x4xf32>
    %dz = tensor.empty(%rows) : tensor<?x4xf32>
    %z = kernel.rows ins(%l, %f : tensor<?x4xf32>, tensor<4xf32>) outs(%dz : tensor<?x4xf32>) gather [-1, -1] norm <layer, 1.000000e-05> {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.mulf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %z : tensor<?x4xf32>
  }
}

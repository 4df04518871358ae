// RUN: %mille-opt %s --plan-memory | FileCheck %s
// RUN: %mille-opt %s --plan-memory --plan-memory -o %t
// RUN: %mille-opt %s --plan-memory | diff - %t

// A value that is only returned is written straight into its output.
// CHECK-LABEL: func.func @direct_output
// CHECK-SAME: (%[[BATCH:[a-z0-9]+]]: index {kernel.size = "batch"}, %[[TOKENS:[a-z0-9]+]]: index {kernel.size = "tokens"}, %[[X:[a-z0-9]+]]: memref<?x8xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x24xf32> {kernel.output, transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 24>})
// CHECK-SAME: kernel.arena_bytes_per_row = 0
// CHECK: kernel.weight @w -> memref<24x8xf32>
// CHECK-NOT: kernel.arena
// CHECK: kernel.matmul %[[X]], %{{.*}} outs(%[[OUT]] : memref<?x24xf32>)
// CHECK: return
func.func @direct_output(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
    -> (tensor<?x24xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 24>}) {
  %rows = arith.muli %batch, %tokens : index
  %w = kernel.weight @w -> tensor<24x8xf32>
  %o = tensor.empty(%rows) : tensor<?x24xf32>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x24xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<24x8xf32> -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// Rows are padded to cache lines, and off multiples of 4096 bytes; an out never
// shares bytes with what its op reads; what is dead is used again.
// CHECK-LABEL: func.func @strides_and_reuse
// CHECK-SAME: kernel.arena_bytes_per_row = 8320
// CHECK-DAG: kernel.arena offset 0 rows %{{.*}} : memref<?x1024xf32, strided<[1040, 1]>>
// CHECK-DAG: kernel.arena offset 4160 rows %{{.*}} : memref<?x1024xf32, strided<[1040, 1]>>
// CHECK-DAG: kernel.arena offset 0 rows %{{.*}} : memref<?x24xf32, strided<[32, 1]>>
func.func @strides_and_reuse(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x1024xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1024>})
    -> (tensor<?x24xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 24>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x1024xf32>
  %a = kernel.rows ins(%x : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  %b = kernel.rows ins(%a : tensor<?x1024xf32>) outs(%o : tensor<?x1024xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x1024xf32>
  %w = kernel.weight @w -> tensor<24x1024xf32>
  %p = tensor.empty(%rows) : tensor<?x24xf32>
  %c = kernel.matmul %b, %w outs(%p : tensor<?x24xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x1024xf32>, tensor<24x1024xf32> -> tensor<?x24xf32>
  %y = kernel.rows ins(%c : tensor<?x24xf32>) outs(%p : tensor<?x24xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// The loop's stream is two buffers by turns; an even number of layers ends in the
// first; its outcome is copied out; bodies overlay each other.
// CHECK-LABEL: func.func @layer_loop
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x16xf32> {kernel.output
// CHECK-SAME: kernel.arena_bytes_per_row = 192
// CHECK: %[[CURRENT:.*]] = kernel.arena offset [[CUR:[0-9]+]]
// CHECK: kernel.rows {{.*}} outs(%[[CURRENT]]
// CHECK: %[[OTHER:.*]] = kernel.arena
// CHECK: kernel.layers %[[CURRENT]], %[[OTHER]] slots
// CHECK: ^bb0(%[[IN:[a-z0-9]+]]: memref<?x16xf32>, %[[NEXT:[a-z0-9]+]]: memref<?x16xf32>):
// CHECK: %[[INNER:.*]] = kernel.arena offset [[INNER_AT:[0-9]+]]
// CHECK: kernel.rows ins(%[[IN]], {{.*}} outs(%[[INNER]] :
// CHECK: kernel.rows ins(%[[INNER]] : {{.*}} outs(%[[NEXT]] :
// CHECK: kernel.yield
// CHECK: ^bb0(%[[IN2:[a-z0-9]+]]: memref<?x16xf32>, %[[NEXT2:[a-z0-9]+]]: memref<?x16xf32>):
// CHECK: %[[INNER2:.*]] = kernel.arena offset [[INNER_AT]]
// CHECK: kernel.launch {
// CHECK: kernel.rows ins(%[[IN2]] {{.*}} outs(%[[INNER2]]
// CHECK: kernel.rows ins(%[[INNER2]] {{.*}} outs(%[[NEXT2]]
// CHECK: kernel.keep %[[CURRENT]] as "y" index 0
// CHECK-NEXT: return
func.func @layer_loop(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %a = kernel.rows ins(%x : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  %y = kernel.layers %a slots [["layers.*.w"], []] bodies [0, 1] table [[@a], []] {
  ^bb0(%s: tensor<?x16xf32>):
    %w = kernel.weight @"layers.*.w" -> tensor<16xf32>
    %b = kernel.rows ins(%s, %w : tensor<?x16xf32>, tensor<16xf32>) outs(%o : tensor<?x16xf32>) gather [-1, -1] {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x16xf32>
    %c = kernel.rows ins(%b : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x16xf32>
    kernel.yield %c : tensor<?x16xf32>
  }, {
  ^bb0(%s: tensor<?x16xf32>):
    %z = kernel.launch {
      %b = kernel.rows ins(%s : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x16xf32>
      %c = kernel.rows ins(%b : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x16xf32>
      kernel.yield %c : tensor<?x16xf32>
    } : tensor<?x16xf32>
    kernel.yield %z : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// A stream that is read again after the loop, and a body that gives its argument.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x16xf32> {transformer.name = "x"
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x16xf32> {kernel.output
// CHECK-SAME: memref<?x16xf32> {kernel.output, transformer.name = "hidden_states", transformer.shape = #transformer.shape<4, batch, tokens, 16>}
// CHECK: kernel.rows ins(%[[X]] {{.*}} outs(%[[CURRENT:[a-z0-9]+]] :
// CHECK: kernel.layers %[[CURRENT]], %[[OTHER:[a-z0-9]+]] slots
// CHECK: ^bb0(%[[IN:[a-z0-9]+]]: memref<?x16xf32>, %[[NEXT:[a-z0-9]+]]: memref<?x16xf32>):
// CHECK: kernel.keep %[[IN]] as "hidden_states" index 1
// CHECK: kernel.rows ins(%[[IN]] {{.*}} outs(%[[NEXT]] :
// CHECK: kernel.rows ins(%[[X]], %[[OTHER]] {{.*}} outs(%[[OUT]]
func.func @copies(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %y = kernel.layers %x slots [[]] bodies [0, 0, 0] table [[], [], []] {
  ^bb0(%s: tensor<?x16xf32>):
    kernel.keep %s as "hidden_states" index 1 : tensor<?x16xf32>
    kernel.yield %s : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  %z = kernel.rows ins(%x, %y : tensor<?x16xf32>, tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1, -1] {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.addf %n, %g : f32
    kernel.yield %0 : f32
  } -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

// A pooled value has `batch` rows; a value returned twice is copied.
// CHECK-LABEL: func.func @batch_rows
// CHECK-SAME: (%[[BATCH:[a-z0-9]+]]: index
// CHECK: kernel.arena offset {{[0-9]+}} rows %[[BATCH]] : memref<?xi32>
// CHECK: kernel.arena offset {{[0-9]+}} rows %[[BATCH]] : memref<?x16xf32>
// CHECK: kernel.rows {{.*}} outs(%[[POOLED:[a-z0-9]+]] :
// CHECK: kernel.rows ins(%[[POOLED]]
// CHECK: kernel.rows ins(%[[POOLED]]
func.func @batch_rows(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>},
    %m: tensor<?xi32> {transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>})
    -> (tensor<?x16xf32> {transformer.name = "a", transformer.shape = #transformer.shape<batch, 16>},
        tensor<?x16xf32> {transformer.name = "b", transformer.shape = #transformer.shape<batch, 16>}) {
  %e = tensor.empty(%batch) : tensor<?xi32>
  %i = kernel.pool_index of %m : tensor<?xi32> tokens %tokens kind last skip 0 id 0 outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %o = tensor.empty(%batch) : tensor<?x16xf32>
  %y = kernel.rows ins(%x : tensor<?x16xf32>) indices(%i : tensor<?xi32>) outs(%o : tensor<?x16xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  return %y, %y : tensor<?x16xf32>, tensor<?x16xf32>
}

// Values of a loop over blocks of rows have memory for one block, and 8 rows more, in a
// part of the arena that no run's rows change; so have panels that are packed in a run.
// RUN: %mille-opt %s --block-loss='rows=16 columns=4' --plan-memory | FileCheck %s

// Logits and their gradient: 24 rows of 64 bytes each; losses and the result's rows are
// the run's.
// CHECK-LABEL: @forward
// CHECK-SAME: kernel.arena_bytes_per_row = 64 : i64
// CHECK-SAME: kernel.arena_fixed_bytes = 3136 : i64
// CHECK: %[[P:.*]] = kernel.arena fixed offset 3072 rows %{{.*}} : memref<2x4xf32>
// CHECK: kernel.pack %{{.*}} transposed outs(%[[P]]
// CHECK: %[[X:.*]] = kernel.arena offset 0 rows %{{.*}} : memref<?x2xf32, strided<[16, 1]>>
// CHECK: kernel.row_blocks rows 16 ins(%{{.*}}, %{{.*}} : memref<?x2xf32>, memref<?xi32>) outs(%{{.*}}, %[[X]] : memref<?x1xf32>, memref<?x2xf32, strided<[16, 1]>>) {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index, %{{.*}}: memref<?x2xf32>, %{{.*}}: memref<?xi32>, %[[L:.*]]: memref<?x1xf32>, %[[OX:.*]]: memref<?x2xf32, strided<[16, 1]>>):
// CHECK: kernel.arena fixed offset {{0|1536}} rows %[[N]] : memref<?x4xf32, strided<[16, 1]>>
// CHECK: kernel.cross_entropy %{{.*}} losses(%[[L]]
// CHECK: kernel.matmul %{{.*}} outs(%[[OX]]
transformer.model @m {
  transformer.parameter @w : tensor<4x2xf32> = #transformer.numbers<[1.0, 0.0, 0.0, 1.0, 0.5, -0.5, 2.0, 1.0], tensor<4x2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x2xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %y: tensor<?xi32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens>},
      %times: tensor<1xf32> {transformer.name = "times"})
      -> (tensor<?x1xf32> {transformer.name = "losses", transformer.shape = #transformer.shape<batch, tokens>}, tensor<?x2xf32> {transformer.name = "kept", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @w -> tensor<4x2xf32>
    %oz = tensor.empty(%rows) : tensor<?x4xf32>
    %z = kernel.matmul %x, %w outs(%oz : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x2xf32>, tensor<4x2xf32> -> tensor<?x4xf32>
    %ol = tensor.empty(%rows) : tensor<?x1xf32>
    %og = tensor.empty(%rows) : tensor<?x4xf32>
    %loss:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %times : tensor<1xf32>
      losses(%ol : tensor<?x1xf32>) gradient(%og : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x1xf32>, tensor<?x4xf32>
    %ot = tensor.empty() : tensor<2x4xf32>
    %t = kernel.pack %w transposed outs(%ot : tensor<2x4xf32>) : tensor<4x2xf32> -> tensor<2x4xf32>
    %ox = tensor.empty(%rows) : tensor<?x2xf32>
    %gx = kernel.matmul %loss#1, %t outs(%ox : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %oy = tensor.empty(%rows) : tensor<?x2xf32>
    %twice = kernel.rows ins(%gx : tensor<?x2xf32>) outs(%oy : tensor<?x2xf32>) gather [-1] {
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      kernel.yield %b : f32
    } -> tensor<?x2xf32>
    return %loss#0, %twice : tensor<?x1xf32>, tensor<?x2xf32>
  }
}

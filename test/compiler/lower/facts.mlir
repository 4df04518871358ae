// RUN: %mille-opt %s --lower-program=name=tiny --split-input-file | FileCheck %s

// A kept row of one number has one column. Of the sizes batch, height, width, patches and
// context the fourth follows from 1 and 2. An entry's states are bits by their numbers,
// field 12: forward has none, extend 0 and 1, next the second alone.
// CHECK: llvm.getelementptr {{.*}}-> !llvm.ptr, i8
// CHECK-NEXT: %{{.*}} = llvm.mlir.constant(0 : i64) : i64
// CHECK-NEXT: %{{.*}} = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT: %[[COLUMNS:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-NEXT: %[[OUTPUT:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: llvm.call @mille_keep(%{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %[[COLUMNS]], %[[OUTPUT]],
// CHECK-LABEL: @entries.0()
// CHECK: llvm.insertvalue %{{.*}}[11] :
// CHECK-NEXT: %[[NONE:.*]] = llvm.mlir.constant(0 : i64) : i64
// CHECK-NEXT: llvm.insertvalue %[[NONE]], %{{.*}}[12]
// CHECK: llvm.insertvalue %{{.*}}[11] :
// CHECK-NEXT: %[[BOTH:.*]] = llvm.mlir.constant(3 : i64) : i64
// CHECK-NEXT: llvm.insertvalue %[[BOTH]], %{{.*}}[12]
// CHECK: llvm.insertvalue %{{.*}}[11] :
// CHECK-NEXT: %[[SECOND:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK-NEXT: llvm.insertvalue %[[SECOND]], %{{.*}}[12]
// CHECK-LABEL: @sizes.0()
// CHECK-COUNT-6: constant(-1 : i32)
// CHECK-NOT: constant(-1 : i32)
// CHECK: %[[HEIGHT:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.insertvalue %[[HEIGHT]], %{{.*}}[0]
// CHECK-NEXT: %[[WIDTH:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-NEXT: llvm.insertvalue %[[WIDTH]], %{{.*}}[1]
// CHECK-COUNT-2: constant(-1 : i32)
module {
  func.func @forward(%batch: index {kernel.size = "batch"},
      %height: index {kernel.size = "height"}, %width: index {kernel.size = "width"}, %patches: index {kernel.size = "patches"},
      %pixels: memref<?x3x?x?xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "patches", patch = [4, 8], own = [8, 8], prefix = 1>},
      %kept: memref<?xi32> {kernel.output, transformer.name = "kept", transformer.shape = #transformer.shape<batch>})
      attributes {kernel.arena_bytes_per_row = 64 : i64} {
    %r = kernel.arena offset 0 rows %batch : memref<?xi32>
    kernel.keep %r as "kept" index 0 : memref<?xi32>
    return
  }
  func.func @extend(%batch: index {kernel.size = "batch"}, %context: index {kernel.size = "context"},
      %keys: memref<1x?x8xf32> {transformer.name = "keys", transformer.shape = #transformer.shape<1, batch, context, 8>, transformer.state},
      %values: memref<1x?x8xf32> {transformer.name = "values", transformer.shape = #transformer.shape<1, batch, context, 8>, transformer.state})
      attributes {kernel.arena_bytes_per_row = 0 : i64} {
    return
  }
  func.func @next(%batch: index {kernel.size = "batch"}, %context: index {kernel.size = "context"},
      %values: memref<1x?x8xf32> {transformer.name = "values", transformer.shape = #transformer.shape<1, batch, context, 8>, transformer.state})
      attributes {kernel.arena_bytes_per_row = 0 : i64} {
    return
  }
}

// -----

// A gradient of experts' weights: of its three buffers the out alone has an entry for
// each expert (bit 2 of the stage's field 6); the rows of all experts lie in one.
// CHECK-COUNT-3: llvm.call @describe
// CHECK: %[[EXPERTS:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-NEXT: %[[OUT:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[ENTRIES_AT:.*]] = llvm.getelementptr %{{.*}}[0, 5]
// CHECK-NEXT: llvm.store %[[EXPERTS]], %[[ENTRIES_AT]]
// CHECK: %[[STACKED_AT:.*]] = llvm.getelementptr %{{.*}}[0, 6]
// CHECK-NEXT: llvm.store %[[OUT]], %[[STACKED_AT]]
// CHECK: llvm.call @mille_launch
module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: memref<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
      %y: memref<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>},
      %starts: memref<3xi32> {transformer.name = "starts", transformer.shape = #transformer.shape<3>})
      attributes {kernel.arena_bytes_per_row = 4096 : i64} {
    %one = arith.constant 1 : index
    %g = kernel.arena offset 0 rows %one : memref<2x8x16xf32>
    kernel.weight_gradient %x, %y starts %starts : memref<3xi32> outs(%g : memref<2x8x16xf32>) : memref<?x8xf32>, memref<?x16xf32>
    return
  }
}

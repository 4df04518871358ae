// RUN: %mille-opt %s --lower-program=name=tiny --split-input-file --verify-diagnostics | FileCheck %s

// What the runtime prepares once per run, pooling, and attention's buffers: its
// out is (column in head, row, head).
// CHECK: llvm.func internal @tiny_forward(%[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK: %[[TOKENS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-DAG: %[[FREQUENCIES:.*]] = llvm.mlir.addressof @numbers.0
// CHECK-DAG: %[[N:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-DAG: %[[STRIDE:.*]] = llvm.mlir.constant(16 : i64)
// CHECK: llvm.call @mille_rotation(%[[CONTEXT]], %{{.*}}, %{{.*}}, %[[FREQUENCIES]], %[[N]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[STRIDE]])
// CHECK: llvm.call @mille_schedule(%[[CONTEXT]]
// CHECK-COUNT-5: llvm.call @describe
// CHECK: %[[SHAPE:.*]] = llvm.mlir.addressof @[[OUT_SHAPE:shape.[0-9]+]] : !llvm.ptr
// CHECK-NEXT: llvm.call @describe(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHAPE]], %{{.*}})
// CHECK: llvm.mlir.addressof @kernel.0
// CHECK: llvm.call @mille_launch
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @mille_pool_index(%[[CONTEXT]], %[[NULL]],
// CHECK: llvm.call @mille_pool_mean(%[[CONTEXT]]
// CHECK: llvm.mlir.global private constant @numbers.0(dense<[1.000000e+00, 1.000000e-02]>
// attention: 3 buffers, the mask, the rotation and the out; 3 scalars
// CHECK: llvm.mlir.global private constant @[[OUT_SHAPE]]()
// CHECK: llvm.mlir.constant(3 : i32)
// CHECK-NEXT: llvm.insertvalue {{.*}}[1]
module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %qkv: memref<?x24xf32> {transformer.name = "qkv", transformer.shape = #transformer.shape<batch, tokens, 24>},
      %mask: memref<?xi32> {transformer.default = "ones", transformer.name = "attention_mask", transformer.shape = #transformer.shape<batch, tokens>},
      %step: memref<1xi32> {transformer.default = "none", transformer.name = "step", transformer.shape = #transformer.shape<1>},
      %out: memref<?x8xf32> {kernel.output, transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>},
      %pooled: memref<?x8xf32> {kernel.output, transformer.name = "p", transformer.shape = #transformer.shape<batch, 8>})
      attributes {kernel.arena_bytes_per_row = 256 : i64} {
    %rows = arith.muli %batch, %tokens : index
    %zero = arith.constant 0 : index
    %r = kernel.arena offset 64 rows %rows : memref<?x4xf32, strided<[16, 1]>>
    kernel.rotation %mask frequencies [1.0, 0.01] factor 1.0 outs(%r : memref<?x4xf32, strided<[16, 1]>>) : memref<?xi32>
    %s = kernel.arena offset 128 rows %rows : memref<1xf32>
    kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%s : memref<1xf32>) : memref<1xi32>
    kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %r : memref<?x4xf32, strided<[16, 1]>> queries %tokens keys %tokens first %zero outs(%out : memref<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
      : memref<?x24xf32>, memref<?x24xf32>, memref<?x24xf32>
    %i = kernel.arena offset 192 rows %batch : memref<?xi32>
    kernel.pool_index tokens %tokens kind first skip 0 id 0 outs(%i : memref<?xi32>)
    kernel.pool_mean %out key_mask %mask : memref<?xi32> tokens %tokens outs(%pooled : memref<?x8xf32>) : memref<?x8xf32>
    return
  }
}

// -----

module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: memref<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
      attributes {kernel.arena_bytes_per_row = 0 : i64} {
    // expected-error @below {{names "hidden_states" but no output has that name}}
    kernel.keep %x as "hidden_states" index 0 : memref<?x8xf32>
    return
  }
}

// -----

module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: memref<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
      attributes {kernel.arena_bytes_per_row = 0 : i64} {
    // expected-error @below {{has no lowering to host code}}
    %0 = arith.subi %batch, %tokens : index
    return
  }
}

// -----

// expected-error @below {{has no entry}}
module {
}

// -----

module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %step: memref<1xi32> {transformer.name = "step", transformer.shape = #transformer.shape<1>, transformer.default = "none"})
      attributes {kernel.arena_bytes_per_row = 128 : i64} {
    %c1 = arith.constant 1 : index
    %a = kernel.arena offset 0 rows %c1 : memref<1xf32>
    %b = kernel.arena offset 64 rows %c1 : memref<1xf32>
    kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%a : memref<1xf32>) : memref<1xi32>
    // expected-error @below {{is called 'branch_scale' like another schedule}}
    kernel.schedule "branch_scale" of %step from 0.0 to 2.0 over 1000 outs(%b : memref<1xf32>) : memref<1xi32>
    return
  }
}

// -----

module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %other: index {kernel.size = "other"},
      %height: index {kernel.size = "height"}, %width: index {kernel.size = "width"},
      %x: memref<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
      %y: memref<?x8xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, other, 8>},
      %z: memref<?x8xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, height, width, 8>})
      attributes {kernel.arena_bytes_per_row = 128 : i64} {
    %b = kernel.weight @b -> memref<2x8xf32>
    %t = kernel.weight @t -> memref<10x8xf32>
    %m = arith.muli %batch, %tokens : index
    %n = arith.muli %batch, %other : index
    %r = kernel.arena offset 0 rows %m : memref<?x8xf32>
    %s = kernel.arena offset 64 rows %n : memref<?x8xf32>
    kernel.patch_table height %height width %width base %b : memref<2x8xf32> table %t : memref<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 1 resize bicubic outs(%r : memref<?x8xf32>)
    // expected-error @below {{has other rows for an image but another table has tokens}}
    kernel.patch_table height %height width %width base %b : memref<2x8xf32> table %t : memref<10x8xf32> patch [4, 4] prefix 1 own [3, 3] placed 1 resize bicubic outs(%s : memref<?x8xf32>)
    return
  }
}

// -----

module {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %height: index {kernel.size = "height"}, %width: index {kernel.size = "width"},
      %x: memref<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>},
      %z: memref<?x8xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, height, width, 8>})
      attributes {kernel.arena_bytes_per_row = 32 : i64} {
    %r = kernel.arena offset 0 rows %tokens : memref<?x8xf32>
    kernel.layers %x, %x slots [[]] bodies [0] table [[]] {
    ^bb0(%in: memref<?x8xf32>, %out: memref<?x8xf32>):
      %t = kernel.weight @t -> memref<11x8xf32>
      // expected-error @below {{is in a layer but a session keeps its rows for all runs}}
      kernel.patch_table height %height width %width base %t : memref<11x8xf32> patch [4, 4] prefix 10 outs(%r : memref<?x8xf32>)
      kernel.yield
    } : memref<?x8xf32>, memref<?x8xf32>
    return
  }
}

// RUN: %mille-opt %s --plan-memory | FileCheck %s
// RUN: %mille-opt %s --plan-memory --plan-memory -o %t
// RUN: %mille-opt %s --plan-memory | diff - %t
// RUN: %mille-opt %s --plan-memory --lower-program=name=tiny | FileCheck %s --check-prefix=LOWER

// What a body computes is written where it is saved; what it only takes is copied
// there; the loop back reads both in place. Rows of 8 numbers take 64 bytes: "y" and
// "x" are 3 * 64 bytes a row, each layer has 64 of them.
// CHECK-LABEL: func.func @train_step
// CHECK: kernel.layers
// CHECK: ^bb0(%[[S:[a-z0-9]+]]: memref<?x8xf32, strided<[16, 1]>>, %[[T:[a-z0-9]+]]: memref<
// CHECK-DAG: %[[Y:.*]] = kernel.arena offset [[YAT:[0-9]+]] per_layer 64 rows
// CHECK-DAG: %[[X:.*]] = kernel.arena offset [[XAT:[0-9]+]] per_layer 64 rows
// CHECK: kernel.layers %{{.*}}, %{{.*}} reverse slots
// CHECK-DAG: kernel.arena offset [[YAT]] per_layer 64 rows
// CHECK-DAG: kernel.arena offset [[XAT]] per_layer 64 rows
// CHECK: kernel.gradient @"layers.*.w" -> memref<8xf32>
// CHECK: kernel.column_sums ins({{.*}}) outs(%{{.*}} : memref<8xf32>)
// CHECK: kernel.gradient @w -> memref<8xf32>

// The loop back counts down: the layer is the last one less the turn.
// LOWER: llvm.func internal @tiny_train_step
// LOWER: llvm.sub
// LOWER: llvm.sub
module {
  func.func @train_step(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
      -> (tensor<?x8xf32> {transformer.name = "g", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %rows = arith.muli %batch, %tokens : index
    %o = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.layers %x slots [["layers.*.w"]] bodies [0, 0, 0] table [[@a], [@b], [@c]] {
    ^bb0(%s: tensor<?x8xf32>):
      kernel.save %s as "x" : tensor<?x8xf32>
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %a = kernel.rows ins(%s, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%n: f32, %f: f32):
        %0 = arith.mulf %n, %f : f32
        kernel.yield %0 : f32
      } -> tensor<?x8xf32>
      kernel.save %a as "y" : tensor<?x8xf32>
      %b = kernel.rows ins(%a : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x8xf32>
      kernel.yield %b : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    %z = kernel.layers %y reverse slots [["layers.*.w"]] bodies [0, 0, 0] table [[@a], [@b], [@c]] {
    ^bb0(%s: tensor<?x8xf32>):
      %h = kernel.saved "x" rows %rows -> tensor<?x8xf32>
      %k = kernel.saved "y" rows %rows -> tensor<?x8xf32>
      %g = kernel.gradient @"layers.*.w" -> tensor<8xf32>
      %added = kernel.column_sums ins(%s, %h : tensor<?x8xf32>, tensor<?x8xf32>) outs(%g : tensor<8xf32>) {
      ^bb0(%n: f32, %m: f32):
        %0 = arith.mulf %n, %m : f32
        kernel.yield %0 : f32
      } -> tensor<8xf32>
      %b = kernel.rows ins(%s, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%n: f32, %m: f32):
        %0 = arith.mulf %n, %m : f32
        kernel.yield %0 : f32
      } -> tensor<?x8xf32>
      kernel.yield %b : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    %all = kernel.gradient @w -> tensor<8xf32>
    %sum = kernel.column_sums ins(%z : tensor<?x8xf32>) outs(%all : tensor<8xf32>) {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<8xf32>
    return %z : tensor<?x8xf32>
  }
}

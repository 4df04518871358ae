// RUN: %mille-opt %s --narrow-types=dtype=bf16 | FileCheck %s
// RUN: %mille-opt %s --narrow-types=dtype=bf16 --narrow-types=dtype=bf16 -o %t
// RUN: %mille-opt %s --narrow-types=dtype=bf16 | diff - %t
// RUN: %mille-opt %s --narrow-types=dtype=f32 | FileCheck %s --check-prefix=F32
// RUN: %mille-opt %s --narrow-types=dtype=bf16 '--pack-weights=widths=48,64 widths-of-more=64' --plan-memory | FileCheck %s --check-prefix=PLAN

// F32-NOT: bf16

// Weights, gradients of weights and what layers hand over stay f32. A weight is rounded
// as it is packed; a layer's input is rounded once, for the matmul and for what is saved,
// as only a weight's gradient reads that; "z" is saved in f32, which the loop back reads.
// CHECK-LABEL: func.func @train_step
// CHECK: kernel.layers %{{.*}} slots
// CHECK: ^bb0(%[[S:.*]]: tensor<?x16xf32>):
// CHECK: %[[C:.*]] = kernel.rows ins(%[[S]] : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x16xbf16>)
// CHECK: kernel.save %[[C]] as "x" : tensor<?x16xbf16>
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} outs(%{{.*}} : tensor<16x16xbf16>) : tensor<16x16xf32> -> tensor<16x16xbf16>
// CHECK: %[[Z:.*]] = kernel.matmul %[[C]], %[[P]] extras(%[[S]] : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x16xf32>)
// CHECK: kernel.save %[[Z]] as "z" : tensor<?x16xf32>
// CHECK: kernel.yield %[[Z]] : tensor<?x16xf32>

// What only matmuls, weights' gradients and column sums read is bf16 where it is made;
// of what the norm's gradient makes, which is handed over too, they read a rounded copy.
// CHECK: kernel.layers {{.*}} reverse
// CHECK: %[[X:.*]] = kernel.saved "x" rows %{{.*}} -> tensor<?x16xbf16>
// CHECK: %[[G:.*]] = kernel.rows ins({{.*}}) outs(%{{.*}} : tensor<?x16xbf16>)
// CHECK: kernel.weight_gradient %[[G]], %[[X]] outs(%{{.*}} : tensor<16x16xf32>) : tensor<?x16xbf16>, tensor<?x16xbf16> -> tensor<16x16xf32>
// CHECK: kernel.column_sums ins(%[[G]] : tensor<?x16xbf16>)
// CHECK: %[[T:.*]] = kernel.pack %{{.*}} transposed outs(%{{.*}} : tensor<16x16xbf16>)
// CHECK: %[[Y:.*]] = kernel.matmul %[[G]], %[[T]] outs(%{{.*}} : tensor<?x16xf32>)
// CHECK: %[[N:.*]] = kernel.norm_backward %[[Y]]
// CHECK: %[[M:.*]] = kernel.rows ins(%[[N]] : tensor<?x16xf32>) outs(%{{.*}} : tensor<?x16xbf16>)
// CHECK: kernel.weight_gradient %[[M]], %[[X]]
// CHECK: kernel.yield %[[N]] : tensor<?x16xf32>

// A panel has 48 columns, of each two values of K.
// PLAN: kernel.pack %{{.*}} outs(%{{.*}} : memref<1x8x96xbf16>) : memref<16x16xf32>
func.func @train_step(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "g", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %first = kernel.rows ins(%x : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  %y = kernel.layers %first slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
  ^bb0(%s: tensor<?x16xf32>):
    kernel.save %s as "x" : tensor<?x16xf32>
    %w = kernel.weight @"layers.*.w" -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %p = kernel.pack %w outs(%e : tensor<16x16xf32>) : tensor<16x16xf32> -> tensor<16x16xf32>
    %z = kernel.matmul %s, %p extras(%s : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
    ^bb0(%acc: f32, %n: f32):
      %0 = arith.addf %acc, %n : f32
      kernel.yield %0 : f32
    } : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    kernel.save %z as "z" : tensor<?x16xf32>
    kernel.yield %z : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  %g = kernel.layers %y reverse slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
  ^bb0(%s: tensor<?x16xf32>):
    %h = kernel.saved "x" rows %rows -> tensor<?x16xf32>
    %z = kernel.saved "z" rows %rows -> tensor<?x16xf32>
    %gz = kernel.rows ins(%s, %z : tensor<?x16xf32>, tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1, -1] {
    ^bb0(%n: f32, %m: f32):
      %0 = arith.mulf %n, %m : f32
      kernel.yield %0 : f32
    } -> tensor<?x16xf32>
    %gw = kernel.gradient @"layers.*.w" -> tensor<16x16xf32>
    %added = kernel.weight_gradient %gz, %h outs(%gw : tensor<16x16xf32>) : tensor<?x16xf32>, tensor<?x16xf32> -> tensor<16x16xf32>
    %sums = tensor.empty() : tensor<16xf32>
    %summed = kernel.column_sums ins(%gz : tensor<?x16xf32>) outs(%sums : tensor<16xf32>) {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<16xf32>
    %w = kernel.weight @"layers.*.w" -> tensor<16x16xf32>
    %e = tensor.empty() : tensor<16x16xf32>
    %p = kernel.pack %w transposed outs(%e : tensor<16x16xf32>) : tensor<16x16xf32> -> tensor<16x16xf32>
    %gy = kernel.matmul %gz, %p outs(%o : tensor<?x16xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
    %gn = kernel.norm_backward %gy, %z outs(%o : tensor<?x16xf32>) norm <layer, 1.0e-05> : tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
    %again = kernel.weight_gradient %gn, %h outs(%gw : tensor<16x16xf32>) : tensor<?x16xf32>, tensor<?x16xf32> -> tensor<16x16xf32>
    kernel.yield %gn : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  return %g : tensor<?x16xf32>
}

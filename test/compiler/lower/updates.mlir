// RUN: %mille-opt %s --plan-memory --lower-program=name=tiny | FileCheck %s

// A layer's parameters are updated as soon as a megabyte of their gradients is
// whole and nothing reads them any more, and what is left at the layer's end.
// @w has a megabyte, and its values are read after its gradient is made; @b is
// whole before that, @c after it. The first launch copies x.
// CHECK-LABEL: llvm.func internal @tiny_train_step
// CHECK-COUNT-4: llvm.call @mille_launch
// CHECK-NOT: mille_launch
// CHECK: llvm.call @mille_update
// CHECK-NOT: mille_update
// CHECK: llvm.call @mille_launch
// CHECK-NOT: mille_launch
// CHECK: llvm.call @mille_update
// CHECK-NOT: mille_{{update|launch}}
// CHECK: llvm.return
func.func @train_step(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x512xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 512>})
    -> (tensor<?x512xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 512>}) {
  %rows = arith.muli %batch, %tokens : index
  %e = tensor.empty(%rows) : tensor<?x512xf32>
  %y = kernel.layers %x reverse slots [["w", "b", "c"]] bodies [0, 0] table [[@w0, @b0, @c0], [@w1, @b1, @c1]] attributes {kernel.updates = [@w, @b, @c]} {
  ^bb0(%s: tensor<?x512xf32>):
    %gb = kernel.gradient @b -> tensor<512xf32>
    %1 = kernel.column_sums ins(%s : tensor<?x512xf32>) outs(%gb : tensor<512xf32>) {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<512xf32>
    %gw = kernel.gradient @w -> tensor<512x512xf32>
    %2 = kernel.weight_gradient %s, %s outs(%gw : tensor<512x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32> -> tensor<512x512xf32>
    %w = kernel.weight @w -> tensor<512x512xf32>
    %z = kernel.matmul %s, %w outs(%e : tensor<?x512xf32>) accumulators 1 {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } : tensor<?x512xf32>, tensor<512x512xf32> -> tensor<?x512xf32>
    %gc = kernel.gradient @c -> tensor<512xf32>
    %3 = kernel.column_sums ins(%z : tensor<?x512xf32>) outs(%gc : tensor<512xf32>) {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<512xf32>
    kernel.yield %z : tensor<?x512xf32>
  } : tensor<?x512xf32> -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

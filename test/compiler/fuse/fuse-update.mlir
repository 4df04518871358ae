// RUN: %mille-opt %s --fuse-update --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s < %t.once
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: %mille-opt %s --fuse-update --fuse-update --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// A layer's own parameters are whole when the loop back leaves it: what the
// forward loop reads of them comes before, and the bias is added to twice there.
// What all layers add to (@shared), what two layers share (@tied), and what
// something reads later (@late, and @next in the layer before) wait.
// CHECK: kernel.layers %{{.*}} reverse
// CHECK: kernel.updates = [@w]
// REMARK: late is updated at the end of a step: it is read after the layer
// REMARK: tied is updated at the end of a step: its gradient is added to in several places
// REMARK: next is updated at the end of a step: it is read after the layer
// REMARK: shared is updated at the end of a step: all layers add to its gradient
transformer.model @tiny {
  transformer.parameter @w0 : tensor<8xf32> = #transformer.stored<"f", "w0", tensor<8xf32>>
  transformer.parameter @w1 : tensor<8xf32> = #transformer.stored<"f", "w1", tensor<8xf32>>
  transformer.parameter @late0 : tensor<8xf32> = #transformer.stored<"f", "l0", tensor<8xf32>>
  transformer.parameter @late1 : tensor<8xf32> = #transformer.stored<"f", "l1", tensor<8xf32>>
  transformer.parameter @tied0 : tensor<8xf32> = #transformer.stored<"f", "t", tensor<8xf32>>
  transformer.parameter @next0 : tensor<8xf32> = #transformer.stored<"f", "n0", tensor<8xf32>>
  transformer.parameter @next1 : tensor<8xf32> = #transformer.stored<"f", "n1", tensor<8xf32>>
  transformer.parameter @shared : tensor<8xf32> = #transformer.stored<"f", "s", tensor<8xf32>>
  func.func @train_step(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x8xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>})
      -> (tensor<?x8xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 8>}) {
    %rows = arith.muli %batch, %tokens : index
    %y = kernel.layers %x slots [["w"]] bodies [0, 0] table [[@w0], [@w1]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @w -> tensor<8xf32>
      %e = tensor.empty(%rows) : tensor<?x8xf32>
      %m = kernel.rows ins(%s, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%a: f32, %b: f32):
        %p = arith.mulf %a, %b : f32
        kernel.yield %p : f32
      } -> tensor<?x8xf32>
      kernel.yield %m : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    %g = kernel.layers %y reverse slots [["w", "late", "tied", "next", "before"]] bodies [0, 0] table [[@w0, @late0, @tied0, @next0, @next1], [@w1, @late1, @tied0, @next1, @next1]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @w -> tensor<8xf32>
      %b = kernel.weight @before -> tensor<8xf32>
      %e = tensor.empty(%rows) : tensor<?x8xf32>
      %m = kernel.rows ins(%s, %w, %b : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) gather [-1, -1, -1] {
      ^bb0(%a: f32, %c: f32, %d: f32):
        %p = arith.mulf %a, %c : f32
        %q = arith.addf %p, %d : f32
        kernel.yield %q : f32
      } -> tensor<?x8xf32>
      %gw = kernel.gradient @w -> tensor<8xf32>
      %1 = kernel.column_sums ins(%s : tensor<?x8xf32>) outs(%gw : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      %gw2 = kernel.gradient @w -> tensor<8xf32>
      %2 = kernel.column_sums ins(%m : tensor<?x8xf32>) outs(%gw2 : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      %gl = kernel.gradient @late -> tensor<8xf32>
      %3 = kernel.column_sums ins(%m : tensor<?x8xf32>) outs(%gl : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      %gt = kernel.gradient @tied -> tensor<8xf32>
      %4 = kernel.column_sums ins(%m : tensor<?x8xf32>) outs(%gt : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      %gn = kernel.gradient @next -> tensor<8xf32>
      %5 = kernel.column_sums ins(%m : tensor<?x8xf32>) outs(%gn : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      %gs = kernel.gradient @shared -> tensor<8xf32>
      %6 = kernel.column_sums ins(%m : tensor<?x8xf32>) outs(%gs : tensor<8xf32>) {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<8xf32>
      kernel.yield %m : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    %l = kernel.weight @late1 -> tensor<8xf32>
    %e = tensor.empty(%rows) : tensor<?x8xf32>
    %z = kernel.rows ins(%g, %l : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) gather [-1, -1] {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %a, %b : f32
      kernel.yield %p : f32
    } -> tensor<?x8xf32>
    return %z : tensor<?x8xf32>
  }
}

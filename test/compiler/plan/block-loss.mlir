// RUN: rm -rf %t && mkdir %t
// RUN: %mille-opt %s --block-loss='rows=2 columns=4' | FileCheck %s
// RUN: %mille-opt %s --block-loss='rows=2 columns=4' --block-loss='rows=2 columns=4' | FileCheck %s
// RUN: %mille-opt %s --block-loss='rows=2 columns=5' | FileCheck %s --check-prefix=NARROW
// NARROW-NOT: kernel.row_blocks
// RUN: %mille-opt %s --block-loss='columns=4' --remarks-filter=plan --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK: logits of 4 columns have memory for 256 rows
// REMARK: logits of 4 columns have memory for all rows: kernel.embed_gradient reads or writes such rows
// REMARK: logits of 4 columns have memory for all rows: a sum is read outside
// REMARK: logits of 4 columns have memory for all rows: kernel.rows cannot come before the loop
// RUN: %refuses 1 %mille-opt %s --block-loss='rows=0' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: block-loss has blocks of 0 rows but they must have at least 1

// The same numbers in three blocks, the last of one row.
// RUN: python3 %tensors make %t/in x:f32:1x5x2=1,2,3,-1,0,1,2,2,-3,1 y:i32:1x5=0,3,-100,1,2 times:f32:1=0.25
// RUN: %mille-opt %s --block-loss='rows=2 columns=4' -o %t/blocks.mlir
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/whole
// RUN: %mille run %t/blocks.mlir --target=reference --inputs %t/in --outputs %t/blocks
// RUN: cmp %t/whole %t/blocks

// What is as wide as the logits has rows of a block; the head's panels and the gradient
// that is added to are made before the loop.
// CHECK-LABEL: @forward
// CHECK: kernel.pack %{{.*}} transposed
// CHECK: %[[R:.*]]:2 = kernel.row_blocks rows 2 ins(%{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<?xi32>) outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x2xf32>) {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index, %[[X:.*]]: tensor<?x2xf32>, %[[Y:.*]]: tensor<?xi32>):
// CHECK: %[[O:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK: %[[Z:.*]] = kernel.matmul %[[X]], %{{.*}} outs(%[[O]] : tensor<?x4xf32>)
// CHECK: %[[L:.*]]:2 = kernel.cross_entropy %[[Z]] labels %[[Y]]
// CHECK: kernel.weight_gradient %[[L]]#1, %[[X]]
// CHECK: %[[G:.*]] = kernel.matmul %[[L]]#1
// CHECK: kernel.yield %[[L]]#0, %[[G]]
// CHECK: return %[[R]]#0, %[[R]]#1
transformer.model @m {
  transformer.parameter @w : tensor<4x2xf32> = #transformer.numbers<[1.0, 0.0, 0.0, 1.0, 0.5, -0.5, 2.0, 1.0], tensor<4x2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x2xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %y: tensor<?xi32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens>},
      %times: tensor<1xf32> {transformer.name = "times"})
      -> (tensor<?x1xf32> {transformer.name = "losses"}, tensor<?x2xf32> {transformer.name = "to_x"}) {
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
    %to = kernel.gradient @w -> tensor<4x2xf32>
    %0 = kernel.weight_gradient %loss#1, %x outs(%to : tensor<4x2xf32>) : tensor<?x4xf32>, tensor<?x2xf32> -> tensor<4x2xf32>
    %ot = tensor.empty() : tensor<2x4xf32>
    %t = kernel.pack %w transposed outs(%ot : tensor<2x4xf32>) : tensor<4x2xf32> -> tensor<2x4xf32>
    %ox = tensor.empty(%rows) : tensor<?x2xf32>
    %gx = kernel.matmul %loss#1, %t outs(%ox : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    return %loss#0, %gx : tensor<?x1xf32>, tensor<?x2xf32>
  }
}

// CHECK-LABEL: @keep_as_a_table_has_such_rows
// CHECK-NOT: kernel.row_blocks
func.func @keep_as_a_table_has_such_rows(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %z: tensor<?x4xf32> {transformer.shape = #transformer.shape<batch, tokens, 4>},
    %y: tensor<?xi32> {transformer.shape = #transformer.shape<batch, tokens>}, %times: tensor<1xf32>,
    %table: tensor<9x4xf32>) -> tensor<?x1xf32> {
  %rows = arith.muli %batch, %tokens : index
  %ol = tensor.empty(%rows) : tensor<?x1xf32>
  %og = tensor.empty(%rows) : tensor<?x4xf32>
  %loss:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %times : tensor<1xf32>
    losses(%ol : tensor<?x1xf32>) gradient(%og : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x1xf32>, tensor<?x4xf32>
  %0 = kernel.embed_gradient %loss#1 at %y outs(%table : tensor<9x4xf32>) : tensor<?x4xf32>, tensor<?xi32> -> tensor<9x4xf32>
  return %loss#0 : tensor<?x1xf32>
}

// CHECK-LABEL: @keep_as_a_sum_is_read
// CHECK-NOT: kernel.row_blocks
func.func @keep_as_a_sum_is_read(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %z: tensor<?x4xf32> {transformer.shape = #transformer.shape<batch, tokens, 4>},
    %y: tensor<?xi32> {transformer.shape = #transformer.shape<batch, tokens>}, %times: tensor<1xf32>,
    %sum: tensor<4xf32>) -> tensor<4xf32> {
  %rows = arith.muli %batch, %tokens : index
  %ol = tensor.empty(%rows) : tensor<?x1xf32>
  %og = tensor.empty(%rows) : tensor<?x4xf32>
  %loss:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %times : tensor<1xf32>
    losses(%ol : tensor<?x1xf32>) gradient(%og : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x1xf32>, tensor<?x4xf32>
  %0 = kernel.column_sums ins(%loss#1 : tensor<?x4xf32>) outs(%sum : tensor<4xf32>) {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What has a region may read there what its operands do not say: it stays where it is.
// CHECK-LABEL: @keep_as_a_region_stands_between
// CHECK-NOT: kernel.row_blocks
func.func @keep_as_a_region_stands_between(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %z: tensor<?x4xf32> {transformer.shape = #transformer.shape<batch, tokens, 4>},
    %x: tensor<?x2xf32> {transformer.shape = #transformer.shape<batch, tokens, 2>},
    %y: tensor<?xi32> {transformer.shape = #transformer.shape<batch, tokens>}, %times: tensor<1xf32>,
    %sum: tensor<4x2xf32>) -> tensor<?x1xf32> {
  %rows = arith.muli %batch, %tokens : index
  %ol = tensor.empty(%rows) : tensor<?x1xf32>
  %og = tensor.empty(%rows) : tensor<?x4xf32>
  %loss:2 = kernel.cross_entropy %z labels %y : tensor<?xi32> times %times : tensor<1xf32>
    losses(%ol : tensor<?x1xf32>) gradient(%og : tensor<?x4xf32>) : tensor<?x4xf32> -> tensor<?x1xf32>, tensor<?x4xf32>
  %oh = tensor.empty(%rows) : tensor<?x2xf32>
  %h = kernel.rows ins(%x : tensor<?x2xf32>) outs(%oh : tensor<?x2xf32>) gather [-1] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x2xf32>
  %0 = kernel.weight_gradient %loss#1, %h outs(%sum : tensor<4x2xf32>) : tensor<?x4xf32>, tensor<?x2xf32> -> tensor<4x2xf32>
  return %loss#0 : tensor<?x1xf32>
}

// Two accumulators (columns n and N + n), and extras by element, column, row
// and scalar; the region is scalar.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:4x2=1,0,0,1,10,0,0,10 column:f32:2=100,200 one:f32:1=1000
// RUN: python3 %tensors make %t/in x:f32:1x2x2=1,2,3,4 row:f32:1x2x1=0.5,0.25
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// first + second / 10 + column + 1000 + element, times row:
// (1 + 1 + 100 + 1000 + 1) / 2, ...
// CHECK: y [1, 2, 2] 551.5 603 277.25 303{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<4x2xf32> = #transformer.stored<"w", "w", tensor<4x2xf32>>
  transformer.parameter @column : tensor<2xf32> = #transformer.stored<"w", "column", tensor<2xf32>>
  transformer.parameter @one : tensor<1xf32> = #transformer.stored<"w", "one", tensor<1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x2xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %row: tensor<?x1xf32> {transformer.name = "row", transformer.shape = #transformer.shape<batch, tokens, 1>})
      -> (tensor<?x2xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @w -> tensor<4x2xf32>
    %column = kernel.weight @column -> tensor<2xf32>
    %one = kernel.weight @one -> tensor<1xf32>
    %o = tensor.empty(%rows) : tensor<?x2xf32>
    %y = kernel.matmul %x, %w extras(%x, %column, %row, %one : tensor<?x2xf32>, tensor<2xf32>, tensor<?x1xf32>, tensor<1xf32>)
        outs(%o : tensor<?x2xf32>) accumulators 2 {
    ^bb0(%first: f32, %second: f32, %e: f32, %c: f32, %r: f32, %s: f32):
      %ten = arith.constant 10.0 : f32
      %0 = arith.divf %second, %ten : f32
      %1 = arith.addf %first, %0 : f32
      %2 = arith.addf %1, %c : f32
      %3 = arith.addf %2, %s : f32
      %4 = arith.addf %3, %e : f32
      %5 = arith.mulf %4, %r : f32
      kernel.yield %5 : f32
    } : tensor<?x2xf32>, tensor<4x2xf32> -> tensor<?x2xf32>
    return %y : tensor<?x2xf32>
  }
}

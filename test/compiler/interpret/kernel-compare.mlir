// Comparisons of a scalar region, of 1 with 0, 1, 2 and no number: in the order of digits
// equal, greater, greater or equal, less, less or equal, not equal. No number is ordered.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:1x1x4=0,1,2,nan
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 1, 4] 11001 101010 111 1{{$}}
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%x : tensor<?x4xf32>) outs(%o : tensor<?x4xf32>) gather [-1] {
    ^bb0(%a: f32):
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %ten = arith.constant 10.0 : f32
      %eq = arith.cmpf oeq, %one, %a : f32
      %gt = arith.cmpf ogt, %one, %a : f32
      %ge = arith.cmpf oge, %one, %a : f32
      %lt = arith.cmpf olt, %one, %a : f32
      %le = arith.cmpf ole, %one, %a : f32
      %ne = arith.cmpf une, %one, %a : f32
      %0 = arith.select %eq, %ten, %zero : f32
      %d1 = arith.select %gt, %one, %zero : f32
      %1 = arith.addf %0, %d1 : f32
      %2 = arith.mulf %1, %ten : f32
      %d2 = arith.select %ge, %one, %zero : f32
      %3 = arith.addf %2, %d2 : f32
      %4 = arith.mulf %3, %ten : f32
      %d3 = arith.select %lt, %one, %zero : f32
      %5 = arith.addf %4, %d3 : f32
      %6 = arith.mulf %5, %ten : f32
      %d4 = arith.select %le, %one, %zero : f32
      %7 = arith.addf %6, %d4 : f32
      %8 = arith.mulf %7, %ten : f32
      %d5 = arith.select %ne, %one, %zero : f32
      %9 = arith.addf %8, %d5 : f32
      kernel.yield %9 : f32
    } -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

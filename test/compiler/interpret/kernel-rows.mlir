// Gathers, a norm before the region, a launch of two, comparisons.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w table:f32:3x2=9,9,1,3,-1,-3
// RUN: python3 %tensors make %t/in input_ids:i32:1x2=1,2
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// rms with eps 4: [1/3, 1], [-1/3, -1]; times 3; then the greater of it and -2
// CHECK-DAG: y [1, 2, 2] 1 3 -1 -2{{$}}
// where it is over 2: 1, else 0
// CHECK-DAG: z [1, 2, 2] 0 1 0 0{{$}}
// RUN: python3 %tensors make %t/in input_ids:i32:1x2=1,3
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: index 3 is read at row 1 but the table has 3 rows
transformer.model @m {
  transformer.parameter @table : tensor<3x2xf32> = #transformer.stored<"w", "table", tensor<3x2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %ids: tensor<?xi32> {transformer.name = "input_ids", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x2xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %rows = arith.muli %batch, %tokens : index
    %table = kernel.weight #transformer.times<@table, 1.0> -> tensor<3x2xf32>
    %y, %z = kernel.launch {
      %o = tensor.empty(%rows) : tensor<?x2xf32>
      %0 = kernel.rows ins(%table : tensor<3x2xf32>) indices(%ids : tensor<?xi32>) outs(%o : tensor<?x2xf32>)
          gather [0] norm <rms, 4.0> {
      ^bb0(%n: f32):
        %three = arith.constant 3.0 : f32
        %least = arith.constant -2.0 : f32
        %1 = arith.mulf %n, %three : f32
        %2 = arith.maximumf %1, %least : f32
        kernel.yield %2 : f32
      } -> tensor<?x2xf32>
      %p = tensor.empty(%rows) : tensor<?x2xf32>
      %3 = kernel.rows ins(%0 : tensor<?x2xf32>) outs(%p : tensor<?x2xf32>) gather [-1] {
      ^bb0(%n: f32):
        %two = arith.constant 2.0 : f32
        %one = arith.constant 1.0 : f32
        %none = arith.constant 0.0 : f32
        %4 = arith.cmpf ogt, %n, %two : f32
        %5 = arith.select %4, %one, %none : f32
        kernel.yield %5 : f32
      } -> tensor<?x2xf32>
      kernel.yield %0, %3 : tensor<?x2xf32>, tensor<?x2xf32>
    } : tensor<?x2xf32>, tensor<?x2xf32>
    return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
  }
}

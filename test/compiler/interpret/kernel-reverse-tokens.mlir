// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/in x:f32:2x3x1=1,2,3,4,5,6 m:i32:2x3=1,1,0,0,1,1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: a [2, 3, 1] 3 2 1 6 5 4{{$}}
// CHECK-DAG: b [2, 3, 1] 3 2 0 0 5 4{{$}}
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x1xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %m: tensor<?xi32> {transformer.name = "m", transformer.shape = #transformer.shape<batch, tokens>})
      -> (tensor<?x1xf32> {transformer.name = "a", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "b", transformer.shape = #transformer.shape<batch, tokens, 1>}) {
    %rows = arith.muli %batch, %tokens : index
    %o = tensor.empty(%rows) : tensor<?x1xf32>
    %0 = kernel.reverse_tokens %x tokens %tokens outs(%o : tensor<?x1xf32>) : tensor<?x1xf32> -> tensor<?x1xf32>
    %1 = kernel.reverse_tokens %x key_mask %m : tensor<?xi32> tokens %tokens outs(%o : tensor<?x1xf32>) : tensor<?x1xf32> -> tensor<?x1xf32>
    return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

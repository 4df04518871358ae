// A weight that is rounded to bf16 as it is packed, plain and transposed; plan puts it into
// panels later. 1.01 is 1.0078125 in bf16, 10.1 is 10.125.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:2x3=1.01,2,3,10.1,20,30 v:f32:3x2=1.01,10.1,2,20,3,30
// RUN: python3 %tensors make %t/in x:f32:1x2x3=1,2,3,4,5,6
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 2, 2] 14.00781 140.125 32.03125 320.5{{$}}
// CHECK: z [1, 2, 2] 14.00781 140.125 32.03125 320.5{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<2x3xf32> = #transformer.stored<"w", "w", tensor<2x3xf32>>
  transformer.parameter @v : tensor<3x2xf32> = #transformer.stored<"w", "v", tensor<3x2xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x3xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 3>})
      -> (tensor<?x2xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @w -> tensor<2x3xf32>
    %v = kernel.weight @v -> tensor<3x2xf32>
    %n = tensor.empty(%rows) : tensor<?x3xbf16>
    %narrow = kernel.rows ins(%x : tensor<?x3xf32>) outs(%n : tensor<?x3xbf16>) gather [-1] {
    ^bb0(%e: f32):
      kernel.yield %e : f32
    } -> tensor<?x3xbf16>
    %o = tensor.empty(%rows) : tensor<?x2xf32>
    %a = tensor.empty() : tensor<2x3xbf16>
    %p = kernel.pack %w outs(%a : tensor<2x3xbf16>) : tensor<2x3xf32> -> tensor<2x3xbf16>
    %t = kernel.pack %v transposed outs(%a : tensor<2x3xbf16>) : tensor<3x2xf32> -> tensor<2x3xbf16>
    %y = kernel.matmul %narrow, %p outs(%o : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : tensor<?x3xbf16>, tensor<2x3xbf16> -> tensor<?x2xf32>
    %z = kernel.matmul %narrow, %t outs(%o : tensor<?x2xf32>) accumulators 1 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : tensor<?x3xbf16>, tensor<2x3xbf16> -> tensor<?x2xf32>
    return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
  }
}

// Inputs and weights of a product in narrow types: a row's bytes with its outlier apart,
// blocks of 32, floats of 8 and of 16 bits. The weight has 127 at [n, n], which is 1 step
// of 127 or the largest of 448. Numbers are those of the formulas, worked out by hand.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/w w:f32:4x32=127,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
// RUN: python3 %tensors make %t/in x:f32:1x3x32=1000,255,0,10.4,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,127,0.4,1.6,-2.6,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,nan,nan,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
// RUN: %mille-opt %s --narrow-types=dtype=int8 -o %t/int8.mlir
// RUN: %mille run %t/int8.mlir --target=reference --inputs %t/in --outputs %t/int8
// RUN: python3 %tensors print %t/int8 | FileCheck %s --check-prefix=INT8
// 1000 is the outlier, and 255 steps of 1 are left. Then 127 is, and -2.6 to 1.6 are 255
// steps of 0.01647, of which 0 is 158, 0.4 is 182, 1.6 is 255 and -2.6 is 0.
// INT8: y [1, 3, 4] 127000 32385 0 1270 16129 50.20235 202.9012 -330.4988 nan nan nan nan{{$}}
//
// RUN: %mille-opt %s --narrow-types=dtype=q8_0 -o %t/q8_0.mlir
// RUN: %mille run %t/q8_0.mlir --target=reference --inputs %t/in --outputs %t/q8_0
// RUN: python3 %tensors print %t/q8_0 | FileCheck %s --check-prefix=BLOCKS
// 32 and 1 steps of 1000 / 127; 0, 2 and -3 steps of 1.
// BLOCKS: y [1, 3, 4] 127000 32000 0 1000 16129 0 254 -381 nan nan nan nan{{$}}
//
// RUN: %mille-opt %s --narrow-types=dtype=fp8 -o %t/fp8.mlir
// RUN: %mille run %t/fp8.mlir --target=reference --inputs %t/in --outputs %t/fp8
// RUN: python3 %tensors print %t/fp8 | FileCheck %s --check-prefix=FP8
// 448, 112 and 4.5 times 1000 / 448; 448, 1.375, 5.5 and -9 times 127 / 448.
// FP8: y [1, 3, 4] 127000 31750 0 1275.67 16129 49.50307 198.0123 -324.0201 nan nan nan nan{{$}}
//
// RUN: %mille-opt %s --narrow-types=dtype=bf16 -o %t/bf16.mlir
// RUN: %mille run %t/bf16.mlir --target=reference --inputs %t/in --outputs %t/bf16
// RUN: python3 %tensors print %t/bf16 | FileCheck %s --check-prefix=BF16
// 10.4 is 10.375.
// BF16: y [1, 3, 4] 127000 32385 0 1317.625 16129 50.84961 203.3984 -329.4062 nan nan
//
// RUN: %mille-opt %s --narrow-types=dtype=f16 -o %t/f16.mlir
// RUN: %mille run %t/f16.mlir --target=reference --inputs %t/in --outputs %t/f16
// RUN: python3 %tensors print %t/f16 | FileCheck %s --check-prefix=F16
// 10.4 is 10 + 51 / 128.
// F16: y [1, 3, 4] 127000 32385 0 1320.602 16129 50.7876 203.1504 -330.1504 nan nan
//
// What f16 does not hold is its largest number, in weights too, and no number is none.
// RUN: python3 %tensors make %t/w w:f32:4x32=70000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
// RUN: python3 %tensors make %t/in x:f32:1x1x32=1,70000,-70000,3e-8,0
// RUN: %mille run %t/f16.mlir --target=reference --inputs %t/in --outputs %t/large
// RUN: python3 %tensors print %t/large | FileCheck %s --check-prefix=LARGE
// LARGE: y [1, 1, 4] 65504 4.290774e+09 -4.290774e+09 0.003904343{{$}}
transformer.model @m {
  transformer.parameter @w : tensor<4x32xf32> = #transformer.stored<"w", "w", tensor<4x32xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: tensor<?x32xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 32>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @w -> tensor<4x32xf32>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.matmul %x, %w outs(%o : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : tensor<?x32xf32>, tensor<4x32xf32> -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

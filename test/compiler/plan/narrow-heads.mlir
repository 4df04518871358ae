// RUN: %mille-opt %s --narrow-types=dtype=q8_0 --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: %mille-opt %s --narrow-types=dtype=int8 | FileCheck %s
// RUN: %mille-opt %s --narrow-types=dtype=bf16 | FileCheck %s
// RUN: %mille-opt %s --narrow-types=dtype=f32 | FileCheck %s --check-prefix=WIDE
// RUN: %mille-opt %s --narrow-types=dtype=q8_0 | %mille-opt '--pack-weights=widths=48 widths-of-more=48' | FileCheck %s --check-prefix=PACK

// A row becomes bytes as a whole, so a matmul by head is bf16 in their place; each
// head's weight is a stack of panels.
// CHECK-LABEL: func.func @heads
// CHECK-DAG: %[[W:.*]] = kernel.weight @w -> tensor<2x32x64xbf16>
// CHECK: kernel.matmul %{{.*}}, %[[W]] outs({{.*}}) accumulators 1 heads 2 {
// CHECK: } : tensor<?x128xbf16>, tensor<2x32x64xbf16>
// WIDE: } : tensor<?x128xf32>, tensor<2x32x64xf32>
// PACK: kernel.weight #transformer.pack<@w, panel = 48, accumulators = 1, group = 2> -> tensor<2x1x32x96xbf16>
// REMARK: a weight becomes bf16: each head multiplies its own columns
func.func @heads(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x128xf32> {transformer.name = "x"}) -> (tensor<?x64xf32> {transformer.name = "y"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<2x32x64xf32>
  %d = tensor.empty(%rows) : tensor<?x64xf32>
  %y = kernel.matmul %x, %w outs(%d : tensor<?x64xf32>) accumulators 1 heads 2 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x128xf32>, tensor<2x32x64xf32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// RUN: %mille-opt %s --narrow-types=dtype=q8_0 --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: %mille-opt %s --narrow-types=dtype=q4_0 | %mille-opt '--pack-weights=widths=48,64 widths-of-more=64' --plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: %refuses 1 %mille-opt %s --narrow-types=dtype=q3_k 2>&1 | FileCheck %s --check-prefix=Q41
// Q41: dtype is 'q3_k' but must be f32, f16, bf16, int8, q8_0, q6_k, fp8, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0, mxfp4, stored

// Both matmuls read one copy of the input; what lies between kernels stays f32. Two
// accumulators have one panel.
// CHECK-LABEL: func.func @two
// CHECK-DAG: %[[X:.*]]:2 = kernel.quantize %arg2 values(%{{.*}} : tensor<?x64xi8>) parameters(%{{.*}} : tensor<?x6xf32>)
// CHECK-DAG: %[[W:.*]] = kernel.weight #transformer.in_blocks<@w, q8_0> -> tensor<20x64xf32>
// CHECK: kernel.matmul %[[X]]#0, %[[W]] parameters %[[X]]#1 : tensor<?x6xf32> outs({{.*}}) accumulators 1 blocks q8_0 {
// CHECK: } : tensor<?x64xi8>, tensor<20x64xf32> -> tensor<?x20xf32>
// CHECK-NOT: kernel.quantize
// CHECK: kernel.matmul %[[X]]#0, {{.*}} accumulators 2 blocks q8_0 {
// PLAN-LABEL: func.func @two
// PLAN-DAG: kernel.weight #transformer.pack_blocks<@w, q4_0, accumulators = 1> -> memref<2x2x288xi8>
// PLAN-DAG: kernel.weight #transformer.pack_blocks<@v, q4_0, accumulators = 2> -> memref<1x2x576xi8>
// PLAN-DAG: kernel.arena {{.*}} : memref<?x64xi8>
func.func @two(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x64xf32> {transformer.name = "x"}) -> (tensor<?x20xf32> {transformer.name = "y"}, tensor<?x16xf32> {transformer.name = "z"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<20x64xf32>
  %d0 = tensor.empty(%rows) : tensor<?x20xf32>
  %y = kernel.matmul %x, %w outs(%d0 : tensor<?x20xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x64xf32>, tensor<20x64xf32> -> tensor<?x20xf32>
  %v = kernel.weight @v -> tensor<32x64xf32>
  %d1 = tensor.empty(%rows) : tensor<?x16xf32>
  %z = kernel.matmul %x, %v outs(%d1 : tensor<?x16xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x16xf32>
  return %y, %z : tensor<?x20xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @keep_as_no_whole_blocks
// CHECK-NOT: kernel.quantize
// REMARK: a matmul stays f32: its rows of 48 numbers are no whole blocks of 32
func.func @keep_as_no_whole_blocks(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x48xf32> {transformer.name = "x"}) -> (tensor<?x20xf32> {transformer.name = "y"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<20x48xf32>
  %d0 = tensor.empty(%rows) : tensor<?x20xf32>
  %y = kernel.matmul %x, %w outs(%d0 : tensor<?x20xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x48xf32>, tensor<20x48xf32> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

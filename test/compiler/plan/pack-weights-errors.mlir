// RUN: %mille-opt %s --pack-weights --split-input-file --verify-diagnostics
// RUN: %refuses 1 %mille-opt %s '--pack-weights=widths=48,0' 2>&1 | FileCheck %s
// CHECK: error: 'kernel.matmul' op is to be packed by the option widths but that holds a number below 1
func.func @no_widths(%x: tensor<?x8xf32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<80x8xf32>
  // expected-error @+1 {{is to be packed by the option widths but that holds no number}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : tensor<?x8xf32>, tensor<80x8xf32> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

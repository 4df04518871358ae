// RUN: %mille-opt %s | %mille-opt | FileCheck %s
// RUN: %mille-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @norms
// CHECK: transformer.norm %{{.*}} by <layer_norm, eps = 1.0e-05, affine = weight, weight = @n.weight, bias = @n.bias> : tensor<?x?x8xf32>
// CHECK: transformer.norm %{{.*}} by <rms_norm, eps = 1.0e-06, affine = one_plus_weight, weight = @n.weight>
// CHECK: transformer.norm %{{.*}} by <l2_norm, eps = 1.2345678901234567e-12>
// CHECK: transformer.norm %{{.*}} by <identity>
func.func @norms(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @n.weight, bias = @n.bias> : tensor<?x?x8xf32>
  %1 = transformer.norm %0 by <rms_norm, eps = 1.0e-6, affine = one_plus_weight, weight = @n.weight> : tensor<?x?x8xf32>
  %2 = transformer.norm %1 by <l2_norm, eps = 1.2345678901234567e-12> : tensor<?x?x8xf32>
  %3 = transformer.norm %2 by <identity> : tensor<?x?x8xf32>
  return %3 : tensor<?x?x8xf32>
}

// Each head by itself; rounded after the weight.
// CHECK-LABEL: @groups
// CHECK: transformer.norm %{{.*}} by <rms_norm, eps = 1.0e-06, affine = weight, weight = @q_norm.weight, group = 4> : tensor<?x?x8xf32>
// CHECK: transformer.norm %{{.*}} by <rms_norm, eps = 1.0e-06, affine = one_plus_weight, weight = @q_norm.weight, group = 4>
func.func @groups(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = transformer.norm %x by <rms_norm, eps = 1.0e-6, affine = weight, weight = @q_norm.weight, group = 4> : tensor<?x?x8xf32>
  %1 = transformer.norm %0 by <rms_norm, eps = 1.0e-6, affine = one_plus_weight, weight = @q_norm.weight, group = 4> : tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// FOLD-LABEL: @identity_goes
// FOLD-SAME: (%[[X:.*]]: tensor
// FOLD-NEXT: return %[[X]]
func.func @identity_goes(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = transformer.norm %x by <identity> : tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

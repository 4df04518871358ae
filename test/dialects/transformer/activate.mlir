// RUN: %mille-opt %s | %mille-opt | FileCheck %s
// RUN: %mille-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @activate
// CHECK: transformer.activate %{{.*}} by gelu_erf : tensor<?x?x8xf32>
func.func @activate(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.activate %x by gelu_erf : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// FOLD-LABEL: @identity_goes
// FOLD-SAME: (%[[X:.*]]: tensor
// FOLD-NEXT: return %[[X]]
func.func @identity_goes(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.activate %x by identity : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @schedule_c1(%step: tensor<1xi32>, %o: tensor<1xf32>) {
  // expected-error @below {{'kernel.schedule' op has no name}}
  %s = kernel.schedule "" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
  return
}

// -----

func.func @schedule_c2(%step: tensor<1xi32>, %o: tensor<1xf32>) {
  // expected-error @below {{'kernel.schedule' op steps is 0 but must be > 0}}
  %s = kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 0 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
  return
}

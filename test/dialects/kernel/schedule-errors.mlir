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

// -----

func.func @schedule_c2_to(%step: tensor<1xi32>, %o: tensor<1xf32>) {
  // expected-error @+1 {{to is inf but must be finite}}
  %s = kernel.schedule "branch_scale" of %step from 0.0 to 0x7FF0000000000000 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
  return
}

// -----

func.func @schedule_c3(%step: tensor<2xi32>, %o: tensor<1xf32>) {
  // expected-error @+1 {{step is 'tensor<2xi32>' but must be i32 [1]}}
  %s = kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<2xi32> -> tensor<1xf32>
  return
}

// -----

func.func @schedule_c3_out(%step: tensor<1xi32>, %o: tensor<2xf32>) {
  // expected-error @+1 {{outs is 'tensor<2xf32>' but must be f32 [1]}}
  %s = kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<2xf32>) : tensor<1xi32> -> tensor<2xf32>
  return
}

// -----

func.func @schedule_c4(%step: tensor<1xi32>, %o: tensor<1xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32>
  return
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @activate_gradient_c1(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{must have one of `by`, `cap`, and `low` with `high`}}
  %y = transformer.activate_gradient %g at %g by relu cap 2.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @activate_gradient_c1_low(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{must have one of `by`, `cap`, and `low` with `high`}}
  %y = transformer.activate_gradient %g at %g low 2.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @activate_gradient_c2(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{has 1 results but must have 2}}
  %y = transformer.activate_gradient %g at %g times %g by relu : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @activate_gradient_c2_type(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{gives 'tensor<?x?x4xf32>' but input is 'tensor<?x?x8xf32>'}}
  %y = transformer.activate_gradient %g at %g by relu : tensor<?x?x8xf32> -> tensor<?x?x4xf32>
  return
}

// -----

func.func @activate_gradient_c3(%g: tensor<?x?x8xf32>) {
  // expected-error @+1 {{up_offset is 1.0 but there is no up}}
  %y = transformer.activate_gradient %g at %g by relu up_offset 1.0 : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

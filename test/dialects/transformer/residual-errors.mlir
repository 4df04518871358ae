// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @residual_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{has no branches}}
  %y = "transformer.residual"(%x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c1_argument(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{branch 0 takes 'tensor<?x?x4xf32>' but the input is 'tensor<?x?x8xf32>'}}
  %y = transformer.residual %x {
  ^bb0(%u: tensor<?x?x4xf32>):
    transformer.yield %x : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c1_yield(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{branch 0 must yield one value of the input's type, 'tensor<?x?x8xf32>'}}
  %y = transformer.residual %x {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{in_norm has 3 entries but there are 2 branches}}
  %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>, #transformer.norm<rms_norm, eps = 1.0e-6>, #transformer.norm<rms_norm, eps = 1.0e-6>] {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  }, {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{branch_norm has 2 entries but there are 1 branches}}
  %y = transformer.residual %x branch_norm [#transformer.norm<rms_norm, eps = 1.0e-6>, #transformer.norm<rms_norm, eps = 1.0e-6>] {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c3_scale(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{branch_scale has 1 entries but there are 2 branches}}
  %y = transformer.residual %x branch_scale [#transformer.scale<constant 2.0>] {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  }, {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c4(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{tap is normed but in_norm has 0 entries where one shared norm is needed}}
  %y = transformer.residual %x tap normed {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c4_two(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{tap is normed but in_norm has 2 entries where one shared norm is needed}}
  %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6>, #transformer.norm<rms_norm, eps = 1.0e-6>] tap normed {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  }, {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c4_identity(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{tap is normed but in_norm is the identity}}
  %y = transformer.residual %x in_norm [#transformer.norm<identity>] tap normed {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

transformer.model @residual_c5 {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<8xf32> = #transformer.stored<"f", "p", tensor<8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{skip_scale @p is [8] but must be [1]}}
    %y = transformer.residual %x skip_scale <learned_scalar @p> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @residual_c5_channel {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<4xf32> = #transformer.stored<"f", "p", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{branch_scale @p is [4] but must be [8]}}
    %y = transformer.residual %x branch_scale [#transformer.scale<learned_channel @p>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @residual_c5_stream {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<1x1xf32> = #transformer.stored<"f", "p", tensor<1x1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{stream_scale @p is [1, 1] but must be [1]}}
    %y = transformer.residual %x stream_scale <learned_scalar @p> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @residual_c6_in {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<4xf32> = #transformer.stored<"f", "p", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{in_norm weight @p is [4] but must be [8]}}
    %y = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = weight, weight = @p>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @residual_c6_branch {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<4xf32> = #transformer.stored<"f", "p", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{branch_norm bias @p is [4] but must be [8]}}
    %y = transformer.residual %x branch_norm [#transformer.norm<layer_norm, eps = 1.0e-6, bias = @p>] {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @residual_c6_out {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<4xf32> = #transformer.stored<"f", "p", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{out_norm weight @p is [4] but must be [8]}}
    %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-6, affine = weight, weight = @p> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @residual_c7(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{branch_scale is #transformer.scale<constant 2.0> but out_norm undoes it, as skip_scale is 0}}
  %y = transformer.residual %x out_norm <rms_norm, eps = 1.0e-6> skip_scale <constant 0.0> branch_scale [#transformer.scale<constant 2.0>] {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @residual_c8(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{layer is -1 but must be >= 0}}
  %y = transformer.residual %x layer -1 {
  ^bb0(%u: tensor<?x?x8xf32>):
    transformer.yield %u : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

transformer.model @residual_c9 {
  // expected-note @+1 {{@p is given here}}
  transformer.parameter @p : tensor<1xf32> = #transformer.stored<"f", "p", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{skip_scale is constant but @p is not a number of the layer table}}
    %y = transformer.residual %x skip_scale <constant @p> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @residual_c10(%x: tensor<?x?x8xf32>) {
  // expected-note @+1 {{these layers save 0 values}}
  %y = transformer.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    // expected-error @+1 {{saves "sum" but its layers do not name it}}
    %0 = transformer.residual %s sum_as "sum" {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    transformer.yield %0 : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

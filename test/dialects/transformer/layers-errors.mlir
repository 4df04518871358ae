// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @layers_c1(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{slots has 2 lists but there are 1 bodies}}
  %y = transformer.layers %x slots [[], []] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c1_names(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{slots of body 0 is [1] but must be a list of names}}
  %y = transformer.layers %x slots [[1]] bodies [0] table [[@a]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c1_twice(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{slots of body 0 name "w" twice}}
  %y = transformer.layers %x slots [["w", "w"]] bodies [0] table [[@a, @b]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c1_unused(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{body 1 is run by no layer}}
  %y = transformer.layers %x slots [[], []] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  }, {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c2(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{body of layer 1 is 1 but there are 1 bodies}}
  %y = transformer.layers %x slots [[]] bodies [0, 1] table [[], []] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c2_length(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{table has 1 rows but bodies has 2}}
  %y = transformer.layers %x slots [[]] bodies [0, 0] table [[]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c2_empty(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{has no layers}}
  %y = transformer.layers %x slots [[]] bodies [] table [] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c3(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{table of layer 1 has 0 entries but body 0 has 1 slots}}
  %y = transformer.layers %x slots [["w"]] bodies [0, 0] table [[@a], []] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c3_row(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{table of layer 0 is @a but must be a list of entries}}
  %y = transformer.layers %x slots [["w"]] bodies [0] table [@a] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c3_entry(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{table of layer 0 has "a" but entries are symbols or f64 numbers}}
  %y = transformer.layers %x slots [["w"]] bodies [0] table [["a"]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c4(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{body 0 takes 'tensor<?x?x4xf32>' but the stream is 'tensor<?x?x8xf32>'}}
  %y = transformer.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x?x4xf32>):
    transformer.yield %x : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c4_yield(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{body 0 must yield one value of the stream's type, 'tensor<?x?x8xf32>'}}
  %y = transformer.layers %x slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield
  } : tensor<?x?x8xf32>
  return
}

// -----

transformer.model @layers_c5 {
  // expected-note @+1 {{a parameter of type tensor<8xf32> is defined here}}
  transformer.parameter @a : tensor<8xf32> = #transformer.stored<"f", "a", tensor<8xf32>>
  // expected-note @+1 {{a parameter of type tensor<4xf32> is defined here}}
  transformer.parameter @b : tensor<4xf32> = #transformer.stored<"f", "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{column "w" is @b at layer 1 but @a at layer 0, which has another type}}
    %y = transformer.layers %x slots [["w"]] bodies [0, 0] table [[@a], [@b]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      transformer.yield %s : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

transformer.model @layers_c5_name {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{table of layer 0 names @a, which is not a parameter}}
    %y = transformer.layers %x slots [["w"]] bodies [0] table [[@a]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      transformer.yield %s : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @layers_c5_number(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{column "w" is 1.000000e+00 : f64 at layer 1 but @a at layer 0, which has another type}}
  %y = transformer.layers %x slots [["w"]] bodies [0, 0] table [[@a], [1.0]] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c6(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{saves "a" twice}}
  %y = transformer.layers %x slots [[]] bodies [0] table [[]] saves ["a", "a"] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

// -----

func.func @layers_c6_reverse(%x: tensor<?x?x8xf32>) {
  // expected-error @+1 {{runs in reverse but saves "a"}}
  %y = transformer.layers %x reverse slots [[]] bodies [0] table [[]] saves ["a"] {
  ^bb0(%s: tensor<?x?x8xf32>):
    transformer.yield %s : tensor<?x?x8xf32>
  } : tensor<?x?x8xf32>
  return
}

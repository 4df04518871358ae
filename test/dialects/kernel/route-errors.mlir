// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @route_c1(%l: tensor<?xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{logits is 'tensor<?xf32>' but must be f32 [rows, columns]}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c1_outs(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>) {
  // expected-error @+1 {{has 3 outs but there are 4: weights, order, place, starts}}
  %r0, %r1, %r2 = kernel.route %l outs(%a, %b, %c : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @route_c1_weights(%l: tensor<?x8xf32>, %a: tensor<?x3xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{outs has 3 columns but must have 2}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x3xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c1_order(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?x2xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{order is 'tensor<?x2xi32>' but must be i32 [?]}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?x2xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c1_place(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi64>, %d: tensor<9xi32>) {
  // expected-error @+1 {{place is 'tensor<?xi64>' but must be i32 [?]}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi64>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi64>, tensor<9xi32>
  return
}

// -----

func.func @route_c1_starts(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<8xi32>) {
  // expected-error @+1 {{starts is 'tensor<8xi32>' but there are 8 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<8xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @route_c1_starts_dynamic(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<?xi32>) {
  // expected-error @+1 {{starts is 'tensor<?xi32>' but there are 8 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @route_c1_starts_overflow(%l: tensor<?x9223372036854775807xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{starts is 'tensor<9xi32>' but there are 9223372036854775807 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x9223372036854775807xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c2(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{selection_bias is 'tensor<4xf32>' but must be f32 [8]}}
  %r0, %r1, %r2, %r3 = kernel.route %l selection_bias %s : tensor<4xf32> outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c3(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{has 3 results but outs are tensors}}
  %r0, %r1, %r2 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @route_c3_type(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{result is 'tensor<?xi32>' but outs is 'tensor<9xi32>'}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @route_c4(%l: tensor<?x8xf32>, %a: tensor<?x9xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{k is 9 but there are 8 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x9xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 9 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x9xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c4_groups(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{groups is 3 but must divide the 8 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 3 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c4_top_groups(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{top_groups is 3 of 2 groups, but k is 2 of 8 experts}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 2 top_groups 3 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c3_memref(%l: memref<?x8xf32>, %a: memref<?x2xf32>, %b: memref<?xi32>, %c: memref<?xi32>, %d: memref<9xi32>) {
  // expected-error @+1 {{has 1 results but outs are memrefs}}
  %r = kernel.route %l outs(%a, %b, %c, %d : memref<?x2xf32>, memref<?xi32>, memref<?xi32>, memref<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : memref<?x8xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @route_c4_epsilon(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{epsilon is -1.0 but must be finite and >= 0}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon -1.0 factor 1.0
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

// -----

func.func @route_c4_factor(%l: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?xi32>, %c: tensor<?xi32>, %d: tensor<9xi32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %r0, %r1, %r2, %r3 = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 0x7FF0000000000000
    : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  return
}

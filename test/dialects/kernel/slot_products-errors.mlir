// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @slot_products_c1_slots(%y: tensor<8xf32>, %g: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x2xf32>) {
  // expected-error @+1 {{slots is 'tensor<8xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<?x2xf32>) : tensor<8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @slot_products_c1_columns(%y: tensor<?x8xf32>, %g: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<?x2xf32>) {
  // expected-error @+1 {{slots has 8 columns but row has 4}}
  %0 = kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @slot_products_c1_place(%y: tensor<?x8xf32>, %g: tensor<?x8xf32>, %p: tensor<?x2xi32>, %o: tensor<?x2xf32>) {
  // expected-error @+1 {{place is 'tensor<?x2xi32>' but must be i32 [?]}}
  %0 = kernel.slot_products %y, %g place %p : tensor<?x2xi32> outs(%o : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @slot_products_c2(%y: tensor<?x8xf32>, %g: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<2xf32>) {
  // expected-error @+1 {{outs is 'tensor<2xf32>' but must be f32 [rows, columns]}}
  %0 = kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<2xf32>) : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slot_products_c3(%y: tensor<?x8xf32>, %g: tensor<?x8xf32>, %p: tensor<?xi32>, %o: tensor<?x2xf32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

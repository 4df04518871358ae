// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @balance_loss_c1_losses(%x: tensor<?x2xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{losses has 2 columns but must have 1}}
  %0, %1 = kernel.balance_loss %x, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 1.0 : tensor<?x2xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @balance_loss_c1_outs(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x2xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{outs has 2 columns but must have 1}}
  %0, %1 = kernel.balance_loss %x, %s outs(%a, %b : tensor<?x2xf32>, tensor<?x8xf32>) k 2 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @balance_loss_c1_gradient(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x4xf32>) {
  // expected-error @+1 {{outs has 4 columns but must have 8}}
  %0, %1 = kernel.balance_loss %x, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x4xf32>) k 2 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @balance_loss_c1_one(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{has 1 outs but must have losses and a gradient}}
  %0 = kernel.balance_loss %x, %s outs(%a : tensor<?x1xf32>) k 2 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>
  return
}

// -----

func.func @balance_loss_c2_k(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{shares has 8 columns but k is 5, of experts that have two columns each}}
  %0, %1 = kernel.balance_loss %x, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 5 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @balance_loss_c2_factor(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{factor is -1.0 but must be finite and >= 0}}
  %0, %1 = kernel.balance_loss %x, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor -1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @balance_loss_c3(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>, %m: tensor<?x2xi32>) {
  // expected-error @+1 {{key_mask is 'tensor<?x2xi32>' but must be i32 [?]}}
  %0, %1 = kernel.balance_loss %x, %s key_mask %m : tensor<?x2xi32> outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @balance_loss_c4(%x: tensor<?x1xf32>, %s: tensor<?x8xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.balance_loss %x, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 1.0 : tensor<?x1xf32>, tensor<?x8xf32>
  return
}

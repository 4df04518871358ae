// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @balance_loss_c1(%x: tensor<2x4xf32>, %s: tensor<2x5x8xf32>) {
  // expected-error @+1 {{losses is [2, 4] but shares is [2, 5, 8]}}
  %0, %1 = transformer.balance_loss %x, %s k 2 factor 1.0 : tensor<2x4xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @balance_loss_c2(%x: tensor<2x5xf32>, %s: tensor<2x5x8xf32>, %m: tensor<2x4xi32>) {
  // expected-error @+1 {{key_mask is [2, 4] but shares is [2, 5, 8]}}
  %0, %1 = transformer.balance_loss %x, %s key_mask %m : tensor<2x4xi32> k 2 factor 1.0 : tensor<2x5xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @balance_loss_c3(%x: tensor<2x5xf32>, %s: tensor<2x5x8xf32>) {
  // expected-error @+1 {{shares is [2, 5, 8] but k is 5, of experts that have two channels each}}
  %0, %1 = transformer.balance_loss %x, %s k 5 factor 1.0 : tensor<2x5xf32>, tensor<2x5x8xf32>
  return
}

// -----

func.func @balance_loss_c3_channels(%x: tensor<2x5xf32>, %s: tensor<2x5x7xf32>) {
  // expected-error @+1 {{shares is [2, 5, 7] but k is 2, of experts that have two channels each}}
  %0, %1 = transformer.balance_loss %x, %s k 2 factor 1.0 : tensor<2x5xf32>, tensor<2x5x7xf32>
  return
}

// -----

func.func @balance_loss_c4(%x: tensor<2x5xf32>, %s: tensor<2x5x8xf32>) {
  // expected-error @+1 {{factor is -1.0 but must be finite and >= 0}}
  %0, %1 = transformer.balance_loss %x, %s k 2 factor -1.0 : tensor<2x5xf32>, tensor<2x5x8xf32>
  return
}

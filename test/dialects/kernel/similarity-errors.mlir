// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @similarity_right(%a: tensor<?x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 must be f32 [rows, columns], but got 'tensor<8xf32>'}}
  kernel.similarity %a, %b as "logits" : tensor<?x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @similarity_c1(%a: tensor<?x8xf32>, %b: tensor<?x5xf32>) {
  // expected-error @+1 {{left has 8 columns but right has 5}}
  kernel.similarity %a, %b as "logits" : tensor<?x8xf32>, tensor<?x5xf32>
  return
}

// -----

func.func @similarity_c2(%a: tensor<?x8xf32>) {
  // expected-error @+1 {{has no name}}
  kernel.similarity %a, %a as "" : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

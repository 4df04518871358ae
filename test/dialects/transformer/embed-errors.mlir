// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @embed_c1() {
  // expected-error @+1 {{has no ids}}
  %x = transformer.embed() tables [] offsets [] : () -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embed_c1_tables(%ids: tensor<?x?xi32>) {
  // expected-error @+1 {{tables has 2 entries but there are 1 ids}}
  %x = transformer.embed(%ids) tables [@word, @position] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @embed_c1_offsets(%ids: tensor<?x?xi32>) {
  // expected-error @+1 {{offsets has 2 entries but there are 1 ids}}
  %x = transformer.embed(%ids) tables [@word] offsets [0, 1] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return
}

// -----

transformer.model @embed_c2 {
  // expected-note @+1 {{@word is given here}}
  transformer.parameter @word : tensor<64x16xf32> = #transformer.stored<"f", "word", tensor<64x16xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "input_ids"}) {
    // expected-error @+1 {{table @word is [64, 16] but must be [?, 8]}}
    %x = transformer.embed(%ids) tables [@word] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
    return
  }
}

// -----

func.func @embed_c3(%ids: tensor<?x4xi32>) {
  // expected-error @+1 {{ids is [?, 4] but result is [?, 5, 8]}}
  %x = transformer.embed(%ids) tables [@word] offsets [0] : (tensor<?x4xi32>) -> tensor<?x5x8xf32>
  return
}

// -----

func.func @embed_c4(%ids: tensor<?x?xi32>) {
  // expected-error @+1 {{scale is inf but must be finite}}
  %x = transformer.embed(%ids) tables [@word] offsets [0] scale 0x7FF0000000000000 : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return
}

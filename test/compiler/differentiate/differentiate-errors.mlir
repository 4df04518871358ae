// What has no adjoint is named; a wish that the pass does not know, too.
// RUN: %mille-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(transformer.model(differentiate{of=out loss=given}))'
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{of=y}))' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: the loss reads the output 'y' but there is none of that name
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{of=out loss=mean}))' 2>&1 | FileCheck %s --check-prefix=LOSS
// LOSS: loss is 'mean' but must be trained or given
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=some}))' 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RECOMPUTE: recompute is 'some' but must be none, cheap, layer or segment:K, K from 1
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=segment:0}))' 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: recompute is 'segment:{{0|1a}}' but must be none, cheap, layer or segment:K, K from 1
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{recompute=segment:1a}))' 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: %refuses 1 %mille-opt %s --split-input-file --pass-pipeline='builtin.module(transformer.model(differentiate{of=out}))' 2>&1 | FileCheck %s --check-prefix=CLASSES
// CLASSES: the loss reads an output without classes, 'tensor<?x?xf32>'

transformer.model @no_adjoint {
  transformer.parameter @w : tensor<4x8xf32> = #transformer.stored<"f", "w", tensor<4x8xf32>>
  func.func @forward(%x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x?xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x8xf32> -> tensor<?x4xf32>
    // expected-error @+1 {{has no adjoint, so the model cannot be trained}}
    %1 = transformer.similarity %0, %0 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
}

// -----

transformer.model @table_of_angles {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  transformer.parameter @t : tensor<9x4xf32> = #transformer.stored<"f", "t", tensor<9x4xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %p: tensor<?x?xi32> {transformer.name = "p"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    // expected-error @+1 {{has no adjoint where angles are a table or an image's, so the model cannot be trained}}
    %1 = transformer.rotate %0 at %p heads 2 head_dim 4 pairing half table @t : tensor<?x?x8xf32>, tensor<?x?xi32>
    return %1 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @shared_keys {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  transformer.parameter @d : tensor<2xf32> = #transformer.stored<"f", "d", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %k: tensor<?x?x4xf32> {transformer.name = "k"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    // expected-error @+1 {{has 2 heads of queries but 1 of keys, so the model cannot be trained}}
    %1 = transformer.linear_attend %0, %k, %k heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 1.0 decay @d
      : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @no_stream {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    // expected-error @+1 {{has body 0 that does not read the stream}}
    %y = transformer.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %1 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
      transformer.yield %1 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @state {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.stored<"f", "w", tensor<8x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %p: tensor<?xi32> {transformer.name = "past"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    // expected-error @+1 {{reads a state, so the entry cannot be trained}}
    %1 = transformer.attend %0, %0, %0 past %p : tensor<?xi32> heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 0.5 mask causal
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}

// -----

transformer.model @combined {
  transformer.parameter @w : tensor<2x8xf32> = #transformer.stored<"f", "w", tensor<2x8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %s: tensor<?x?x2x8xf32> {transformer.name = "s"}) -> (tensor<?x?x8xf32> {transformer.name = "out"}) {
    %0 = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x2xf32>
    // expected-error @+1 {{combines slots that no dispatch has made, so the model cannot be trained}}
    %1 = transformer.combine %s times %0 : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
    return %1 : tensor<?x?x8xf32>
  }
}

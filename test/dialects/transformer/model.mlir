// RUN: %mille-opt %s --split-input-file | %mille-opt --split-input-file | FileCheck %s

// CHECK-LABEL: transformer.model @tiny attributes {family = "native"}
// CHECK: func.func @forward(%{{.*}}: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "last_hidden_state"})
transformer.model @tiny attributes {family = "native"} {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"})
      -> (tensor<?x?x8xf32> {transformer.name = "last_hidden_state"}) {
    return %x : tensor<?x?x8xf32>
  }
}

// -----

// A kernel program: batch and tokens have no name, outputs are arguments.
// CHECK-LABEL: transformer.model @planned
transformer.model @planned {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %x: memref<?x8xf32> {transformer.name = "x"},
      %y: memref<?x8xf32> {transformer.name = "x", kernel.output}) {
    return
  }
}

// -----

// One scale of the whole model, and one of each layer, read by both its units.
// CHECK-LABEL: transformer.model @shared
transformer.model @shared {
  transformer.parameter @m : tensor<1xf32> = #transformer.stored<"f", "m", tensor<1xf32>>
  transformer.parameter @a : tensor<1xf32> = #transformer.stored<"f", "a", tensor<1xf32>>
  transformer.parameter @b : tensor<1xf32> = #transformer.stored<"f", "b", tensor<1xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [["layers.*.a"]] bodies [0, 0] table [[@a], [@b]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %0 = transformer.residual %s skip_scale <learned_scalar @m, share = model>
          branch_scale [#transformer.scale<learned_scalar @"layers.*.a", share = layer>] {
      ^bb0(%u: tensor<?x?x8xf32>):
        transformer.yield %u : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      %1 = transformer.residual %0 branch_scale [#transformer.scale<learned_scalar @"layers.*.a", share = layer>] {
      ^bb0(%u: tensor<?x?x8xf32>):
        transformer.yield %u : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %1 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}

// RUN: %mille-opt %s --fold-linear-scales --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: %mille-opt %s --fold-linear-scales=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --fold-linear-scales=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// NTK form is standard form with other weights; the bias stays.
// CHECK-LABEL: transformer.model @ntk
// CHECK: @w_scaled : tensor<4x4xf32> = #transformer.times<@w, 3.{{0*}}e-01 : f64>
// CHECK: transformer.linear %arg0 weight @w_scaled bias @b : tensor
// EXACT-LABEL: transformer.model @ntk
// EXACT: status = "declined: bit-exact"
transformer.model @ntk {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.linear %x weight @w bias @b scale 0.3 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// EXACT-LABEL: transformer.model @power_of_two
// EXACT: bound = "0: a power of two"
transformer.model @power_of_two {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.linear %x weight @w scale 0.25 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// WHY: fold-linear-scales declined: cost: another linear shares the weight without the factor: numbers of weights 16, rewritten 32
// COST-LABEL: transformer.model @by_cost_keep_as_weight_is_shared
// COST: scale 3.0
transformer.model @by_cost_keep_as_weight_is_shared {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.linear %x weight @w scale 3.0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.linear %1 weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// One factor for all readers is one new weight.
// COST-LABEL: transformer.model @shared_alike
// COST: weight @w_scaled
// COST: weight @w_scaled
transformer.model @shared_alike {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %1 = transformer.linear %x weight @w scale 3.0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.linear %1 weight @w scale 3.0 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

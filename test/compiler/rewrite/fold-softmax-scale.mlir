// RUN: %mille-opt %s --fold-softmax-scale --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fold-softmax-scale=by-cost --split-input-file --remarks-filter=rewrite --remark-format=emitRemark > %t.cost 2> %t.why
// RUN: FileCheck %s --input-file=%t.cost --check-prefix=COST
// RUN: FileCheck %s --input-file=%t.why --check-prefix=WHY
// RUN: %mille-opt %s --fold-softmax-scale=bit-exact --split-input-file | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: transformer.model @power_of_two
// CHECK: transformer.linear %arg0 weight @w_scaled bias @b_scaled
// CHECK: transformer.attend {{.*}} scale 1.000000e+00
// EXACT-LABEL: transformer.model @power_of_two
// EXACT: scale 1.000000e+00
// COST-LABEL: transformer.model @power_of_two
// COST: scale 5.000000e-01
// WHY: fold-softmax-scale declined: cost: attention multiplies queries by scale * log2 e, one constant, either way: multiplications of a query 1, rewritten 1
transformer.model @power_of_two {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %q = transformer.linear %x weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.attend %q, %x, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Through a rotation, into the weight of the queries' norm.
// CHECK-LABEL: transformer.model @rotated_norm
// CHECK: transformer.norm {{.*}} weight = @n0_scaled
// CHECK: transformer.attend {{.*}} scale 1.000000e+00
transformer.model @rotated_norm {
  transformer.parameter @n0 : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "n0", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %p: tensor<?x?xi32> {transformer.name = "position_ids", transformer.default = "positions"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %n = transformer.norm %x by <rms_norm, eps = 1.0e-5, affine = weight, weight = @n0> : tensor<?x?x4xf32>
    %r = transformer.rotate %n at %p heads 1 head_dim 4 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %r, %x, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.25 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_no_power_of_two
// CHECK: scale 3.000000e-01
// REMARK: fold-softmax-scale declined: law: the scale is no power of two: it stays in the constant of exp2
transformer.model @keep_as_no_power_of_two {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %q = transformer.linear %x weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.attend %q, %x, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.3 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_queries_have_another_reader
// CHECK: scale 5.000000e-01
// REMARK: fold-softmax-scale declined: law: something else reads the queries
transformer.model @keep_as_queries_have_another_reader {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  transformer.parameter @b : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %q = transformer.linear %x weight @w bias @b : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.attend %q, %q, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_queries_are_no_linear
// CHECK: scale 5.000000e-01
// REMARK: fold-softmax-scale declined: law: the queries are made by neither a linear nor a norm with a weight
transformer.model @keep_as_queries_are_no_linear {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %q = transformer.activate %x by tanh : tensor<?x?x4xf32>
    %y = transformer.attend %q, %x, %x heads 1 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// RUN: %mille-opt %s --fuse --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK

// Gate and up of experts are one stack, twice as wide, with what stands between
// them and their sum: biases by expert, bounds, the offset of up. The sum over
// experts has no epilogue: the residual's sum stays apart, and its norm with it.
// CHECK-LABEL: transformer.model @experts
// CHECK: boundary = "bias-activation", {{[^}]*}} status = "fused", unit = "gate"
// CHECK: boundary = "bias-activation", {{[^}]*}} status = "fused", unit = "up"
// CHECK: boundary = "gate-up", {{[^}]*}} status = "fused", unit = "gate+up"
// CHECK: boundary = "residual", {{[^}]*}} reason = "the sum over experts gathers its rows, it has no epilogue", status = "declined: missing"
// CHECK: %[[R:.*]]:4 = kernel.route
// CHECK: %[[S:.*]] = kernel.dispatch
// CHECK: %[[W:.*]] = kernel.weight #transformer.permute<#transformer.concat<#transformer.permute<@gate.weight, [1, 0, 2]>, #transformer.permute<@up.weight, [1, 0, 2]>>, [1, 0, 2]> -> tensor<3x8x4xf32>
// CHECK: kernel.matmul %[[S]], %[[W]] starts %[[R]]#3 : tensor<4xi32> extras(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<3x4xf32>) outs({{.*}}) accumulators 2 {
// CHECK: arith.minimumf
// CHECK: %[[D:.*]] = kernel.matmul %{{.*}} starts %[[R]]#3
// CHECK: kernel.combine %[[D]]
// CHECK: kernel.launch
// CHECK: kernel.rows
// CHECK: kernel.rows {{.*}} norm
// REMARK: keeps residual apart, declined: missing: the sum over experts gathers its rows, it has no epilogue
transformer.model @experts {
  transformer.parameter @gate.weight : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "gate.weight", tensor<3x4x4xf32>>
  transformer.parameter @up.weight : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "up.weight", tensor<3x4x4xf32>>
  transformer.parameter @gate.bias : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "gate.bias", tensor<3x4xf32>>
  transformer.parameter @up.bias : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "up.bias", tensor<3x4xf32>>
  transformer.parameter @down.weight : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "down.weight", tensor<3x4x4xf32>>
  transformer.parameter @router.weight : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "router.weight", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %y = transformer.residual %x out_norm <l2_norm, eps = 1.0e-6> {
    ^bb0(%u: tensor<?x?x4xf32>):
      %r = transformer.linear %u weight @router.weight : tensor<?x?x4xf32> -> tensor<?x?x3xf32>
      %e, %w = transformer.route %r k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
      %s = transformer.dispatch %u to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
      %g = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @gate.weight bias @gate.bias : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
      %h = transformer.clamp %g low 0xFFF0000000000000 high 7.0 : tensor<?x?x2x4xf32>
      %p = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @up.weight bias @up.bias : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
      %q = transformer.clamp %p low -7.0 high 7.0 : tensor<?x?x2x4xf32>
      %a = transformer.gate %h, %q by quick_gelu up_offset 1.0 : tensor<?x?x2x4xf32>
      %d = transformer.linear %a experts %e : tensor<?x?x2xi32> weight @down.weight : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
      %c = transformer.combine %d times %w : tensor<?x?x2xf32> : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %c : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// With a shared expert, its matmul takes both sums.
// CHECK-LABEL: transformer.model @shared_expert
// CHECK: kernel.combine
// CHECK: kernel.matmul %{{.*}}, %{{.*}} extras(
// CHECK-NOT: kernel.rows
// CHECK: return
transformer.model @shared_expert {
  transformer.parameter @experts.weight : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "experts.weight", tensor<3x4x4xf32>>
  transformer.parameter @shared.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "shared.weight", tensor<4x4xf32>>
  transformer.parameter @router.weight : tensor<3x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "router.weight", tensor<3x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %y = transformer.residual %x {
    ^bb0(%u: tensor<?x?x4xf32>):
      %r = transformer.linear %u weight @router.weight : tensor<?x?x4xf32> -> tensor<?x?x3xf32>
      %e, %w = transformer.route %r k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
      %s = transformer.dispatch %u to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
      %d = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @experts.weight : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
      %c = transformer.combine %d times %w : tensor<?x?x2xf32> : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
      %b = transformer.linear %u weight @shared.weight : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      %a = transformer.add %c, %b : tensor<?x?x4xf32>
      transformer.yield %a : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// A norm of experts' rows, and one of the sum over experts.
// CHECK-LABEL: transformer.model @keep_as_rows_are_split
// CHECK-NOT: kernel.launch
// CHECK: return
// REMARK: keeps add-norm apart, declined: law: the rows are split by expert
// REMARK: keeps add-norm apart, declined: missing: the sum over experts cannot be in a launch
transformer.model @keep_as_rows_are_split {
  transformer.parameter @experts.weight : tensor<3x4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "experts.weight", tensor<3x4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %r: tensor<?x?x3xf32> {transformer.name = "r"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %e, %w = transformer.route %r k 2 score softmax : tensor<?x?x3xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    %s = transformer.dispatch %x to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x4xf32>
    %d = transformer.linear %s experts %e : tensor<?x?x2xi32> weight @experts.weight : tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    %n = transformer.norm %d by <l2_norm, eps = 1.0e-6> : tensor<?x?x2x4xf32>
    %c = transformer.combine %n times %w : tensor<?x?x2xf32> : tensor<?x?x2x4xf32> -> tensor<?x?x4xf32>
    %y = transformer.norm %c by <l2_norm, eps = 1.0e-6> : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Rotations that attention cannot do, and why.
// CHECK-LABEL: transformer.model @rotations
// REMARK: keeps rope apart, declined: law: the value is turned too
// REMARK: keeps rope apart, declined: missing: another kernel than attention reads what is turned
// REMARK: keeps rope apart, declined: law: query and key are not turned alike
transformer.model @rotations {
  transformer.parameter @value.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "value.weight", tensor<4x4xf32>>
  transformer.parameter @query.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "query.weight", tensor<4x4xf32>>
  transformer.parameter @key.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "key.weight", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %v = transformer.linear %x weight @value.weight : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %a = transformer.rotate %v at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %q = transformer.linear %x weight @query.weight : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %b = transformer.rotate %q at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %n = transformer.norm %b by <l2_norm, eps = 1.0e-6, group = 2> : tensor<?x?x4xf32>
    %k = transformer.linear %x weight @key.weight : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %c = transformer.rotate %k at %at heads 2 head_dim 2 pairing half frequencies [1.0] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %y = transformer.attend %n, %c, %a heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// What is split by head has no sum, no activation and no norm in its kernel.
// CHECK-LABEL: transformer.model @keep_as_columns_are_split
// CHECK: kernel.matmul {{.*}} heads 2 {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32):
// CHECK-NEXT: kernel.yield %[[A]]
// CHECK-NOT: kernel.launch
// CHECK: return
// REMARK: keeps bias-activation apart, declined: law: the columns are split by head
// REMARK: keeps add-norm apart, declined: law: the columns are split by head
transformer.model @keep_as_columns_are_split {
  transformer.parameter @w : tensor<2x2x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<2x2x2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}, tensor<?x?x4xf32> {transformer.name = "z"}) {
    %a = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %b = transformer.activate %a by relu : tensor<?x?x4xf32>
    %c = transformer.linear_by_head %b weight @w heads 2 : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %d = transformer.norm %c by <l2_norm, eps = 1.0e-6> : tensor<?x?x4xf32>
    return %b, %d : tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}

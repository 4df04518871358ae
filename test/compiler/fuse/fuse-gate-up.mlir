// RUN: %mille-opt %s --fuse-gate-up --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-gate-up --fuse-gate-up --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: transformer.model @gate_and_up
// CHECK: kernel.fusions = [{boundary = "gate-up", bytes_saved = 112 : i64, launches_saved = 2 : i64, layers = "", reason = "one matmul with two accumulators", status = "fused", unit = "f"}]
// CHECK: %[[W:.*]] = kernel.weight #transformer.concat<@f.gate.weight, @f.in.weight> -> tensor<12x4xf32>
// CHECK: kernel.matmul %{{.*}}, %[[W]] extras(%{{.*}} : tensor<6xf32>) {{.*}} accumulators 2 {
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[U:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[UB:.*]] = arith.addf %[[U]], %[[B]]
// CHECK-NEXT: %[[E:.*]] = math.exp %[[G]]
// CHECK-NEXT: arith.mulf %[[E]], %[[UB]]
// CHECK-NOT: kernel.rows
transformer.model @gate_and_up {
  transformer.parameter @f.gate.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.gate.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.bias : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.bias", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %wg = kernel.weight @f.gate.weight -> tensor<6x4xf32>
    %wu = kernel.weight @f.in.weight -> tensor<6x4xf32>
    %b = kernel.weight @f.in.bias -> tensor<6xf32>
    %dg = tensor.empty(%rows) : tensor<?x6xf32>
    %g = kernel.matmul %x, %wg outs(%dg : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %du = tensor.empty(%rows) : tensor<?x6xf32>
    %u = kernel.matmul %x, %wu extras(%b : tensor<6xf32>) outs(%du : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dh = tensor.empty(%rows) : tensor<?x6xf32>
    %h = kernel.rows ins(%g, %u : tensor<?x6xf32>, tensor<?x6xf32>) outs(%dh : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_g: f32, %in_u: f32):
      %e = math.exp %in_g : f32
      %0 = arith.mulf %e, %in_u : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %h : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_value_has_another_reader
// CHECK: reason = "the value has another reader", status = "declined: law", unit = "f"
// CHECK: kernel.rows
// REMARK: f keeps gate-up apart, declined: law: the value has another reader
transformer.model @keep_as_value_has_another_reader {
  transformer.parameter @f.gate.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.gate.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.bias : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.bias", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}, tensor<?x6xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %wg = kernel.weight @f.gate.weight -> tensor<6x4xf32>
    %wu = kernel.weight @f.in.weight -> tensor<6x4xf32>
    %b = kernel.weight @f.in.bias -> tensor<6xf32>
    %dg = tensor.empty(%rows) : tensor<?x6xf32>
    %g = kernel.matmul %x, %wg outs(%dg : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %du = tensor.empty(%rows) : tensor<?x6xf32>
    %u = kernel.matmul %x, %wu extras(%b : tensor<6xf32>) outs(%du : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dh = tensor.empty(%rows) : tensor<?x6xf32>
    %h = kernel.rows ins(%g, %u : tensor<?x6xf32>, tensor<?x6xf32>) outs(%dh : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_g: f32, %in_u: f32):
      %e = math.exp %in_g : f32
      %0 = arith.mulf %e, %in_u : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %h, %g : tensor<?x6xf32>, tensor<?x6xf32>
  }
}

// -----

// Products of different inputs are no gate: a residual may take one of them.
// CHECK-LABEL: transformer.model @keep_as_inputs_differ
// CHECK-COUNT-2: kernel.matmul
// CHECK: kernel.rows
transformer.model @keep_as_inputs_differ {
  transformer.parameter @f.gate.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.gate.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.bias : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.bias", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %wg = kernel.weight @f.gate.weight -> tensor<6x4xf32>
    %wu = kernel.weight @f.in.weight -> tensor<6x4xf32>
    %b = kernel.weight @f.in.bias -> tensor<6xf32>
    %dg = tensor.empty(%rows) : tensor<?x6xf32>
    %g = kernel.matmul %x, %wg outs(%dg : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %du = tensor.empty(%rows) : tensor<?x6xf32>
    %u = kernel.matmul %z, %wu extras(%b : tensor<6xf32>) outs(%du : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dh = tensor.empty(%rows) : tensor<?x6xf32>
    %h = kernel.rows ins(%g, %u : tensor<?x6xf32>, tensor<?x6xf32>) outs(%dh : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_g: f32, %in_u: f32):
      %e = math.exp %in_g : f32
      %0 = arith.mulf %e, %in_u : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %h : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_weight_is_no_parameter
// CHECK: reason = "a weight is not a parameter", status = "declined: law"
// CHECK: kernel.rows
// REMARK: declined: law: a weight is not a parameter
transformer.model @keep_as_weight_is_no_parameter {
  transformer.parameter @f.gate.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.gate.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.weight", tensor<6x4xf32>>
  transformer.parameter @f.in.bias : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.bias", tensor<6xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %wg: tensor<6x4xf32> {transformer.name = "w", transformer.shape = #transformer.shape<6, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %wu = kernel.weight @f.in.weight -> tensor<6x4xf32>
    %dg = tensor.empty(%rows) : tensor<?x6xf32>
    %g = kernel.matmul %x, %wg outs(%dg : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %du = tensor.empty(%rows) : tensor<?x6xf32>
    %u = kernel.matmul %x, %wu outs(%du : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dh = tensor.empty(%rows) : tensor<?x6xf32>
    %h = kernel.rows ins(%g, %u : tensor<?x6xf32>, tensor<?x6xf32>) outs(%dh : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_g: f32, %in_u: f32):
      %e = math.exp %in_g : f32
      %0 = arith.mulf %e, %in_u : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %h : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_product_has_two_accumulators
// CHECK: reason = "a product has two accumulators already", status = "declined: law"
// CHECK: kernel.rows
// REMARK: declined: law: a product has two accumulators already
transformer.model @keep_as_product_has_two_accumulators {
  transformer.parameter @f.gate.weight : tensor<12x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.gate.weight", tensor<12x4xf32>>
  transformer.parameter @f.in.weight : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.in.weight", tensor<6x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %wg = kernel.weight @f.gate.weight -> tensor<12x4xf32>
    %wu = kernel.weight @f.in.weight -> tensor<6x4xf32>
    %dg = tensor.empty(%rows) : tensor<?x6xf32>
    %g = kernel.matmul %x, %wg outs(%dg : tensor<?x6xf32>) accumulators 2 {
    ^bb0(%acc: f32, %second: f32):
      %0 = arith.addf %acc, %second : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<12x4xf32> -> tensor<?x6xf32>
    %du = tensor.empty(%rows) : tensor<?x6xf32>
    %u = kernel.matmul %x, %wu outs(%du : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %dh = tensor.empty(%rows) : tensor<?x6xf32>
    %h = kernel.rows ins(%g, %u : tensor<?x6xf32>, tensor<?x6xf32>) outs(%dh : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_g: f32, %in_u: f32):
      %e = math.exp %in_g : f32
      %0 = arith.mulf %e, %in_u : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %h : tensor<?x6xf32>
  }
}

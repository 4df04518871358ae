// RUN: %mille-opt %s --fuse-bias-activation --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-bias-activation --fuse-bias-activation --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// A bias and what follows it, as many ops as there are, into one epilogue.
// CHECK-LABEL: transformer.model @bias_and_activation
// CHECK: kernel.fusions = [{boundary = "bias-activation", bytes_saved = 96 : i64, launches_saved = 2 : i64, layers = "", reason = "in the matmul's epilogue", status = "fused", unit = "l"}]
// CHECK: %[[Y:.*]] = kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}} : tensor<6xf32>) outs(
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[B]]
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[S]], %[[Z]]
// CHECK-NEXT: kernel.yield %[[M]]
// CHECK-NOT: kernel.rows
// CHECK: return %[[Y]]
transformer.model @bias_and_activation {
  transformer.parameter @l.w : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<6x4xf32>>
  transformer.parameter @l.b : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.b", tensor<6xf32>>
  func.func @forward(%batch: index, %tokens: index, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = array<i64: -1, -2, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = array<i64: -1, -2, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<6x4xf32>
    %b = kernel.weight @l.b -> tensor<6xf32>
    %dp = tensor.empty(%rows) : tensor<?x6xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %ds = tensor.empty(%rows) : tensor<?x6xf32>
    %s = kernel.rows ins(%p, %b : tensor<?x6xf32>, tensor<6xf32>) outs(%ds : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    %dr = tensor.empty(%rows) : tensor<?x6xf32>
    %r = kernel.rows ins(%s : tensor<?x6xf32>) outs(%dr : tensor<?x6xf32>) gather [-1] {
    ^bb0(%in_a: f32):
      %c = arith.constant 0.0 : f32
      %0 = arith.maximumf %in_a, %c : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %r : tensor<?x6xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_value_has_another_reader
// CHECK: reason = "the value has another reader", status = "declined: law"
// CHECK: kernel.matmul
// CHECK: kernel.rows
// REMARK: l keeps bias-activation apart, declined: law: the value has another reader
transformer.model @keep_as_value_has_another_reader {
  transformer.parameter @l.w : tensor<6x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<6x4xf32>>
  transformer.parameter @l.b : tensor<6xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.b", tensor<6xf32>>
  func.func @forward(%batch: index, %tokens: index, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = array<i64: -1, -2, 4>})
      -> (tensor<?x6xf32> {transformer.name = "y", transformer.shape = array<i64: -1, -2, 6>}, tensor<?x6xf32> {transformer.name = "z", transformer.shape = array<i64: -1, -2, 6>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<6x4xf32>
    %b = kernel.weight @l.b -> tensor<6xf32>
    %dp = tensor.empty(%rows) : tensor<?x6xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x6xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    %ds = tensor.empty(%rows) : tensor<?x6xf32>
    %s = kernel.rows ins(%p, %b : tensor<?x6xf32>, tensor<6xf32>) outs(%ds : tensor<?x6xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x6xf32>
    return %s, %p : tensor<?x6xf32>, tensor<?x6xf32>
  }
}

// -----

// What reads another activation by element is a residual, not an activation.
// CHECK-LABEL: transformer.model @keep_as_a_residual
// CHECK: kernel.matmul
// CHECK: kernel.rows
transformer.model @keep_as_a_residual {
  transformer.parameter @l.w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "l.w", tensor<4x4xf32>>
  func.func @forward(%batch: index, %tokens: index, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = array<i64: -1, -2, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = array<i64: -1, -2, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @l.w -> tensor<4x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %x, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %ds = tensor.empty(%rows) : tensor<?x4xf32>
    %s = kernel.rows ins(%p, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%ds : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %s : tensor<?x4xf32>
  }
}

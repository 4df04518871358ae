// RUN: %mille-opt %s --fuse-residual --split-input-file --remarks-filter=fuse --remark-format=emitRemark > %t.once 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.once
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK
// RUN: %mille-opt %s --fuse-residual --fuse-residual --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// A * x + B * branch, both scales, into the out-projection.
// CHECK-LABEL: transformer.model @scales
// CHECK: kernel.fusions = [{boundary = "residual", bytes_saved = 32 : i64, launches_saved = 1 : i64, layers = "", reason = "in the matmul's epilogue", status = "fused", unit = "a"}]
// CHECK: kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<?x4xf32>, tensor<1xf32>)
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[B:.*]]: f32, %[[X:.*]]: f32, %[[K:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.addf %[[ACC]], %[[B]]
// CHECK-NEXT: %[[A:.*]] = arith.constant 1.5
// CHECK-NEXT: %[[AX:.*]] = arith.mulf %[[A]], %[[X]]
// CHECK-NEXT: %[[KP:.*]] = arith.mulf %[[K]], %[[P]]
// CHECK-NEXT: arith.addf %[[AX]], %[[KP]]
// CHECK-NOT: kernel.rows
transformer.model @scales {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.o.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.bias", tensor<4xf32>>
  transformer.parameter @a.scale : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.scale", tensor<1xf32>>
  transformer.parameter @f.out.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.out.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %b = kernel.weight @a.o.bias -> tensor<4xf32>
    %s = kernel.weight @a.scale -> tensor<1xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %z, %w extras(%b : tensor<4xf32>) outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%x, %p, %s : tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1, -1] {
    ^bb0(%in_a: f32, %in_b: f32, %in_k: f32):
      %c = arith.constant 1.5 : f32
      %0 = arith.mulf %c, %in_a : f32
      %1 = arith.mulf %in_k, %in_b : f32
      %2 = arith.addf %0, %1 : f32
      kernel.yield %2 : f32
    } -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

// -----

// Of two branches the one made last takes the sum; the other is an extra.
// CHECK-LABEL: transformer.model @parallel
// CHECK: unit = "f"
// CHECK: %[[P:.*]] = kernel.matmul %{{.*}}, %{{.*}} outs(
// CHECK: kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}}, %[[P]] : tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[FIRST:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[FIRST]]
// CHECK-NEXT: arith.addf %[[S]], %[[ACC]]
// CHECK-NOT: kernel.rows
transformer.model @parallel {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.o.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.bias", tensor<4xf32>>
  transformer.parameter @a.scale : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.scale", tensor<1xf32>>
  transformer.parameter @f.out.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.out.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %v = kernel.weight @f.out.weight -> tensor<4x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %z, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dq = tensor.empty(%rows) : tensor<?x4xf32>
    %q = kernel.matmul %z, %v outs(%dq : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%x, %p, %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1, -1] {
    ^bb0(%in_a: f32, %in_b: f32, %in_c: f32):
      %0 = arith.addf %in_a, %in_b : f32
      %1 = arith.addf %0, %in_c : f32
      kernel.yield %1 : f32
    } -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

// -----

// A branch with a norm: the sum goes where the norm is done. The normed value
// is not the value before the norm.
// CHECK-LABEL: transformer.model @branch_norm
// CHECK: reason = "in the branch norm's pass"
// CHECK: %[[P:.*]] = kernel.matmul
// CHECK: kernel.rows ins(%[[P]], %[[X:.*]] : tensor<?x4xf32>, tensor<?x4xf32>) {{.*}} gather [-1, -1] norm <rms
// CHECK-NEXT: ^bb0(%[[N:.*]]: f32, %[[XV:.*]]: f32):
// CHECK-NEXT: arith.addf %[[XV]], %[[N]]
transformer.model @branch_norm {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.o.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.bias", tensor<4xf32>>
  transformer.parameter @a.scale : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.scale", tensor<1xf32>>
  transformer.parameter @f.out.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.out.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %z, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dn = tensor.empty(%rows) : tensor<?x4xf32>
    %n = kernel.rows ins(%p : tensor<?x4xf32>) outs(%dn : tensor<?x4xf32>) gather [-1] norm <rms, 1.000000e-06> {
    ^bb0(%in_a: f32):
      kernel.yield %in_a : f32
    } -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%x, %n : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_value_has_another_reader
// CHECK: reason = "the value has another reader", status = "declined: law", unit = "a"
// CHECK: kernel.rows
// REMARK: a keeps residual apart, declined: law: the value has another reader
transformer.model @keep_as_value_has_another_reader {
  transformer.parameter @a.o.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.weight", tensor<4x4xf32>>
  transformer.parameter @a.o.bias : tensor<4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.o.bias", tensor<4xf32>>
  transformer.parameter @a.scale : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "a.scale", tensor<1xf32>>
  transformer.parameter @f.out.weight : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "f.out.weight", tensor<4x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}, tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %w = kernel.weight @a.o.weight -> tensor<4x4xf32>
    %dp = tensor.empty(%rows) : tensor<?x4xf32>
    %p = kernel.matmul %z, %w outs(%dp : tensor<?x4xf32>) accumulators 1 {
    ^bb0(%acc: f32):
      kernel.yield %acc : f32
    } : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%p, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %y, %p : tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// CHECK-LABEL: transformer.model @keep_as_no_kernel_makes_a_branch
// CHECK: reason = "no matmul or row kernel makes a branch's value", status = "declined: missing"
// CHECK: kernel.rows
// REMARK: declined: missing: no matmul or row kernel makes a branch's value
transformer.model @keep_as_no_kernel_makes_a_branch {
  transformer.parameter @w : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.1, seed = 1, stream = "w", tensor<1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>}, %z: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, tokens, 4>})
      -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %rows = arith.muli %batch, %tokens : index
    %dy = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.rows ins(%x, %z : tensor<?x4xf32>, tensor<?x4xf32>) outs(%dy : tensor<?x4xf32>) gather [-1, -1] {
    ^bb0(%in_a: f32, %in_b: f32):
      %0 = arith.addf %in_a, %in_b : f32
      kernel.yield %0 : f32
    } -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

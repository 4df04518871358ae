// RUN: %mille-opt %s --carry-copies | FileCheck %s
// RUN: %mille-opt %s --carry-copies > %t.once
// RUN: %mille-opt %t.once --carry-copies | diff %t.once -

transformer.model @m {
  transformer.parameter @layers.0.w : tensor<8xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 0, stream = "w", tensor<8xf32>>
  transformer.parameter @layers.1.w : tensor<8xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 0, stream = "v", tensor<8xf32>>

  // The first copy stands in the launch that makes the initial value, the others in
  // that of the value that a layer hands over.
  // CHECK-LABEL: func.func @carried
  // CHECK: %[[FIRST:.*]]:2 = kernel.launch {
  // CHECK: kernel.rows {{.*}} norm <rms, 1.0e-06>
  // CHECK: kernel.rows {{.*}} outs(%{{.*}} : tensor<?x8xbf16>) gather [-1] {
  // CHECK: %[[LOOP:.*]]:2 = kernel.layers %[[FIRST]]#0, %[[FIRST]]#1 slots
  // CHECK: ^bb0(%[[S:.*]]: tensor<?x8xf32>, %[[C:.*]]: tensor<?x8xbf16>):
  // CHECK: %[[OUT:.*]]:2 = kernel.launch {
  // CHECK: kernel.rows ins(%[[C]], %[[S]], %{{.*}} : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<8xf32>)
  // CHECK: kernel.rows {{.*}} outs(%{{.*}} : tensor<?x8xbf16>) gather [-1] {
  // CHECK: kernel.yield %[[OUT]]#0, %[[OUT]]#1
  // CHECK: return %[[LOOP]]#0
  func.func @carried(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}) {
    %d = tensor.empty(%b) : tensor<?x8xf32>
    %n = kernel.launch {
      %0 = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] norm <rms, 1.0e-06> {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<?x8xf32>
      kernel.yield %0 : tensor<?x8xf32>
    } : tensor<?x8xf32>
    %y = kernel.layers %n slots [["layers.*.w"]] bodies [0, 0] table [[@layers.0.w], [@layers.1.w]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %e = tensor.empty(%b) : tensor<?x8xbf16>
      %c = kernel.rows ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xbf16>) gather [-1] {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<?x8xbf16>
      %f = tensor.empty(%b) : tensor<?x8xf32>
      %l = kernel.launch {
        %1 = kernel.rows ins(%c, %s, %w : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) gather [-1, -1, -1] {
        ^bb0(%a: f32, %z: f32, %g: f32):
          %2 = arith.mulf %a, %g : f32
          %3 = arith.addf %2, %z : f32
          kernel.yield %3 : f32
        } -> tensor<?x8xf32>
        kernel.yield %1 : tensor<?x8xf32>
      } : tensor<?x8xf32>
      kernel.yield %l : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }

  // CHECK-LABEL: func.func @keep_as_reads_f32
  // CHECK: kernel.layers %{{.*}} slots [{{.*}}] bodies [0] table {{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>):
  func.func @keep_as_reads_f32(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}) {
    %d = tensor.empty(%b) : tensor<?x8xf32>
    %n = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] norm <rms, 1.0e-06> {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    %y = kernel.layers %n slots [["layers.*.w"]] bodies [0] table [[@layers.0.w]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %f = tensor.empty(%b) : tensor<?x8xf32>
      %l = kernel.rows ins(%s, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%a: f32, %g: f32):
        %3 = arith.addf %a, %g : f32
        kernel.yield %3 : f32
      } -> tensor<?x8xf32>
      kernel.yield %l : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }

  // A norm in bf16 is no copy.
  // CHECK-LABEL: func.func @keep_as_normed
  // CHECK: kernel.layers %{{.*}} slots [{{.*}}] bodies [0] table {{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>):
  func.func @keep_as_normed(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}) {
    %d = tensor.empty(%b) : tensor<?x8xf32>
    %n = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    %y = kernel.layers %n slots [["layers.*.w"]] bodies [0] table [[@layers.0.w]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %e = tensor.empty(%b) : tensor<?x8xbf16>
      %c = kernel.rows ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xbf16>) gather [-1] norm <rms, 1.0e-06> {
      ^bb0(%a: f32):
        kernel.yield %a : f32
      } -> tensor<?x8xbf16>
      %f = tensor.empty(%b) : tensor<?x8xf32>
      %l = kernel.rows ins(%c, %w : tensor<?x8xbf16>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%a: f32, %g: f32):
        %3 = arith.addf %a, %g : f32
        kernel.yield %3 : f32
      } -> tensor<?x8xf32>
      kernel.yield %l : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }

  // Nor is what has other values,
  // CHECK-LABEL: func.func @keep_as_negative
  // CHECK: kernel.layers %{{.*}} slots [{{.*}}] bodies [0] table {{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>):
  func.func @keep_as_negative(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}) {
    %d = tensor.empty(%b) : tensor<?x8xf32>
    %n = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    %y = kernel.layers %n slots [["layers.*.w"]] bodies [0] table [[@layers.0.w]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %e = tensor.empty(%b) : tensor<?x8xbf16>
      %c = kernel.rows ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xbf16>) gather [-1] {
      ^bb0(%a: f32):
        %0 = arith.negf %a : f32
        kernel.yield %0 : f32
      } -> tensor<?x8xbf16>
      %f = tensor.empty(%b) : tensor<?x8xf32>
      %l = kernel.rows ins(%c, %w : tensor<?x8xbf16>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%a: f32, %g: f32):
        %3 = arith.addf %a, %g : f32
        kernel.yield %3 : f32
      } -> tensor<?x8xf32>
      kernel.yield %l : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }

  // nor what reads more than it copies.
  // CHECK-LABEL: func.func @keep_as_reads_two
  // CHECK: kernel.layers %{{.*}} slots [{{.*}}] bodies [0] table {{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>):
  func.func @keep_as_reads_two(%b: index {kernel.size = "batch"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}) {
    %d = tensor.empty(%b) : tensor<?x8xf32>
    %n = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    %y = kernel.layers %n slots [["layers.*.w"]] bodies [0] table [[@layers.0.w]] {
    ^bb0(%s: tensor<?x8xf32>):
      %w = kernel.weight @"layers.*.w" -> tensor<8xf32>
      %e = tensor.empty(%b) : tensor<?x8xbf16>
      %c = kernel.rows ins(%s, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xbf16>) gather [-1, -1] {
      ^bb0(%a: f32, %g: f32):
        kernel.yield %a : f32
      } -> tensor<?x8xbf16>
      %f = tensor.empty(%b) : tensor<?x8xf32>
      %l = kernel.rows ins(%c, %w : tensor<?x8xbf16>, tensor<8xf32>) outs(%f : tensor<?x8xf32>) gather [-1, -1] {
      ^bb0(%a: f32, %g: f32):
        %3 = arith.addf %a, %g : f32
        kernel.yield %3 : f32
      } -> tensor<?x8xf32>
      kernel.yield %l : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

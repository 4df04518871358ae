// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @row_blocks
// CHECK: %[[R:.*]]:2 = kernel.row_blocks rows 16 ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?xi32>) outs(%{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x8xf32>) {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index, %[[X:.*]]: tensor<?x8xf32>, %{{.*}}: tensor<?xi32>):
// CHECK: tensor.empty(%[[N]])
// CHECK: kernel.yield %{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x8xf32>
// CHECK: } -> tensor<?x1xf32>, tensor<?x8xf32>
func.func @row_blocks(%x: tensor<?x8xf32>, %y: tensor<?xi32>, %t: tensor<1xf32>, %a: tensor<?x1xf32>, %b: tensor<?x8xf32>) -> (tensor<?x1xf32>, tensor<?x8xf32>) {
  %r:2 = kernel.row_blocks rows 16 ins(%x, %y : tensor<?x8xf32>, tensor<?xi32>) outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) {
  ^bb0(%n: index, %z: tensor<?x8xf32>, %ids: tensor<?xi32>):
    %l = tensor.empty(%n) : tensor<?x1xf32>
    %g = tensor.empty(%n) : tensor<?x8xf32>
    %loss:2 = kernel.cross_entropy %z labels %ids : tensor<?xi32> times %t : tensor<1xf32>
      losses(%l : tensor<?x1xf32>) gradient(%g : tensor<?x8xf32>)
      : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
    kernel.yield %loss#0, %loss#1 : tensor<?x1xf32>, tensor<?x8xf32>
  } -> tensor<?x1xf32>, tensor<?x8xf32>
  return %r#0, %r#1 : tensor<?x1xf32>, tensor<?x8xf32>
}

// On memrefs the body writes the rows of the outs.
// CHECK-LABEL: @planned
// CHECK: kernel.row_blocks rows 16 ins(%{{.*}} : memref<?x8xf32>) outs(%{{.*}} : memref<?x8xf32>) {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index, %{{.*}}: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>):
// CHECK: kernel.arena fixed offset 64 rows %[[N]] : memref<?x8xf32>
// CHECK: kernel.yield{{$}}
func.func @planned(%x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  kernel.row_blocks rows 16 ins(%x : memref<?x8xf32>) outs(%o : memref<?x8xf32>) {
  ^bb0(%n: index, %in: memref<?x8xf32>, %out: memref<?x8xf32>):
    %b = kernel.arena fixed offset 64 rows %n : memref<?x8xf32>
    kernel.yield
  }
  return
}

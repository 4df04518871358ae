// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @window_segments
// CHECK: kernel.window_segments height %{{.*}} width %{{.*}} side [4, 4] size 7 shift 3 outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
// CHECK: kernel.window_segments height %{{.*}} width %{{.*}} side [4, 4] size 7 outs(%{{.*}} : memref<?xi32>){{$}}
func.func @window_segments(%h: index, %w: index, %o: tensor<?xi32>, %p: memref<?xi32>) {
  %s = kernel.window_segments height %h width %w side [4, 4] size 7 shift 3 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  kernel.window_segments height %h width %w side [4, 4] size 7 outs(%p : memref<?xi32>)
  return
}

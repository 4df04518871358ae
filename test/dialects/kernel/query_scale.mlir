// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @query_scale
// CHECK: kernel.query_scale key_mask %{{.*}} : tensor<?xi32> tokens %{{.*}} scale <log_keys, base = 512.0, floor = 16.0> causal true window [4, 0] outs(%{{.*}} : tensor<?x1xf32>) -> tensor<?x1xf32>
// CHECK: kernel.query_scale positions %{{.*}} : memref<?xi32> tokens %{{.*}} scale <log_floor, beta = 0.30000000000000004, period = 8192, offset = 1> causal false outs(%{{.*}} : memref<?x1xf32>){{$}}
// CHECK: kernel.query_scale tokens %{{.*}} scale <log_position, base = 2048.0> causal true outs(
func.func @query_scale(%p: tensor<?xi32>, %m: tensor<?xi32>, %t: index, %o: tensor<?x1xf32>, %b: memref<?xi32>, %q: memref<?x1xf32>) {
  %s = kernel.query_scale key_mask %m : tensor<?xi32> tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true window [4, 0] outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  kernel.query_scale positions %b : memref<?xi32> tokens %t scale <log_floor, beta = 0.30000000000000004, period = 8192, offset = 1> causal false outs(%q : memref<?x1xf32>)
  %u = kernel.query_scale tokens %t scale <log_position, base = 2048.0> causal true outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
  return
}

// On tensors equal ops are one op, and an op that nobody reads goes; what writes an
// output or a buffer stays.
// RUN: mille-opt %s --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @equal
// CHECK: kernel.rotation
// CHECK-NOT: kernel.rotation
// CHECK: kernel.rotate
// CHECK-NOT: kernel.quantize
// CHECK-NOT: kernel.launch
// CHECK: return
func.func @equal(%batch: index, %p: tensor<?xi32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = tensor.empty(%batch) : tensor<?x4xf32>
  %r = kernel.rotation %p frequencies [1.0, 0.01] factor 1.0 outs(%a : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %b = tensor.empty(%batch) : tensor<?x4xf32>
  %s = kernel.rotation %p frequencies [1.0, 0.01] factor 1.0 outs(%b : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
  %o = tensor.empty(%batch) : tensor<?x8xf32>
  %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  %z = kernel.rotate %y by %s outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  %dead = kernel.launch {
    %v = tensor.empty(%batch) : tensor<?x8xui8>
    %q = tensor.empty(%batch) : tensor<?x4xf32>
    %values, %parameters = kernel.quantize %z values(%v : tensor<?x8xui8>) parameters(%q : tensor<?x4xf32>) : tensor<?x8xf32> -> tensor<?x8xui8>, tensor<?x4xf32>
    kernel.yield %values : tensor<?x8xui8>
  } : tensor<?x8xui8>
  return %z : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @outputs
// CHECK-COUNT-2: kernel.keep
// CHECK-COUNT-2: kernel.similarity
func.func @outputs(%x: tensor<?x8xf32>) {
  kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
  kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
  kernel.similarity %x, %x as "logits_per_text" : tensor<?x8xf32>, tensor<?x8xf32>
  kernel.similarity %x, %x as "logits_per_text" : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @memrefs
// CHECK-COUNT-2: kernel.rotate
func.func @memrefs(%x: memref<?x8xf32>, %r: memref<?x4xf32>, %o: memref<?x8xf32>) {
  kernel.rotate %x by %r outs(%o : memref<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : memref<?x8xf32>, memref<?x4xf32>
  kernel.rotate %x by %r outs(%o : memref<?x8xf32>) heads 2 head_dim 4 pairing half start 0 : memref<?x8xf32>, memref<?x4xf32>
  return
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @layers_c1(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{slots has 2 lists but there are 1 bodies}}
  %y = kernel.layers %x0 slots [[], []] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @layers_c2(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{body of layer 1 is 1 but there are 1 bodies}}
  %y = kernel.layers %x0 slots [[]] bodies [0, 1] table [[], []] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @layers_c3(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{table of layer 1 has 0 entries but body 0 has 1 slots}}
  %y = kernel.layers %x0 slots [["w"]] bodies [0, 0] table [[@a], []] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @layers_c4(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{body 0 takes 'tensor<?x4xf32>' but must take 'tensor<?x8xf32>'}}
  %y = kernel.layers %x0 slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x4xf32>):
    kernel.yield %x0 : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @layers_c4_yield(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{body 0 must yield 1 values of the stream's types}}
  %y = kernel.layers %x0 slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @layers_c4_memref(%x0: memref<?x8xf32>) {
  // expected-error @+1 {{stream has 1 operands but must have tensors or pairs of memrefs}}
  kernel.layers %x0 slots [[]] bodies [0] table [[]] {
  ^bb0(%s: memref<?x8xf32>):
    kernel.yield
  } : memref<?x8xf32>
  return
}

// -----

func.func @layers_c4_result(%x0: tensor<?x8xf32>) {
  // expected-error @+1 {{results are  but the stream is 'tensor<?x8xf32>'}}
  kernel.layers %x0 slots [[]] bodies [0] table [[]] {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32>
  return
}

// -----

func.func @layers_c4_body(%x0: memref<?x8xf32>, %x1: memref<?x8xf32>) {
  // expected-error @+1 {{body 0 takes 'memref<?x8xf32>' but must take 'memref<?x8xf32>', 'memref<?x8xf32>'}}
  kernel.layers %x0, %x1 slots [[]] bodies [0] table [[]] {
  ^bb0(%s: memref<?x8xf32>):
    kernel.yield
  } : memref<?x8xf32>, memref<?x8xf32>
  return
}

// -----

transformer.model @layers_c5 {
  // expected-note @+1 {{a parameter of type tensor<8xf32> is defined here}}
  transformer.parameter @a : tensor<8xf32> = #transformer.stored<"f", "a", tensor<8xf32>>
  // expected-note @+1 {{a parameter of type tensor<4xf32> is defined here}}
  transformer.parameter @b : tensor<4xf32> = #transformer.stored<"f", "b", tensor<4xf32>>
  func.func @forward(%x: tensor<?x8xf32> {transformer.name = "x"}) {
    // expected-error @+1 {{column "w" is @b at layer 1 but @a at layer 0, which has another type}}
    %y = kernel.layers %x slots [["w"]] bodies [0, 0] table [[@a], [@b]] {
    ^bb0(%s: tensor<?x8xf32>):
      kernel.yield %s : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    return
  }
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @count_tokens_c1(%b: memref<?xi32>, %t: index, %p: memref<?xi32>) {
  // expected-error @+1 {{first is -1 but must be >= 0}}
  kernel.count_tokens %b tokens %t first -1 outs(%p : memref<?xi32>) : memref<?xi32>
  return
}

// -----

func.func @count_tokens_c1_each(%b: memref<?xi32>, %t: index, %p: memref<?xi32>) {
  // expected-error @+1 {{each is 0 but must be > 0}}
  kernel.count_tokens %b tokens %t each 0 outs(%p : memref<?xi32>) : memref<?xi32>
  return
}

// -----

func.func @count_tokens_c1_range(%b: memref<?xi32>, %t: index, %p: memref<?xi32>) {
  // expected-error @+1 {{padding is 4294967296 but must be an i32}}
  kernel.count_tokens %b tokens %t padding 4294967296 outs(%p : memref<?xi32>) : memref<?xi32>
  return
}

// -----

func.func @count_tokens_c2(%b: tensor<?xi32>, %t: index, %p: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.count_tokens %b tokens %t outs(%p : tensor<?xi32>) : tensor<?xi32>
  return
}

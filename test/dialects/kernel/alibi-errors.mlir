// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @alibi_positions(%p: tensor<?xf32>, %o: tensor<?x2xf32>) {
  // expected-error @+1 {{operand #0 must be i32 [rows], but got 'tensor<?xf32>'}}
  %b = kernel.alibi %p slopes [0.5, 0.25] factor 0.5 outs(%o : tensor<?x2xf32>) : tensor<?xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @alibi_out(%p: tensor<?xi32>, %o: tensor<?x?xf32>) {
  // expected-error @+1 {{operand #1 must be f32 [rows, columns], but got 'tensor<?x?xf32>'}}
  %b = kernel.alibi %p slopes [0.5, 0.25] factor 0.5 outs(%o : tensor<?x?xf32>) : tensor<?xi32> -> tensor<?x?xf32>
  return
}

// -----

func.func @alibi_c1(%p: tensor<?xi32>, %o: tensor<?x3xf32>) {
  // expected-error @+1 {{outs has 3 columns but there are 2 slopes}}
  %b = kernel.alibi %p slopes [0.5, 0.25] factor 0.5 outs(%o : tensor<?x3xf32>) : tensor<?xi32> -> tensor<?x3xf32>
  return
}

// -----

func.func @alibi_c2(%p: tensor<?xi32>, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{a slope is inf but must be finite}}
  %b = kernel.alibi %p slopes [0x7FF0000000000000] factor 0.5 outs(%o : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
  return
}

// -----

func.func @alibi_c2_factor(%p: tensor<?xi32>, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{factor is inf but must be finite}}
  %b = kernel.alibi %p slopes [0.5] factor 0x7FF0000000000000 outs(%o : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
  return
}

// -----

func.func @alibi_c3(%p: memref<?xi32>, %o: memref<?x1xf32>) {
  // expected-error @+1 {{outs is a memref but there is a result}}
  %b = kernel.alibi %p slopes [0.5] factor 0.5 outs(%o : memref<?x1xf32>) : memref<?xi32> -> tensor<?x1xf32>
  return
}

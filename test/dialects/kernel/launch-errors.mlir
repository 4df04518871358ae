// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @launch_c1(%m: tensor<?xi32>, %o: tensor<?x1xf32>) {
  // expected-error @+1 {{holds kernel.alibi but only matmul, rows, quantize and destinations may be in a launch}}
  %z = kernel.launch {
    // expected-note @+1 {{here}}
    %b = kernel.alibi %m slopes [0.5] factor 1.0 outs(%o : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
    kernel.yield %b : tensor<?x1xf32>
  } : tensor<?x1xf32>
  return
}

// -----

func.func @launch_c2(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{yields 'tensor<?x8xf32>' but its results are 'tensor<?x4xf32>'}}
  %z = kernel.launch {
    kernel.yield %o : tensor<?x8xf32>
  } : tensor<?x4xf32>
  return
}

// -----

func.func @launch_c2_yield(%rows: index {kernel.size = "batch"}) {
  // expected-error @+1 {{must end in kernel.yield}}
  "kernel.launch"() ({
    %b = kernel.arena offset 0 rows %rows : memref<?x8xf32>
  }) : () -> ()
  return
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @quantize_c1(%x: tensor<?x8xi32>, %v: tensor<?x8xui8>, %z: tensor<?xi32>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{input is 'tensor<?x8xi32>' but must be f32 or bf16 [rows, columns]}}
  %a, %b, %c = kernel.quantize %x values(%v : tensor<?x8xui8>) zeros(%z : tensor<?xi32>) scales(%s : tensor<?x1xf32>)
    : tensor<?x8xi32> -> tensor<?x8xui8>, tensor<?xi32>, tensor<?x1xf32>
  return
}

// -----

func.func @quantize_c1_values(%x: tensor<?x8xf32>, %v: tensor<?x8xi8>, %z: tensor<?xi32>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{values is 'tensor<?x8xi8>' but must be ui8 [rows, columns]}}
  %a, %b, %c = kernel.quantize %x values(%v : tensor<?x8xi8>) zeros(%z : tensor<?xi32>) scales(%s : tensor<?x1xf32>)
    : tensor<?x8xf32> -> tensor<?x8xi8>, tensor<?xi32>, tensor<?x1xf32>
  return
}

// -----

func.func @quantize_c1_columns(%x: tensor<?x8xf32>, %v: tensor<?x9xui8>, %z: tensor<?xi32>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{input has 8 columns, values 9 and scales 1 but these must be the input's and 1}}
  %a, %b, %c = kernel.quantize %x values(%v : tensor<?x9xui8>) zeros(%z : tensor<?xi32>) scales(%s : tensor<?x1xf32>)
    : tensor<?x8xf32> -> tensor<?x9xui8>, tensor<?xi32>, tensor<?x1xf32>
  return
}

// -----

func.func @quantize_c2(%x: tensor<?x8xf32>, %v: tensor<?x8xui8>, %z: tensor<?xi32>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{results are 'tensor<?x8xui8>' but must be 'tensor<?x8xui8>', 'tensor<?xi32>', 'tensor<?x1xf32>'}}
  %a = kernel.quantize %x values(%v : tensor<?x8xui8>) zeros(%z : tensor<?xi32>) scales(%s : tensor<?x1xf32>)
    : tensor<?x8xf32> -> tensor<?x8xui8>
  return
}

// -----

func.func @quantize_c1_zeros(%x: tensor<?x8xf32>, %v: tensor<?x8xui8>, %z: tensor<?x1xi32>, %s: tensor<?x1xf32>) {
  // expected-error @+1 {{zeros is 'tensor<?x1xi32>' but must be i32 [?]}}
  %a, %b, %c = kernel.quantize %x values(%v : tensor<?x8xui8>) zeros(%z : tensor<?x1xi32>) scales(%s : tensor<?x1xf32>)
    : tensor<?x8xf32> -> tensor<?x8xui8>, tensor<?x1xi32>, tensor<?x1xf32>
  return
}

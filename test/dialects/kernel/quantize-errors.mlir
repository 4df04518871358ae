// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @quantize_c1(%x: tensor<?x8xi32>, %v: tensor<?x8xui8>, %p: tensor<?x4xf32>) {
  // expected-error @+1 {{input is 'tensor<?x8xi32>' but must be f32, bf16 or f16 [rows, columns]}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x8xui8>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xi32> -> tensor<?x8xui8>, tensor<?x4xf32>
  return
}

// -----

func.func @quantize_c1_values(%x: tensor<?x8xf32>, %v: tensor<?x8xi32>, %p: tensor<?x4xf32>) {
  // expected-error @+1 {{values is 'tensor<?x8xi32>' but must be ui8, i8 or f8E4M3FN [rows, columns]}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x8xi32>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xf32> -> tensor<?x8xi32>, tensor<?x4xf32>
  return
}

// -----

func.func @quantize_c1_columns(%x: tensor<?x8xf32>, %v: tensor<?x9xui8>, %p: tensor<?x4xf32>) {
  // expected-error @+1 {{input has 8 columns but values 9}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x9xui8>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xf32> -> tensor<?x9xui8>, tensor<?x4xf32>
  return
}

// -----

func.func @quantize_c1_parameters(%x: tensor<?x8xf32>, %v: tensor<?x8xui8>, %p: tensor<?x3xf32>) {
  // expected-error @+1 {{parameters has 3 columns but must have 4}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x8xui8>) parameters(%p : tensor<?x3xf32>)
    : tensor<?x8xf32> -> tensor<?x8xui8>, tensor<?x3xf32>
  return
}

// -----

func.func @quantize_c1_blocks(%x: tensor<?x48xf32>, %v: tensor<?x48xi8>, %p: tensor<?x3xf32>) {
  // expected-error @+1 {{K is 48 but must be a multiple of 32 in blocks}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x48xi8>) parameters(%p : tensor<?x3xf32>)
    : tensor<?x48xf32> -> tensor<?x48xi8>, tensor<?x3xf32>
  return
}

// -----

func.func @quantize_c1_steps(%x: tensor<?x64xf32>, %v: tensor<?x64xi8>, %p: tensor<?x3xf32>) {
  // expected-error @+1 {{parameters has 3 columns but must have 6}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x64xi8>) parameters(%p : tensor<?x3xf32>)
    : tensor<?x64xf32> -> tensor<?x64xi8>, tensor<?x3xf32>
  return
}

// -----

func.func @quantize_c1_scale(%x: tensor<?x8xf32>, %v: tensor<?x8xf8E4M3FN>, %p: tensor<?x4xf32>) {
  // expected-error @+1 {{parameters has 4 columns but must have 1}}
  %a, %b = kernel.quantize %x values(%v : tensor<?x8xf8E4M3FN>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xf32> -> tensor<?x8xf8E4M3FN>, tensor<?x4xf32>
  return
}

// -----

func.func @quantize_c2(%x: tensor<?x8xf32>, %v: tensor<?x8xui8>, %p: tensor<?x4xf32>) {
  // expected-error @+1 {{results are 'tensor<?x8xui8>' but must be 'tensor<?x8xui8>', 'tensor<?x4xf32>'}}
  %a = kernel.quantize %x values(%v : tensor<?x8xui8>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xf32> -> tensor<?x8xui8>
  return
}

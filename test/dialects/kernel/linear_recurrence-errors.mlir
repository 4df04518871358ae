// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @linear_recurrence_c1(%sums: tensor<2x?x4xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<2xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x4xf32> -> tensor<?x4xf32>
  // expected-error @+1 {{has 1 outs but there are 2: sums, and rows}}
  %y = kernel.linear_recurrence %x, %x, %x decay %d : tensor<2xf32> past %past : tensor<?xi32>
    outs(%h : tensor<?x4xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_recurrence_c1_recall(%sums: tensor<2x?x4xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<2xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x4xf32> -> tensor<?x4xf32>
  // expected-error @+1 {{writes to outs that kernel.recall does not give}}
  %y:2 = kernel.linear_recurrence %x, %x, %x decay %d : tensor<2xf32> past %past : tensor<?xi32>
    outs(%f, %o : tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @linear_recurrence_c1_columns(%sums: tensor<2x?x8xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<2xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
  // expected-error @+1 {{sums have 8 columns but value_dim is 4}}
  %y:2 = kernel.linear_recurrence %x, %x, %x decay %d : tensor<2xf32> past %past : tensor<?xi32>
    outs(%h, %o : tensor<?x8xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @linear_recurrence_c2(%sums: tensor<2x?x4xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<2xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x4xf32> -> tensor<?x4xf32>
  // expected-error @+1 {{kv_heads is 3 but must divide heads, which is 2}}
  %y:2 = kernel.linear_recurrence %x, %x, %x decay %d : tensor<2xf32> past %past : tensor<?xi32>
    outs(%h, %o : tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 3 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @linear_recurrence_c2_decay(%sums: tensor<2x?x4xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<4xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x4xf32> -> tensor<?x4xf32>
  // expected-error @+1 {{decay is 'tensor<4xf32>' but must be f32 [2]}}
  %y:2 = kernel.linear_recurrence %x, %x, %x decay %d : tensor<4xf32> past %past : tensor<?xi32>
    outs(%h, %o : tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @linear_recurrence_c3(%sums: tensor<2x?x4xf32> {transformer.state}, %rows: index, %past: tensor<?xi32>, %x: tensor<?x24xf32>, %d: tensor<2xf32>, %f: tensor<?x4xf32>, %o: tensor<?x8xf32>) {
  %h = kernel.recall 1 of %sums rows %rows : tensor<2x?x4xf32> -> tensor<?x4xf32>
  // expected-error @+1 {{has 0 results but outs are tensors}}
  kernel.linear_recurrence %x, %x, %x decay %d : tensor<2xf32> past %past : tensor<?xi32>
    outs(%h, %o : tensor<?x4xf32>, tensor<?x8xf32>) heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>
  return
}

// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// Rows of operands against each other, where sizes tell them apart; types say [?] only.

func.func @rows_of_other_tokens(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %u: index {kernel.size = "decoder_tokens"}) {
  %n = arith.muli %b, %t : index
  %m = arith.muli %b, %u : index
  %x = tensor.empty(%n) : tensor<?x8xf32>
  %o = tensor.empty(%m) : tensor<?x8xf32>
  // expected-error @below {{an input has batch * tokens rows but outs has batch * decoder_tokens}}
  %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

// -----

func.func @matmul_of_slots(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %w: tensor<16x8xf32>) {
  %k = arith.constant 2 : index
  %n = arith.muli %b, %t : index
  %s = arith.muli %n, %k : index
  %x = tensor.empty(%s) : tensor<?x8xf32>
  %o = tensor.empty(%n) : tensor<?x16xf32>
  // expected-error @below {{input has batch * tokens * 2 rows but outs has batch * tokens}}
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @dispatch_to_too_few(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}) {
  %n = arith.muli %b, %t : index
  %x = tensor.empty(%n) : tensor<?x8xf32>
  %i = tensor.empty(%n) : tensor<?xi32>
  %o = tensor.empty(%n) : tensor<?x8xf32>
  // expected-error @below {{outs has batch * tokens rows but input has batch * tokens * 2 with its k slots}}
  %y = kernel.dispatch %x order %i : tensor<?xi32> place %i : tensor<?xi32> outs(%o : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// A number of sequences in place of a number of tokens.
func.func @pool_by_batch(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}) {
  %n = arith.muli %b, %t : index
  %m = tensor.empty(%n) : tensor<?xi32>
  %o = tensor.empty(%b) : tensor<?xi32>
  // expected-error @below {{tokens is batch but a sequence of the mask has tokens rows}}
  %y = kernel.pool_index of %m : tensor<?xi32> tokens %b kind last skip 0 id -1 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @pool_by_three(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}) {
  %n = arith.muli %b, %t : index
  %m = tensor.empty(%n) : tensor<?xi32>
  %o = tensor.empty(%b) : tensor<?xi32>
  %other = arith.constant 3 : index
  // expected-error @below {{tokens is 3 but a sequence of the mask has tokens rows}}
  %y = kernel.pool_index of %m : tensor<?xi32> tokens %other kind last skip 0 id -1 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @queries_of_other_tokens(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %u: index {kernel.size = "decoder_tokens"}) {
  %zero = arith.constant 0 : index
  %n = arith.muli %b, %t : index
  %x = tensor.empty(%n) : tensor<?x24xf32>
  %o = tensor.empty(%n) : tensor<?x8xf32>
  // expected-error @below {{queries is decoder_tokens but a sequence of query has tokens rows}}
  %y = kernel.attention %x, %x, %x queries %u keys %t first %zero outs(%o : tensor<?x8xf32>)
    heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
    : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
  return
}

// -----

// What a launch hands out has the rows of what it computes.
func.func @through_a_launch(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %u: index {kernel.size = "decoder_tokens"}) {
  %n = arith.muli %b, %t : index
  %m = arith.muli %b, %u : index
  %x = tensor.empty(%n) : tensor<?x8xf32>
  %y = kernel.launch {
    %o = tensor.empty(%n) : tensor<?x8xf32>
    %r = kernel.rows ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) gather [-1] {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    kernel.yield %r : tensor<?x8xf32>
  } : tensor<?x8xf32>
  %p = tensor.empty(%m) : tensor<?x8xf32>
  // expected-error @below {{an input has batch * tokens rows but outs has batch * decoder_tokens}}
  %z = kernel.rows ins(%y : tensor<?x8xf32>) outs(%p : tensor<?x8xf32>) gather [-1] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } -> tensor<?x8xf32>
  return
}

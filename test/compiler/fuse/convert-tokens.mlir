// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// Pixels are a row per image; what patches make has fixed tokens. The same numbers
// are made once.
// CHECK-LABEL: transformer.model @image
// CHECK: func.func @forward(%[[B:.*]]: index {kernel.size = "batch"}, %{{.*}}: index {kernel.size = "tokens"}, %[[P:.*]]: tensor<?x48xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 3, 4, 4>})
// CHECK-SAME: -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, 2, 4>})
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[B]], %[[FIVE]]
// CHECK: %[[N:.*]] = kernel.token_numbers [0, 1, 1, 1, 1] outs
// CHECK-NOT: kernel.token_numbers
// CHECK: %[[TO:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x12xf32>
// CHECK: %[[X:.*]] = kernel.patches %[[P]] image [3, 4, 4] kernel [2, 2] stride [2, 2] padding [0, 0] prefix 1 outs(%[[TO]] : tensor<?x12xf32>)
// CHECK: kernel.rows ins(%{{.*}} : tensor<2x4xf32>) indices(%[[N]] : tensor<?xi32>)
// CHECK: kernel.gather_tokens %{{.*}} index [0, -1] group 1 tokens 5 outs(%{{.*}} : tensor<?x4xf32>)
transformer.model @image {
  transformer.parameter @w : tensor<4x12xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "w", tensor<4x12xf32>>
  transformer.parameter @t : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<2x4xf32>>
  func.func @forward(%pixels: tensor<?x3x4x4xf32> {transformer.name = "pixels"}) -> (tensor<?x2x4xf32> {transformer.name = "y"}) {
    %p = transformer.patches %pixels kernel [2, 2] stride [2, 2] padding [0, 0] prefix 1 : tensor<?x3x4x4xf32> -> tensor<?x5x12xf32>
    %l = transformer.linear %p weight @w : tensor<?x5x12xf32> -> tensor<?x5x4xf32>
    %m = transformer.token_numbers %pixels [0, 1, 1, 1, 1] : tensor<?x3x4x4xf32> -> tensor<?x5xi32>
    %n = transformer.token_numbers %p [0, 1, 1, 1, 1] : tensor<?x5x12xf32> -> tensor<?x5xi32>
    %e = transformer.embed(%m) tables [@t] offsets [0] : (tensor<?x5xi32>) -> tensor<?x5x4xf32>
    %f = transformer.embed(%n) tables [@t] offsets [0] : (tensor<?x5xi32>) -> tensor<?x5x4xf32>
    %a = transformer.add %l, %e : tensor<?x5x4xf32>
    %b = transformer.add %a, %f : tensor<?x5x4xf32>
    %y = transformer.gather_tokens %b index [0, -1] group 1 : tensor<?x5x4xf32> -> tensor<?x2x4xf32>
    return %y : tensor<?x2x4xf32>
  }
}

// -----

// A spectrogram is an image of height 1.
// CHECK-LABEL: transformer.model @sound
// CHECK: kernel.patches %{{.*}} image [3, 1, 4] kernel [1, 2] stride [1, 2]
transformer.model @sound {
  func.func @forward(%x: tensor<?x3x4xf32> {transformer.name = "x"}) -> (tensor<?x2x6xf32> {transformer.name = "y"}) {
    %p = transformer.patches %x kernel [1, 2] stride [1, 2] padding [0, 0] : tensor<?x3x4xf32> -> tensor<?x2x6xf32>
    return %p : tensor<?x2x6xf32>
  }
}

// -----

// Positions that skip padding, once; each pooling's row; a parameter
// as tokens.
// CHECK-LABEL: transformer.model @pooled
// CHECK: %[[P:.*]] = kernel.count_tokens %[[IDS:.*]] tokens %[[T:.*]] padding 1 outs
// CHECK-NOT: kernel.count_tokens
// CHECK: kernel.pool_index of %[[IDS]] : tensor<?xi32> tokens %[[T]] kind first_id skip 0 id 7
// CHECK: kernel.pool_index tokens %[[T]] kind first skip 1 id 0
// CHECK: kernel.pool_mean %{{.*}} key_mask %[[IDS]] : tensor<?xi32> tokens %[[T]] skip 1
// CHECK: %[[ONE:.*]] = kernel.rows ins(%{{.*}} : tensor<1x4xf32>)
// CHECK: kernel.keep %[[ONE]] as "probes" index 0
transformer.model @pooled {
  transformer.parameter @t : tensor<8x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<8x4xf32>>
  transformer.parameter @probe : tensor<1x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "probe", tensor<1x4xf32>>
  func.func @forward(%ids: tensor<?x?xi32> {transformer.name = "ids"}) -> (tensor<?x4xf32> {transformer.name = "a"}, tensor<?x4xf32> {transformer.name = "b"}, tensor<?x4xf32> {transformer.name = "c"}) {
    %p = transformer.count_tokens %ids padding 1 : tensor<?x?xi32>
    %q = transformer.count_tokens %ids padding 1 : tensor<?x?xi32>
    %x = transformer.embed(%p, %q) tables [@t, @t] offsets [0, 0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x4xf32>
    %a = transformer.pool %x ids %ids : tensor<?x?xi32> by first_id id 7 : tensor<?x?x4xf32> -> tensor<?x4xf32>
    %b = transformer.pool %x by first skip 1 : tensor<?x?x4xf32> -> tensor<?x4xf32>
    %c = transformer.pool %x key_mask %ids : tensor<?x?xi32> by mean skip 1 : tensor<?x?x4xf32> -> tensor<?x4xf32>
    %o = transformer.constant @probe for %x : tensor<?x?x4xf32> -> tensor<?x1x4xf32>
    transformer.keep %o as "probes" index 0 : tensor<?x1x4xf32>
    return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

// A similarity is an output by name, not a result.
// CHECK-LABEL: transformer.model @similarity
// CHECK-SAME: {
// CHECK-NEXT: func.func @forward({{.*}}) -> (tensor<?x4xf32> {transformer.name = "left", transformer.shape = #transformer.shape<batch, 4>}) {
// CHECK: kernel.similarity %[[A:.*]], %[[B:.*]] as "s" : tensor<?x4xf32>, tensor<?x4xf32>
// CHECK: return %[[A]]
transformer.model @similarity {
  func.func @forward(%a: tensor<?x4xf32> {transformer.name = "a"}, %b: tensor<?x4xf32> {transformer.name = "b"}) -> (tensor<?x?xf32> {transformer.name = "s"}, tensor<?x4xf32> {transformer.name = "left"}) {
    %s = transformer.similarity %a, %b : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    return %s, %a : tensor<?x?xf32>, tensor<?x4xf32>
  }
}

// -----

// Its scale and shift go into what it multiplies.
// CHECK-LABEL: transformer.model @scaled_similarity
// CHECK-DAG: %[[S:.*]] = kernel.weight @s -> tensor<1xf32>
// CHECK-DAG: %[[B:.*]] = kernel.weight #transformer.concat<#transformer.drawn<fixed, mean = 0.0, std = 0.0, seed = 0, stream = "", tensor<4xf32>>, @b> -> tensor<5xf32>
// CHECK-DAG: %[[I:.*]] = kernel.weight #transformer.reshape<#transformer.repeat<#transformer.concat<#transformer.drawn<fixed, mean = 1.0, {{.*}}, tensor<1xf32>>, #transformer.drawn<fixed, mean = 0.0, {{.*}}, tensor<4xf32>>>, 4, each = false>, [5, 4]> -> tensor<5x4xf32>
// CHECK: %[[L:.*]] = kernel.rows ins(%{{.*}}, %[[S]] : tensor<?x4xf32>, tensor<1xf32>)
// CHECK: %[[LB:.*]] = kernel.matmul %[[L]], %[[I]] extras(%[[B]] : tensor<5xf32>)
// CHECK: %[[R1:.*]] = kernel.matmul %{{.*}}, %[[I]] extras(%{{.*}} : tensor<5xf32>)
// CHECK: kernel.similarity %[[LB]], %[[R1]] as "s" : tensor<?x5xf32>, tensor<?x5xf32>
transformer.model @scaled_similarity {
  transformer.parameter @s : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "s", tensor<1xf32>>
  transformer.parameter @b : tensor<1xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "b", tensor<1xf32>>
  func.func @forward(%a: tensor<?x4xf32> {transformer.name = "a"}, %b: tensor<?x4xf32> {transformer.name = "b"}) -> (tensor<?x?xf32> {transformer.name = "s"}) {
    %s = transformer.similarity %a, %b : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x?xf32>
    %t = transformer.affine %s scale <learned_scalar @s> shift <learned_scalar @b> : tensor<?x?xf32>
    return %t : tensor<?x?xf32>
  }
}

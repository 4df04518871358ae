// RUN: %mille-opt %s --convert-to-kernel --split-input-file | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel --split-input-file > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// What hides keys; a sink; a factor of each head.
// CHECK-LABEL: transformer.model @masks
// CHECK-DAG: %[[S:.*]] = kernel.weight @sink -> tensor<2xf32>
// CHECK-DAG: %[[H:.*]] = kernel.weight @scale -> tensor<2xf32>
// CHECK: kernel.attention {{.*}} head_scale %[[H]] : tensor<2xf32> sink %[[S]] : tensor<2xf32> segments %{{.*}} : tensor<?xi32> prefix %{{.*}} : tensor<?xi32> queries %[[T:.*]] keys %[[T]] {{.*}} causal true window [2, 0] chunk 4
transformer.model @masks {
  transformer.parameter @sink : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "sink", tensor<2xf32>>
  transformer.parameter @scale : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "scale", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %seg: tensor<?x?xi32> {transformer.name = "seg"}, %p: tensor<?xi32> {transformer.name = "p"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.attend %x, %x, %x segments %seg : tensor<?x?xi32> prefix %p : tensor<?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 head_scale @scale sink @sink mask causal window [2, 0] chunk 4 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %a : tensor<?x?x4xf32>
  }
}

// -----

// A factor of each query, made once for attentions alike; only what its kind
// reads is handed to it.
// CHECK-LABEL: transformer.model @length_scales
// CHECK: %[[K:.*]] = kernel.query_scale key_mask %{{.*}} : tensor<?xi32> tokens %[[T:[^ ]*]] scale <log_keys, base = 512.0, floor = 16.0> causal true window [2, 0]
// CHECK: %[[P:.*]] = kernel.query_scale positions %{{.*}} : tensor<?xi32> tokens %[[T]] scale <log_floor, beta = 0.1, period = 8, offset = 1> causal false outs
// CHECK-NOT: kernel.query_scale
// CHECK: kernel.attention {{.*}} query_scale %[[K]] : tensor<?x1xf32>
// CHECK: kernel.attention {{.*}} query_scale %[[K]] : tensor<?x1xf32>
// CHECK: kernel.attention {{.*}} query_scale %[[P]] : tensor<?x1xf32>
transformer.model @length_scales {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %mask: tensor<?x?xi32> {transformer.name = "mask"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.attend %x, %x, %x key_mask %mask : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 length_scale <log_keys, base = 512.0, floor = 16.0> mask causal window [2, 0] : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %b = transformer.attend %a, %a, %a key_mask %mask : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 length_scale <log_keys, base = 512.0, floor = 16.0> mask causal window [2, 0] : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %c = transformer.attend %b, %b, %b key_mask %mask : tensor<?x?xi32> positions %at : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 length_scale <log_floor, beta = 0.1, period = 8, offset = 1> mask causal window [2, 0] : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %c : tensor<?x?x4xf32>
  }
}

// -----

// Slopes with their factor; rounded ones are a bias of each key and head.
// CHECK-LABEL: transformer.model @slopes
// CHECK: %[[B:.*]] = kernel.alibi %{{.*}} slopes [0.5, 0.25] factor 5.000000e-01 outs(%{{.*}} : tensor<?x2xf32>)
// CHECK: kernel.attention {{.*}} slopes [1.0, 0.5]
// CHECK: kernel.attention {{.*}} key_head_bias %[[B]] : tensor<?x2xf32>
transformer.model @slopes {
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %at: tensor<?x?xi32> {transformer.name = "at"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %s = transformer.position_bias %at slopes [0.5, 0.25] factor 2.0 : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    %r = transformer.position_bias %at slopes [0.5, 0.25] factor 0.5 rounding bfloat16 : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    %a = transformer.attend %x, %x, %x bias %s : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    %b = transformer.attend %a, %a, %a bias %r : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask causal : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %b : tensor<?x?x4xf32>
  }
}

// -----

// Tables of biases are weights of the kernel's shape; two of one sort are added.
// Windows are sequences of their own.
// CHECK-LABEL: transformer.model @tables
// CHECK-DAG: %[[T:.*]] = kernel.weight #transformer.plus<#transformer.transpose<#transformer.gather<@t, [0, 1, 2, 0]>>, #transformer.transpose<#transformer.gather<@t, [2, 2, 1, 0]>>> -> tensor<2x4xf32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: kernel.attention {{.*}} bias %[[T]] : tensor<2x4xf32> queries %[[TWO]] keys %[[TWO]] {{.*}} bias_by pair
transformer.model @tables {
  transformer.parameter @t : tensor<3x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<3x2xf32>>
  func.func @forward(%x: tensor<?x4x4xf32> {transformer.name = "x"}) -> (tensor<?x4x4xf32> {transformer.name = "y"}) {
    %p = transformer.pair_bias %x table @t index [0, 1, 2, 0] : tensor<?x4x4xf32> -> tensor<?x2x2x2xf32>
    %q = transformer.pair_bias %x table @t index [2, 2, 1, 0] : tensor<?x4x4xf32> -> tensor<?x2x2x2xf32>
    %a = transformer.attend %x, %x, %x bias %p, %q : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional sequences 2 : tensor<?x4x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<?x4x4xf32>
    return %a : tensor<?x4x4xf32>
  }
}

// -----

// A decoder's tokens are another size: queries of one, keys of the other.
// CHECK-LABEL: transformer.model @cross
// CHECK: func.func @forward(%{{.*}}: index {kernel.size = "batch"}, %[[T:.*]]: index {kernel.size = "tokens"}, %[[D:.*]]: index {kernel.size = "decoder_tokens"}, %[[X:.*]]: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
// CHECK-SAME: %[[Z:.*]]: tensor<?x4xf32> {transformer.name = "z", transformer.shape = #transformer.shape<batch, decoder_tokens, 4>}
// CHECK-SAME: -> (tensor<?x4xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, decoder_tokens, 4>})
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %{{.*}}, %[[D]]
// CHECK-DAG: %[[B:.*]] = kernel.weight #transformer.transpose<#transformer.gather<@t, [1, 0, 1]>> -> tensor<2x3xf32>
// CHECK: %[[TO:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
// CHECK: kernel.attention %[[Z]], %[[X]], %[[X]] bias %[[B]] : tensor<2x3xf32> queries %[[D]] keys %[[T]] first %{{.*}} outs(%[[TO]] : {{.*}} bias_by distance
transformer.model @cross {
  transformer.parameter @t : tensor<2x2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<2x2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %z: tensor<?x?x4xf32> {transformer.shape = #transformer.shape<batch, decoder_tokens, 4>, transformer.name = "z"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %b = transformer.distance_bias %z table @t buckets [1, 0, 1] : tensor<?x?x4xf32> -> tensor<?x2x?x?xf32>
    %a = transformer.attend %z, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %a : tensor<?x?x4xf32>
  }
}

// -----

// Content biases are products with a weight that is zero outside a row's own head.
// CHECK-LABEL: transformer.model @content
// CHECK: %[[W:.*]] = kernel.weight #transformer.times<#transformer.reshape<#transformer.permute<#transformer.reshape<#transformer.gather<#transformer.reshape<#transformer.permute<#transformer.reshape<#transformer.gather<@t, [1, 0, 1]>, [3, 2, 2]>, [1, 0, 2]>, [2, 6]>, [0, -1, -1, 1]>, [2, 2, 3, 2]>, [0, 2, 1, 3]>, [6, 4]>, 5.000000e-01 : f64> -> tensor<6x4xf32>
// CHECK: %[[C:.*]] = kernel.matmul %[[X:.*]], %[[W]] outs
// CHECK: kernel.attention %[[X]], %[[X]], %[[X]] content_key %[[C]] : tensor<?x6xf32>
transformer.model @content {
  transformer.parameter @t : tensor<2x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<2x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %b = transformer.content_bias %x of_key true table @t factor 0.5 buckets [1, 0, 1] : tensor<?x?x4xf32> -> tensor<?x2x?x?xf32>
    %a = transformer.attend %x, %x, %x bias %b : tensor<?x2x?x?xf32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 mask bidirectional : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %a : tensor<?x?x4xf32>
  }
}

// -----

// Linear attention keeps its decay as a weight.
// CHECK-LABEL: transformer.model @linear_attention
// CHECK: %[[D:.*]] = kernel.weight @d -> tensor<2xf32>
// CHECK: kernel.linear_attention %[[X:.*]], %[[X]], %[[X]] key_mask %{{.*}} : tensor<?xi32> decay %[[D]] : tensor<2xf32> tokens %{{.*}} heads 2 kv_heads 2 head_dim 2 value_dim 2 offsets [0, 0, 0] scale 5.000000e-01
transformer.model @linear_attention {
  transformer.parameter @d : tensor<2xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "d", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %mask: tensor<?x?xi32> {transformer.name = "mask"}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    %a = transformer.linear_attend %x, %x, %x key_mask %mask : tensor<?x?xi32> heads 2 kv_heads 2 head_dim 2 value_dim 2 scale 0.5 decay @d : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
    return %a : tensor<?x?x4xf32>
  }
}

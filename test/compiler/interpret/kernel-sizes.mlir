// The sizes of a kernel program with a decoder, and pixels it takes flattened;
// kernel.similarity names its output itself.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:2x1x1=2,3 decoder_x:f32:2x3x1=1 pixels:f32:2x1x1x2=10,20,30,40
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: decoded [2, 3, 1] 2 2 2 3 3 3{{$}}
// CHECK-DAG: similarity [2, 2] 500 1100 1100 2500{{$}}
// CHECK-DAG: decoder_hidden_states.0 [2, 3, 1] 1 1 1 1 1 1{{$}}
// CHECK-DAG: image.hidden_states.0 [2, 2, 1] 10 20 30 40{{$}}
// RUN: python3 %tensors make %t/in x:f32:2x1x1=2,3 pixels:f32:2x1x1x2=10
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: error: no input says how many decoder tokens input decoder_x has
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %decoder_tokens: index {kernel.size = "decoder_tokens"},
      %x: tensor<?x1xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %d: tensor<?x1xf32> {transformer.name = "decoder_x", transformer.default = "zeros", transformer.shape = #transformer.shape<batch, decoder_tokens, 1>},
      %i: tensor<?x2xf32> {transformer.name = "pixels", transformer.shape = #transformer.shape<batch, 1, 1, 2>})
      -> (tensor<?x1xf32> {transformer.name = "decoded", transformer.shape = #transformer.shape<batch, decoder_tokens, 1>})
      {
    %zero = arith.constant 0 : index
    kernel.keep %d as "decoder_hidden_states" index 0 : tensor<?x1xf32>
    %two = arith.constant 2 : index
    %patches = arith.muli %batch, %two : index
    %p = tensor.empty(%patches) : tensor<?x1xf32>
    %0 = kernel.patches %i image [1, 1, 2] kernel [1, 1] stride [1, 1] padding [0, 0] prefix 0 outs(%p : tensor<?x1xf32>) : tensor<?x2xf32> -> tensor<?x1xf32>
    kernel.keep %0 as "image.hidden_states" index 0 : tensor<?x1xf32>
    kernel.similarity %i, %i as "similarity" : tensor<?x2xf32>, tensor<?x2xf32>
    %rows = arith.muli %batch, %decoder_tokens : index
    %o = tensor.empty(%rows) : tensor<?x1xf32>
    %1 = kernel.attention %d, %x, %x queries %decoder_tokens keys %tokens first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    return %1 : tensor<?x1xf32>
  }
}

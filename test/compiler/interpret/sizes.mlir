// A run has three sizes: sequences, tokens, and the tokens of a decoder; pixels
// have a shape of their own. Several outputs are kept.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in x:f32:2x1x1=2,3 decoder_x:f32:2x3x1=1 pixels:f32:2x1x2=10,20,30,40
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %s --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: decoded [2, 3, 1] 2 2 2 3 3 3{{$}}
// one number per token
// CHECK-DAG: flat [2, 3] 2 2 2 3 3 3{{$}}
// default masks and positions are as long as what they go with
// CHECK-DAG: mask [2, 1] 1 1{{$}}
// CHECK-DAG: positions [2, 3] 0 1 2 0 1 2{{$}}
// CHECK-DAG: similarity [2, 2] 500 1100 1100 2500{{$}}
// CHECK-DAG: encoder_hidden_states.0 [2, 1, 1] 2 3{{$}}
// CHECK-DAG: decoder_hidden_states.0 [2, 3, 1] 1 1 1 1 1 1{{$}}
// CHECK-DAG: decoder_hidden_states.1 [2, 3, 1] 2 2 2 3 3 3{{$}}
// CHECK-DAG: image.hidden_states.0 [2, 2, 1] 10 20 30 40{{$}}
// CHECK-DAG: merged.hidden_states.0 [2, 1, 2] 10 20 30 40{{$}}
// RUN: python3 %tensors make %t/in x:f32:2x1x1=2 decoder_x:f32:3x3x1=1 pixels:f32:2x1x2=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: input decoder_x is [3, 3, 1] but x is [2, 1, 1]
// RUN: python3 %tensors make %t/in x:f32:2x1x1=2 decoder_x:f32:2x3x1=1 pixels:f32:2x1x3=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=PIXELS
// PIXELS: error: input pixels is [2, 1, 3] but extent 2 must be 2
transformer.model @m {
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"},
      %m: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"},
      %d: tensor<?x?x1xf32> {transformer.name = "decoder_x", transformer.shape = #transformer.shape<batch, decoder_tokens, 1>},
      %p: tensor<?x?xi32> {transformer.name = "decoder_position_ids", transformer.default = "positions", transformer.shape = #transformer.shape<batch, decoder_tokens>},
      %i: tensor<?x1x2xf32> {transformer.name = "pixels"})
      -> (tensor<?x?x1xf32> {transformer.name = "decoded"}, tensor<?x?xi32> {transformer.name = "mask"},
          tensor<?x?xi32> {transformer.name = "positions"}, tensor<?x?xf32> {transformer.name = "similarity"},
          tensor<?x?x1xf32> {transformer.name = "flat", transformer.shape = #transformer.shape<batch, decoder_tokens>}) {
    transformer.keep %x as "encoder_hidden_states" index 0 : tensor<?x?x1xf32>
    transformer.keep %d as "decoder_hidden_states" index 0 : tensor<?x?x1xf32>
    %0 = transformer.attend %d, %x, %x key_mask %m : tensor<?x?xi32> heads 1 kv_heads 1 head_dim 1 value_dim 1 scale 1.0 mask bidirectional
      : tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32> -> tensor<?x?x1xf32>
    transformer.keep %0 as "decoder_hidden_states" index 1 : tensor<?x?x1xf32>
    %1 = transformer.patches %i kernel [1, 1] stride [1, 1] padding [0, 0] : tensor<?x1x2xf32> -> tensor<?x2x1xf32>
    %2 = transformer.gather_tokens %1 index [0, 1] group 2 : tensor<?x2x1xf32> -> tensor<?x1x2xf32>
    transformer.keep %1 as "image.hidden_states" index 0 : tensor<?x2x1xf32>
    transformer.keep %2 as "merged.hidden_states" index 0 : tensor<?x1x2xf32>
    %3 = transformer.pool %2 by first : tensor<?x1x2xf32> -> tensor<?x2xf32>
    %4 = transformer.similarity %3, %3 : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x?xf32>
    return %0, %m, %p, %4, %0 : tensor<?x?x1xf32>, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?x1xf32>
  }
}

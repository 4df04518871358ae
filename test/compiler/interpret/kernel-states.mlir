// A state in bytes: each row of a head is rounded to 127ths of its largest number.
// Scores are 0, so that every seen key weighs the same.
// RUN: rm -rf %t && mkdir %t
// steps 1 and 2: 127 1 -3 0, and 254 4 0 0
// RUN: python3 %tensors make %t/in x:f32:1x2x4=127,1.4,-2.6,0,254,3,0,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out mixed | FileCheck %s
// CHECK: mixed [1, 2, 4] 127 1 -3 0 190.5 2.5 -1.5 0{{$}}
transformer.model @m {
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"}, %context: index {kernel.size = "context"},
      %x: tensor<?x4xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 4>},
      %past: tensor<?xi32> {transformer.name = "past", transformer.default = "zeros", transformer.shape = #transformer.shape<batch>},
      %keys: tensor<1x?x8xi8> {transformer.name = "keys", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 8>},
      %values: tensor<1x?x8xi8> {transformer.name = "values", transformer.state, transformer.shape = #transformer.shape<1, batch, context, 8>})
      -> (tensor<?x4xf32> {transformer.name = "mixed", transformer.shape = #transformer.shape<batch, tokens, 4>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %held = arith.muli %batch, %context : index
    %h = kernel.recall 0 of %keys rows %held : tensor<1x?x8xi8> -> tensor<?x8xi8>
    %k = kernel.remember %x past %past : tensor<?xi32> rows %context panels keys heads 1 outs(%h : tensor<?x8xi8>) : tensor<?x4xf32> -> tensor<?x8xi8>
    %g = kernel.recall 0 of %values rows %held : tensor<1x?x8xi8> -> tensor<?x8xi8>
    %v = kernel.remember %x past %past : tensor<?xi32> rows %context panels values heads 1 outs(%g : tensor<?x8xi8>) : tensor<?x4xf32> -> tensor<?x8xi8>
    %o = tensor.empty(%rows) : tensor<?x4xf32>
    %y = kernel.attention %x, %k, %v past %past : tensor<?xi32> queries %tokens keys %context first %zero outs(%o : tensor<?x4xf32>)
      heads 1 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 0, 0] scale 0.0 causal true panels
      : tensor<?x4xf32>, tensor<?x8xi8>, tensor<?x8xi8> -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

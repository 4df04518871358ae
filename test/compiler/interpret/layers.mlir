// Three layers of two bodies: body 0 multiplies by its weight and adds
// skip * x, body 1 doubles. Entries of a kept output count layers.
// Layer 0: 1 + 10 = 11; layer 1: 22; layer 2: 3 * 22 + 100 * 22 = 2266.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w a:f32:1x1=10 b:f32:1x1=100
// RUN: python3 %tensors make %t/in x:f32:1x1x1=1
// RUN: %mille run %t/m.mlir --target=reference --hidden-states --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --hidden-states --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: hidden_states.0 [1, 1, 1] 1{{$}}
// CHECK: hidden_states.1 [1, 1, 1] 11{{$}}
// CHECK: hidden_states.2 [1, 1, 1] 22{{$}}
// CHECK: hidden_states.3 [1, 1, 1] 2266{{$}}
// CHECK: last_hidden_state [1, 1, 1] 2266{{$}}
transformer.model @m {
  transformer.parameter @a : tensor<1x1xf32> = #transformer.stored<"w", "a", tensor<1x1xf32>>
  transformer.parameter @b : tensor<1x1xf32> = #transformer.stored<"w", "b", tensor<1x1xf32>>
  func.func @forward(%x: tensor<?x?x1xf32> {transformer.name = "x"})
      -> (tensor<?x?x1xf32> {transformer.name = "last_hidden_state"}) {
    transformer.keep %x as "hidden_states" index 0 : tensor<?x?x1xf32>
    %y = transformer.layers %x slots [["layers.*.w", "layers.*.skip"], []] bodies [0, 1, 0]
        table [[@a, 1.0], [], [@b, 3.0]] {
    ^bb0(%s: tensor<?x?x1xf32>):
      %r = transformer.residual %s skip_scale <constant @"layers.*.skip"> {
      ^bb0(%u: tensor<?x?x1xf32>):
        %b = transformer.linear %u weight @"layers.*.w" : tensor<?x?x1xf32> -> tensor<?x?x1xf32>
        transformer.yield %b : tensor<?x?x1xf32>
      } : tensor<?x?x1xf32>
      transformer.keep %r as "hidden_states" index 1 : tensor<?x?x1xf32>
      transformer.yield %r : tensor<?x?x1xf32>
    }, {
    ^bb0(%s: tensor<?x?x1xf32>):
      %r = transformer.residual %s {
      ^bb0(%u: tensor<?x?x1xf32>):
        transformer.yield %u : tensor<?x?x1xf32>
      } : tensor<?x?x1xf32>
      transformer.keep %r as "hidden_states" index 1 : tensor<?x?x1xf32>
      transformer.yield %r : tensor<?x?x1xf32>
    } : tensor<?x?x1xf32>
    return %y : tensor<?x?x1xf32>
  }
}

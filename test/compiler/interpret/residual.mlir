// Every slot of s N_out(A r + sum_i B_i N_branch,i(F_i(N_in,i(x)))) by itself.
// The branch is 2 u; rms_norm with eps 4.0 takes [1, 3] to [1/3, 1] (mean square
// 5, root of 5 + 4 is 3).
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w two:f32:2x2=2,0,0,2 scalar:f32:1=10 channel:f32:2=10,100
// RUN: python3 %tensors make %t/in x:f32:1x1x2=1,3
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: none [1, 1, 2] 3 9{{$}}
// x + 2 N(x)
// CHECK-DAG: pre [1, 1, 2] 1.666667 5{{$}}
// N(x + 2 x): mean square 45, root of 49 is 7
// CHECK-DAG: post [1, 1, 2] 0.4285714 1.285714{{$}}
// x + N(2 x): mean square 20, root of 20 + 5 is 5
// CHECK-DAG: res_post [1, 1, 2] 1.4 4.2{{$}}
// 3 N(x) + 10 * 2 N(x)
// CHECK-DAG: normed_skip [1, 1, 2] 7.666667 23{{$}}
// channel * x + scalar * 2 x, then times 0.5
// CHECK-DAG: learned [1, 1, 2] 15 180{{$}}
// x + a 2 x, a from 0 to 1 over 4, the end where there is no step
// CHECK-DAG: scheduled [1, 1, 2] 3 9{{$}}
// x + 2 x + 2 N(x)
// CHECK-DAG: parallel [1, 1, 2] 3.666667 11{{$}}
// RUN: python3 %tensors make %t/in x:f32:1x1x2=1,3 step:i32:1=1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out scheduled | FileCheck %s --check-prefix=STEP
// STEP: scheduled [1, 1, 2] 1.5 4.5{{$}}
transformer.model @m {
  transformer.parameter @two : tensor<2x2xf32> = #transformer.stored<"w", "two", tensor<2x2xf32>>
  transformer.parameter @scalar : tensor<1xf32> = #transformer.stored<"w", "scalar", tensor<1xf32>>
  transformer.parameter @channel : tensor<2xf32> = #transformer.stored<"w", "channel", tensor<2xf32>>
  func.func @forward(%x: tensor<?x?x2xf32> {transformer.name = "x"},
      %step: tensor<1xi32> {transformer.name = "step", transformer.default = "last"})
      -> (tensor<?x?x2xf32> {transformer.name = "none"}, tensor<?x?x2xf32> {transformer.name = "pre"},
          tensor<?x?x2xf32> {transformer.name = "post"}, tensor<?x?x2xf32> {transformer.name = "res_post"},
          tensor<?x?x2xf32> {transformer.name = "normed_skip"}, tensor<?x?x2xf32> {transformer.name = "learned"},
          tensor<?x?x2xf32> {transformer.name = "scheduled"}, tensor<?x?x2xf32> {transformer.name = "parallel"}) {
    %none = transformer.residual %x {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %pre = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 4.0>] {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %post = transformer.residual %x out_norm <rms_norm, eps = 4.0> {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %res_post = transformer.residual %x branch_norm [#transformer.norm<rms_norm, eps = 5.0>] {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %normed_skip = transformer.residual %x in_norm [#transformer.norm<rms_norm, eps = 4.0>] tap normed
        skip_scale <constant 3.0> branch_scale [#transformer.scale<constant 10.0>] {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %learned = transformer.residual %x skip_scale <learned_channel @channel>
        branch_scale [#transformer.scale<learned_scalar @scalar>] stream_scale <constant 0.5> {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %scheduled = transformer.residual %x branch_scale [#transformer.scale<scheduled from 0.0 to 1.0 over 4>] {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    %parallel = transformer.residual %x in_norm [#transformer.norm<identity>, #transformer.norm<rms_norm, eps = 4.0>] {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    }, {
    ^bb0(%u: tensor<?x?x2xf32>):
      %b = transformer.linear %u weight @two : tensor<?x?x2xf32> -> tensor<?x?x2xf32>
      transformer.yield %b : tensor<?x?x2xf32>
    } : tensor<?x?x2xf32>
    return %none, %pre, %post, %res_post, %normed_skip, %learned, %scheduled, %parallel
      : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>,
        tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
  }
}

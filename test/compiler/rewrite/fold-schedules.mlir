// RUN: %mille-opt %s --fold-schedules --split-input-file --remarks-filter=rewrite --remark-format=emitRemark 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=WHY

// Every slot; the input that only schedules read goes.
// CHECK-LABEL: transformer.model @ends
// CHECK: func.func @forward(%arg0: tensor<?x?x4xf32> {transformer.name = "x"})
// CHECK-SAME: transformer.rewrites = [{bound = "0 from the schedule's end on", law = "a(t) = a(steps) for t >= steps", layers = "0", name = "fold-schedules", reason = "0.5 as from step 100 on, 2.0 as from step 10 on", roundings = 0 : i64, status = "applied"
// CHECK: transformer.residual %arg0 skip_scale <constant 2.0> branch_scale [#transformer.scale<constant 0.5>] layer 0
// WHY: remark: {{.*}} fold-schedules applied: 0.5 as from step 100 on, 2.0 as from step 10 on
transformer.model @ends {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %step: tensor<1xi32> {transformer.name = "step", transformer.default = "none"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x skip_scale <scheduled from 1.0 to 2.0 over 10> branch_scale [#transformer.scale<scheduled from 0.0 to 0.5 over 100>] layer 0 {
    ^bb0(%h: tensor<?x?x4xf32>):
      %z = transformer.linear %h weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %z : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

// -----

// Nothing to fold: nothing is written, and an input that happens to be unread stays.
// CHECK-LABEL: transformer.model @keep_as_constants
// CHECK: func.func @forward(%arg0: tensor<?x?x4xf32> {transformer.name = "x"}, %arg1: tensor<1xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
// CHECK: branch_scale [#transformer.scale<constant 0.3>]
transformer.model @keep_as_constants {
  transformer.parameter @w : tensor<4x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 0.5, seed = 1, stream = "w", tensor<4x4xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %other: tensor<1xi32> {transformer.name = "other"}) -> (tensor<?x?x4xf32> {transformer.name = "last_hidden_state"}) {
    %y = transformer.residual %x branch_scale [#transformer.scale<constant 0.3>] layer 0 {
    ^bb0(%h: tensor<?x?x4xf32>):
      %z = transformer.linear %h weight @w : tensor<?x?x4xf32> -> tensor<?x?x4xf32>
      transformer.yield %z : tensor<?x?x4xf32>
    } : tensor<?x?x4xf32>
    return %y : tensor<?x?x4xf32>
  }
}

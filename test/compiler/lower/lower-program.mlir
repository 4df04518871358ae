// RUN: %mille-opt %s --plan-memory --lower-program=name=tiny | FileCheck %s
// RUN: %mille-opt %s --plan-memory --lower-program="name=tiny embed-weights=true" | FileCheck %s --check-prefix=EMBED

// The code is the same for 4 and for 1000 layers, but for a constant.
// RUN: sed 's/bodies \[0, 1\]/bodies [0, 1, 0, 1]/; s/table \[\[@a\], \[\]\]/table [[@a], [], [@b], []]/' %s > %t.4.mlir
// RUN: python3 %S/Inputs/deepen.py %s 500 > %t.1000.mlir
// RUN: %mille-opt %t.4.mlir --plan-memory --lower-program=object=%t.4.o -o %t.4.ll
// RUN: %mille-opt %t.1000.mlir --plan-memory --lower-program=object=%t.1000.o -o %t.1000.ll
// RUN: llvm-size %t.4.o | sed 's/ [^ ]*$//' > %t.4.size
// RUN: llvm-size %t.1000.o | sed 's/ [^ ]*$//' > %t.1000.size
// RUN: diff %t.4.size %t.1000.size

// CHECK: llvm.func internal @describe
// CHECK: llvm.func internal @tiny_forward(%[[CALL:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @describe
// CHECK: %[[STATUS:.*]] = llvm.call @mille_launch(%[[CALL]],
// CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK: llvm.cond_br %[[FAILED]], ^[[EXIT:.*]](%[[STATUS]] : i32)
// CHECK: ^[[EXIT]](%[[CODE:.*]]: i32):
// CHECK-NEXT: llvm.return %[[CODE]]
// CHECK: llvm.switch
// CHECK-NEXT: 1:
// CHECK: llvm.call @mille_keep
// CHECK-DAG: llvm.mlir.global private constant @kernel.0
// CHECK-DAG: llvm.func @mille_k_0_v4_few(!llvm.ptr) -> i32
// CHECK-DAG: llvm.func @mille_k_0_v3_many(!llvm.ptr) -> i32
// CHECK: llvm.mlir.global private constant @model.0()
// CHECK: llvm.func @tiny_model() -> !llvm.ptr
// CHECK-NEXT: llvm.mlir.addressof @model.0

// EMBED: llvm.mlir.global external constant @tiny_weights_data
// EMBED: llvm.mlir.addressof @tiny_weights_data
func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
    %x: tensor<?x16xf32> {transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 16>})
    -> (tensor<?x16xf32> {transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 16>}) {
  %rows = arith.muli %batch, %tokens : index
  %o = tensor.empty(%rows) : tensor<?x16xf32>
  %a = kernel.rows ins(%x : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  %y = kernel.layers %a slots [["layers.*.w"], []] bodies [0, 1] table [[@a], []] {
  ^bb0(%s: tensor<?x16xf32>):
    %w = kernel.weight @"layers.*.w" -> tensor<16xf32>
    %b = kernel.rows ins(%s, %w : tensor<?x16xf32>, tensor<16xf32>) outs(%o : tensor<?x16xf32>) gather [-1, -1] {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x16xf32>
    %c = kernel.rows ins(%b : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x16xf32>
    kernel.yield %c : tensor<?x16xf32>
  }, {
  ^bb0(%s: tensor<?x16xf32>):
    %z = kernel.launch {
      %b = kernel.rows ins(%s : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x16xf32>
      %c = kernel.rows ins(%b : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] {
      ^bb0(%n: f32):
        kernel.yield %n : f32
      } -> tensor<?x16xf32>
      kernel.yield %c : tensor<?x16xf32>
    } : tensor<?x16xf32>
    kernel.yield %z : tensor<?x16xf32>
  } : tensor<?x16xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}


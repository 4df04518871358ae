// Rows of tables by id, the first scaled; offsets are added to ids; positions
// are counted in each sequence where they are not given.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w word:f32:3x2=0,1,10,11,20,21 position:f32:3x2=900,900,1,2,3,4
// RUN: python3 %tensors make %t/in input_ids:i32:2x2=0,1,2,1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: last_hidden_state [2, 2, 2] 1 5 33 37 61 65 33 37

// RUN: python3 %tensors make %t/in input_ids:i32:1x2=0,3
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=BIG
// BIG: error: input input_ids is 3 at [0, 1] but must be from 0 to 2

// RUN: python3 %tensors make %t/in input_ids:i32:1x3=0,1,2
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: input position_ids is 2 at [0, 2] but must be from 0 to 1
transformer.model @m {
  transformer.parameter @word : tensor<3x2xf32> = #transformer.stored<"w", "word", tensor<3x2xf32>>
  transformer.parameter @position : tensor<3x2xf32> = #transformer.stored<"w", "position", tensor<3x2xf32>>
  func.func @forward(
      %ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 3 : i64},
      %positions: tensor<?x?xi32> {transformer.name = "position_ids", transformer.default = "positions", transformer.below = 2 : i64})
      -> (tensor<?x?x2xf32> {transformer.name = "last_hidden_state"}) {
    %x = transformer.embed(%ids, %positions) tables [@word, @position] offsets [0, 1] scale 3.0
      : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x2xf32>
    return %x : tensor<?x?x2xf32>
  }
}

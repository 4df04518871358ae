// Where and how far heads turn. Position 0 stays, position 1 of (1, 2, 3, 4):
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w table:f32:2x2=1,0,0.6,0.8
// RUN: python3 %tensors make %t/in x:f32:1x2x4=1,2,3,4 position_ids:i32:1x2=0,1
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// a quarter turn of dimensions 2 and 3, and the same backwards
// CHECK-DAG: start [1, 2, 4] 1 2 3 4 1 2 -4 3{{$}}
// CHECK-DAG: backwards [1, 2, 4] 1 2 3 4 1 2 4 -3{{$}}
// two heads by a row of the table, then twice as long
// CHECK-DAG: table [1, 2, 4] 2 4 6 8 -2 4 -2.8 9.6{{$}}
// the run is 2 tokens long: over 1 it turns by a quarter, not by half
// CHECK-DAG: long [1, 2, 4] 1 2 3 4 -2 1 3 4{{$}}
// CHECK-DAG: not_long [1, 2, 4] 1 2 3 4 -1 -2 3 4{{$}}
// frequency 2 pi by (3 * 2 - 2)^(1 / 1); the first, 0, by 1
// CHECK-DAG: stretched [1, 2, 4] 1 2 3 4 1 -4 3 2{{$}}
// RUN: python3 %tensors make %t/in x:f32:1x2x4=1 position_ids:i32:1x2=0,2
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: position is 2 but table @table has 2 rows
transformer.model @m {
  transformer.parameter @table : tensor<2x2xf32> = #transformer.stored<"w", "table", tensor<2x2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"},
      %p: tensor<?x?xi32> {transformer.name = "position_ids"})
      -> (tensor<?x?x4xf32> {transformer.name = "start"},
          tensor<?x?x4xf32> {transformer.name = "backwards"},
          tensor<?x?x4xf32> {transformer.name = "table"},
          tensor<?x?x4xf32> {transformer.name = "long"},
          tensor<?x?x4xf32> {transformer.name = "not_long"},
          tensor<?x?x4xf32> {transformer.name = "stretched"}) {
    %0 = transformer.rotate %x at %p heads 1 head_dim 4 start 2 pairing half frequencies [1.5707963267948966] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %1 = transformer.rotate %x at %p heads 1 head_dim 4 start 2 pairing interleaved frequencies [-1.5707963267948966] : tensor<?x?x4xf32>, tensor<?x?xi32>
    %2 = transformer.rotate %x at %p heads 2 head_dim 2 pairing half table @table attention_factor 2.0 : tensor<?x?x4xf32>, tensor<?x?xi32>
    %3 = transformer.rotate %x at %p heads 1 head_dim 4 pairing interleaved frequencies [3.141592653589793] long <after = 1, frequencies = [1.5707963267948966]> : tensor<?x?x4xf32>, tensor<?x?xi32>
    %4 = transformer.rotate %x at %p heads 1 head_dim 4 pairing interleaved frequencies [3.141592653589793] long <after = 2, frequencies = [1.5707963267948966]> : tensor<?x?x4xf32>, tensor<?x?xi32>
    %5 = transformer.rotate %x at %p heads 1 head_dim 4 pairing half frequencies [0.0, 6.283185307179586] long <after = 1, stretch = 3.0> : tensor<?x?x4xf32>, tensor<?x?xi32>
    return %0, %1, %2, %3, %4, %5 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}

// NaN times 0 is NaN: rows of zeros in a weight, of which whole tiles are left out where
// all numbers are finite, hide no number that is none.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:5x2=0,0,0,0,0,0,0,0,1,1
// RUN: python3 %tensors make %t/in x:f32:1x3x2=1,2,nan,3,inf,4
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 3, 5] 0 0 0 0 3 nan nan nan nan nan nan nan nan nan inf
transformer.model @m {
  transformer.parameter @w : tensor<5x2xf32> = #transformer.stored<"w", "w", tensor<5x2xf32>>
  func.func @forward(%x: tensor<?x?x2xf32> {transformer.name = "x"})
      -> (tensor<?x?x5xf32> {transformer.name = "y"}) {
    %y = transformer.linear %x weight @w scale 1.0 : tensor<?x?x2xf32> -> tensor<?x?x5xf32>
    return %y : tensor<?x?x5xf32>
  }
}

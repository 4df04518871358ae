// (input * weight^T) * scale + bias; odd sizes meet the edges of the tile.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:5x3=1,0,0,0,1,0,0,0,1,1,1,1,1,2,3 b:f32:5=100,200,300,400,500
// RUN: python3 %tensors make %t/in x:f32:1x5x3=1,2,3,4,5,6,7,8,9,1,1,1,0,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 5, 5] 102 204 306 412 528 108 210 312 430 564 114 216 318 448 600 102 202 302 406 512 100 200 300 400 500
transformer.model @m {
  transformer.parameter @w : tensor<5x3xf32> = #transformer.stored<"w", "w", tensor<5x3xf32>>
  transformer.parameter @b : tensor<5xf32> = #transformer.stored<"w", "b", tensor<5xf32>>
  func.func @forward(%x: tensor<?x?x3xf32> {transformer.name = "x"})
      -> (tensor<?x?x5xf32> {transformer.name = "y"}) {
    %y = transformer.linear %x weight @w bias @b scale 2.0 : tensor<?x?x3xf32> -> tensor<?x?x5xf32>
    return %y : tensor<?x?x5xf32>
  }
}

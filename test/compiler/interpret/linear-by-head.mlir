// Each head's columns by its own weight: two heads of 2 columns become 3 each.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w w:f32:2x3x2=1,0,0,1,1,1,10,0,0,10,10,20
// RUN: python3 %tensors make %t/in x:f32:1x2x4=1,2,3,4,5,6,7,8
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: FileCheck %s --input-file %t/k.mlir --check-prefix=KERNEL
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK: y [1, 2, 6] 1 2 3 30 40 110 5 6 11 70 80 230{{$}}
// KERNEL: kernel.matmul %{{.*}}, %{{.*}} outs({{.*}}) accumulators 1 heads 2
// Compiled, with packed weights.
// RUN: %mille compile %t/m.mlir -o %t/package --name=m
// RUN: %mille run %t/package --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// RUN: %mille verify %t/package | FileCheck %s --check-prefix=VERIFY
// VERIFY: y
// A weight in panels is no numbers.
// RUN: %mille-opt %t/k.mlir --pack-weights="widths=48" -o %t/p.mlir
// RUN: %refuses 1 %mille run %t/p.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: error: weight {{.*}} is not [entries, 1 * columns, 2]
// No device has kernels of heads.
// RUN: %refuses 1 %mille compile %t/m.mlir --target=opencl -o %t/none 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: no kernel of matmul for opencl: it has a weight for each head
transformer.model @m {
  transformer.parameter @w : tensor<2x3x2xf32> = #transformer.stored<"w", "w", tensor<2x3x2xf32>>
  func.func @forward(%x: tensor<?x?x4xf32> {transformer.name = "x"})
      -> (tensor<?x?x6xf32> {transformer.name = "y"}) {
    %y = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x4xf32> -> tensor<?x?x6xf32>
    return %y : tensor<?x?x6xf32>
  }
}

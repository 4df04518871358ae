// An image of any size: its patches, a table resized to their grid, and what rows and
// columns turn by.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w base:f32:2x1=10,7 table:f32:7x1=100,1,2,4,8,16,32
// One channel, two pixels down and one across a patch: 3 x 2 patches.
// RUN: python3 %tensors make %t/in image:f32:1x1x6x2=1,2,3,4,5,6,7,8,9,10,11,12
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: patches [1, 7, 2] 0 0 1 3 2 4 5 7 6 8 9 11 10 12{{$}}
// torch.nn.functional.interpolate, bicubic, align_corners=False, plus 7
// CHECK-DAG: bicubic [1, 7, 1] 110 7.453668 8.40545 12.20312 23.11914 16.95258 37.83283{{$}}
// the same with antialias=True
// CHECK-DAG: antialiased [1, 7, 1] 10 7.68495 8.801998 12.71348 22.0313 17.74202 35.2606{{$}}
// CHECK-DAG: base [1, 7, 1] 10 7 7 7 7 7 7{{$}}
// two cosines and two sines: of 2 pi (-2/3, 0, 2/3) down, of pi (-1, 1) across
// CHECK-DAG: rotation [1, 7, 4] 1 1 0 0 -0.5 -1 0.8660254 -1.224647e-16 -0.5 -1 0.8660254 1.224647e-16 1 -1 0 -1.224647e-16 1 -1 0 1.224647e-16 -0.5 -1 -0.8660254 -1.224647e-16 -0.5 -1 -0.8660254 1.224647e-16{{$}}
// RUN: python3 %tensors make %t/odd image:f32:1x1x5x2=1
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/odd --outputs %t/out 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: height is 5 but must be a multiple of 2
// What verifies as a kernel program may take another size for a side.
// RUN: sed "s/height %arg2/height %arg0/" %t/k.mlir > %t/batch.mlir
// RUN: %refuses 1 %mille run %t/batch.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: the image is 1 x 2 but a patch is 2 x 1
// RUN: sed "s/width %arg3/width %arg2/" %t/k.mlir > %t/wide.mlir
// RUN: %refuses 1 %mille run %t/wide.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: outs has 7 rows but the images give 19
// RUN: sed "s/sides %arg2, %arg3/sides %arg2, %arg2/" %t/k.mlir > %t/pixels.mlir
// RUN: %refuses 1 %mille run %t/pixels.mlir --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=PIXELS
// PIXELS: error: {{.*}}pixels{{.*}}12{{.*}}36
#grid = #transformer.grid<tokens = "image_tokens", patch = [2, 1], own = [4, 3], prefix = 1>
#shape = #transformer.shape<batch, 1, height, width>
transformer.model @m {
  transformer.parameter @base : tensor<2x1xf32> = #transformer.stored<"w", "base", tensor<2x1xf32>>
  transformer.parameter @table : tensor<7x1xf32> = #transformer.stored<"w", "table", tensor<7x1xf32>>
  transformer.parameter @bare : tensor<6x1xf32> = #transformer.gather<#transformer.stored<"w", "table", tensor<7x1xf32>>, [1, 2, 3, 4, 5, 6]>
  func.func @forward(%i: tensor<?x1x?x?xf32> {transformer.name = "image", transformer.shape = #shape, transformer.grid = #grid})
      -> (tensor<?x?x2xf32> {transformer.name = "patches"}, tensor<?x?x1xf32> {transformer.name = "bicubic"},
          tensor<?x?x1xf32> {transformer.name = "antialiased"}, tensor<?x?x1xf32> {transformer.name = "base"},
          tensor<?x?x4xf32> {transformer.name = "rotation"}) {
    %0 = transformer.patches %i kernel [2, 1] stride [2, 1] padding [0, 0] prefix 1 : tensor<?x1x?x?xf32> -> tensor<?x?x2xf32>
    %1 = transformer.patch_table of %i patch [2, 1] prefix 1 base @base table @table own [2, 3] placed 1 resize bicubic : tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %2 = transformer.patch_table of %i patch [2, 1] prefix 1 base @base table @bare own [2, 3] resize bicubic_antialiased : tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %3 = transformer.patch_table of %i patch [2, 1] prefix 1 base @base : tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %4 = transformer.patch_rotation of %i patch [2, 1] prefix 1 theta 100.0 head_dim 4 : tensor<?x1x?x?xf32> -> tensor<?x?x4xf32>
    return %0, %1, %2, %3, %4 : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x4xf32>
  }
}

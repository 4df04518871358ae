// Tokens of an image of any size: into windows and back, which of a window were
// neighbours, and four side by side.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// A pixel is a token: 3 x 5.
// RUN: python3 %tensors make %t/in image:f32:1x1x3x5=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// The same as a kernel program.
// RUN: %mille-opt %t/m.mlir --convert-to-kernel -o %t/k.mlir
// RUN: %mille run %t/k.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// torch.roll of the padded image by -1, -1, cut into windows of 2 x 2
// CHECK-DAG: windows [1, 24, 1] 7 8 12 13 9 10 14 15 0 6 0 11 0 0 2 3 0 0 4 5 0 0 0 1{{$}}
// CHECK-DAG: segments [1, 24] 0 0 0 0 0 0 0 0 1 2 1 2 3 3 6 6 3 3 6 6 4 5 7 8{{$}}
// CHECK-DAG: back [1, 15, 1] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15{{$}}
// CHECK-DAG: merged [1, 6, 4] 1 6 2 7 3 8 4 9 5 10 0 0 11 0 12 0 13 0 14 0 15 0 0 0{{$}}
// An image that is no higher than a window does not shift.
// RUN: python3 %tensors make %t/in image:f32:1x1x2x5=1,2,3,4,5,6,7,8,9,10
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s --check-prefix=STILL
// STILL-DAG: windows [1, 12, 1] 1 2 6 7 3 4 8 9 5 0 10 0{{$}}
// STILL-DAG: segments [1, 12] 0 0 0 0 0 0 0 0 0 0 0 0{{$}}
// STILL-DAG: back [1, 10, 1] 1 2 3 4 5 6 7 8 9 10{{$}}
// RUN: python3 %tensors make %t/low image:f32:1x1x1x5=1
// RUN: %refuses 1 %mille run %t/m.mlir --target=reference --inputs %t/low --outputs %t/out 2>&1 | FileCheck %s --check-prefix=LOW
// LOW: error: height is 1 but must be at least 2
#grid = #transformer.grid<tokens = "image_tokens", patch = [1, 1], own = [4, 4], prefix = 0, parts = [<tokens = "windowed_tokens", side = [2, 2], each = 4>, <tokens = "merged_tokens", side = [2, 2], each = 1>], least = [2, 2]>
#shape = #transformer.shape<batch, 1, height, width>
transformer.model @m {
  func.func @forward(%i: tensor<?x1x?x?xf32> {transformer.name = "image", transformer.shape = #shape, transformer.grid = #grid})
      -> (tensor<?x?x1xf32> {transformer.name = "windows"}, tensor<?x?xi32> {transformer.name = "segments"},
          tensor<?x?x1xf32> {transformer.name = "back"}, tensor<?x?x4xf32> {transformer.name = "merged"}) {
    %p = transformer.patches %i kernel [1, 1] stride [1, 1] padding [0, 0] : tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %w = transformer.move_patches %p of %i move into_windows side [1, 1] size 2 shift 1 : tensor<?x?x1xf32>, tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %s = transformer.window_segments of %i side [1, 1] size 2 shift 1 : tensor<?x1x?x?xf32> -> tensor<?x?xi32>
    %b = transformer.move_patches %w of %i move out_of_windows side [1, 1] size 2 shift 1 : tensor<?x?x1xf32>, tensor<?x1x?x?xf32> -> tensor<?x?x1xf32>
    %m = transformer.move_patches %b of %i move merge side [1, 1] : tensor<?x?x1xf32>, tensor<?x1x?x?xf32> -> tensor<?x?x4xf32>
    return %w, %s, %b, %m : tensor<?x?x1xf32>, tensor<?x?xi32>, tensor<?x?x1xf32>, tensor<?x?x4xf32>
  }
}

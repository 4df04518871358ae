// Kernels of several ops: rows that are joined to the op before them.
// BERT's norm, and its copy for the next matmul.
func.func @twice(%x: memref<?x768xf32, strided<[784, 1]>>, %w: memref<768xf32>, %b: memref<768xf32>,
    %y: memref<?x768xf32, strided<[784, 1]>>, %z: memref<?x768xbf16, strided<[800, 1]>>) {
  kernel.launch {
    kernel.rows ins(%x, %w, %b : memref<?x768xf32, strided<[784, 1]>>, memref<768xf32>, memref<768xf32>)
      outs(%y : memref<?x768xf32, strided<[784, 1]>>) gather [-1, -1, -1] norm <layer, 1.0e-12> {
    ^bb0(%n: f32, %g: f32, %a: f32):
      %0 = arith.mulf %n, %g : f32
      %1 = arith.addf %0, %a : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x768xf32, strided<[784, 1]>>) outs(%z : memref<?x768xbf16, strided<[800, 1]>>)
      gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
// A sum that is written, and its norm, where no vector is whole.
func.func @sum(%x: memref<?x1155xf32>, %y: memref<?x1155xbf16>, %r: memref<?x1xf32>, %w: memref<1155xf32>, %s: memref<?x1155xf32>,
    %z: memref<?x1155xf32>) {
  kernel.launch {
    kernel.rows ins(%x, %y, %r : memref<?x1155xf32>, memref<?x1155xbf16>, memref<?x1xf32>) outs(%s : memref<?x1155xf32>) gather [-1, -1, -1] {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %b, %c : f32
      %1 = arith.addf %a, %0 : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%s, %w : memref<?x1155xf32>, memref<1155xf32>) outs(%z : memref<?x1155xf32>)
      gather [-1, -1] norm <rms, 1.0e-05> attributes {kernel.joined} {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    }
    kernel.yield
  }
  return
}
// Embeddings, whose sum only the norm reads: it is not written.
func.func @embed(%rows: index, %words: memref<30x768xf32>, %types: memref<2x768xf32>, %w: memref<768xf32>,
    %ids: memref<?xi32>, %type: memref<?xi32>, %y: memref<?x768xf32>, %z: memref<?x768xbf16>) {
  %s = kernel.arena offset 0 rows %rows : memref<?x768xf32, strided<[784, 1]>>
  kernel.launch {
    kernel.rows ins(%words, %types : memref<30x768xf32>, memref<2x768xf32>) indices(%ids, %type : memref<?xi32>, memref<?xi32>)
      outs(%s : memref<?x768xf32, strided<[784, 1]>>) gather [0, 1] {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      kernel.yield %0 : f32
    }
    kernel.rows ins(%s, %w : memref<?x768xf32, strided<[784, 1]>>, memref<768xf32>) outs(%y : memref<?x768xf32>)
      gather [-1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    }
    kernel.rows ins(%y, %s : memref<?x768xf32>, memref<?x768xf32, strided<[784, 1]>>) outs(%z : memref<?x768xbf16>)
      gather [-1, -1] attributes {kernel.joined} {
    ^bb0(%n: f32, %m: f32):
      %0 = arith.maximumf %n, %m : f32
      kernel.yield %0 : f32
    }
    kernel.yield
  }
  return
}

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
// BERT's product, residual, norm and copy.
func.func @post(%rows: index, %x: memref<?x840xbf16, strided<[848, 1]>>, %w: memref<384x840xbf16>, %b: memref<384xf32>,
    %s: memref<?x384xf32, strided<[400, 1]>>, %g: memref<384xf32>, %a: memref<384xf32>,
    %y: memref<?x384xf32, strided<[400, 1]>>, %z: memref<?x384xbf16, strided<[416, 1]>>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x384xf32, strided<[400, 1]>>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<384xf32>, memref<?x384xf32, strided<[400, 1]>>)
      outs(%p : memref<?x384xf32, strided<[400, 1]>>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x840xbf16, strided<[848, 1]>>, memref<384x840xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x384xf32, strided<[400, 1]>>, memref<384xf32>, memref<384xf32>)
      outs(%y : memref<?x384xf32, strided<[400, 1]>>) gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x384xf32, strided<[400, 1]>>) outs(%z : memref<?x384xbf16, strided<[416, 1]>>)
      gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
// A stream that is written, and its norm; the residual is of bf16, and K long.
func.func @pre(%x: memref<?x840xbf16>, %w: memref<512x840xbf16>, %s: memref<?x512xbf16>, %r: memref<?x1xf32>, %g: memref<512xf32>,
    %y: memref<?x512xf32>, %z: memref<?x512xbf16>) {
  kernel.launch {
    kernel.matmul %x, %w extras(%s, %r : memref<?x512xbf16>, memref<?x1xf32>) outs(%y : memref<?x512xf32>) accumulators 1 {
    ^bb0(%acc: f32, %e: f32, %c: f32):
      %0 = arith.mulf %acc, %c : f32
      %1 = arith.addf %0, %e : f32
      kernel.yield %1 : f32
    } : memref<?x840xbf16>, memref<512x840xbf16>
    kernel.rows ins(%y, %g : memref<?x512xf32>, memref<512xf32>) outs(%z : memref<?x512xbf16>)
      gather [-1, -1] norm <rms, 1.0e-05> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32):
      %0 = arith.mulf %n, %f : f32
      kernel.yield %0 : f32
    }
    kernel.yield
  }
  return
}
// A product's norm alone, in bf16: no out holds the sums, so they stay in registers.
func.func @narrow(%rows: index, %x: memref<?x840xbf16, strided<[848, 1]>>, %w: memref<384x840xbf16>, %b: memref<384xf32>,
    %s: memref<?x384xf32, strided<[400, 1]>>, %g: memref<384xf32>, %a: memref<384xf32>,
    %z: memref<?x384xbf16, strided<[416, 1]>>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x384xf32, strided<[400, 1]>>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<384xf32>, memref<?x384xf32, strided<[400, 1]>>)
      outs(%p : memref<?x384xf32, strided<[400, 1]>>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x840xbf16, strided<[848, 1]>>, memref<384x840xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x384xf32, strided<[400, 1]>>, memref<384xf32>, memref<384xf32>)
      outs(%z : memref<?x384xbf16, strided<[416, 1]>>) gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.yield
  }
  return
}

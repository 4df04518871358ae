// Products with a residual, and their norm: of BERT (768 and 1024 columns), whose copy
// is joined too, and of models that norm before, whose stream is written.
func.func @attention(%rows: index, %x: memref<?x768xbf16>, %w: memref<768x768xbf16>, %b: memref<768xf32>, %s: memref<?x768xf32>,
    %g: memref<768xf32>, %a: memref<768xf32>, %y: memref<?x768xf32>, %z: memref<?x768xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x768xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<768xf32>, memref<?x768xf32>) outs(%p : memref<?x768xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x768xbf16>, memref<768x768xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x768xf32>, memref<768xf32>, memref<768xf32>) outs(%y : memref<?x768xf32>)
      gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x768xf32>) outs(%z : memref<?x768xbf16>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
func.func @forward(%rows: index, %x: memref<?x3072xbf16>, %w: memref<768x3072xbf16>, %b: memref<768xf32>, %s: memref<?x768xf32>,
    %g: memref<768xf32>, %a: memref<768xf32>, %y: memref<?x768xf32>, %z: memref<?x768xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x768xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<768xf32>, memref<?x768xf32>) outs(%p : memref<?x768xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x3072xbf16>, memref<768x3072xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x768xf32>, memref<768xf32>, memref<768xf32>) outs(%y : memref<?x768xf32>)
      gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x768xf32>) outs(%z : memref<?x768xbf16>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
func.func @large(%rows: index, %x: memref<?x1024xbf16>, %w: memref<1024x1024xbf16>, %b: memref<1024xf32>, %s: memref<?x1024xf32>,
    %g: memref<1024xf32>, %a: memref<1024xf32>, %y: memref<?x1024xf32>, %z: memref<?x1024xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x1024xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<1024xf32>, memref<?x1024xf32>) outs(%p : memref<?x1024xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x1024xbf16>, memref<1024x1024xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x1024xf32>, memref<1024xf32>, memref<1024xf32>) outs(%y : memref<?x1024xf32>)
      gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x1024xf32>) outs(%z : memref<?x1024xbf16>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}
func.func @stream(%rows: index, %x: memref<?x3072xbf16>, %w: memref<768x3072xbf16>, %b: memref<768xf32>, %s: memref<?x768xf32>,
    %g: memref<768xf32>, %a: memref<768xf32>, %y: memref<?x768xf32>, %z: memref<?x768xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x768xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<768xf32>, memref<?x768xf32>) outs(%y : memref<?x768xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x3072xbf16>, memref<768x3072xbf16>
    kernel.rows ins(%y, %g, %a : memref<?x768xf32>, memref<768xf32>, memref<768xf32>) outs(%z : memref<?x768xbf16>)
      gather [-1, -1, -1] norm <rms, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.yield
  }
  return
}
func.func @wide(%rows: index, %x: memref<?x512xbf16>, %w: memref<2048x512xbf16>, %b: memref<2048xf32>, %s: memref<?x2048xf32>,
    %g: memref<2048xf32>, %a: memref<2048xf32>, %y: memref<?x2048xf32>, %z: memref<?x2048xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x2048xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<2048xf32>, memref<?x2048xf32>) outs(%y : memref<?x2048xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x512xbf16>, memref<2048x512xbf16>
    kernel.rows ins(%y, %g, %a : memref<?x2048xf32>, memref<2048xf32>, memref<2048xf32>) outs(%z : memref<?x2048xbf16>)
      gather [-1, -1, -1] norm <rms, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.yield
  }
  return
}
func.func @narrow(%rows: index, %x: memref<?x256xbf16>, %w: memref<64x256xbf16>, %b: memref<64xf32>, %s: memref<?x64xf32>,
    %g: memref<64xf32>, %a: memref<64xf32>, %y: memref<?x64xf32>, %z: memref<?x64xbf16>) {
  %p = kernel.arena offset 0 rows %rows : memref<?x64xf32>
  kernel.launch {
    kernel.matmul %x, %w extras(%b, %s : memref<64xf32>, memref<?x64xf32>) outs(%p : memref<?x64xf32>) accumulators 1 {
    ^bb0(%acc: f32, %c: f32, %e: f32):
      %0 = arith.addf %acc, %c : f32
      %1 = arith.addf %e, %0 : f32
      kernel.yield %1 : f32
    } : memref<?x256xbf16>, memref<64x256xbf16>
    kernel.rows ins(%p, %g, %a : memref<?x64xf32>, memref<64xf32>, memref<64xf32>) outs(%y : memref<?x64xf32>)
      gather [-1, -1, -1] norm <layer, 1.0e-12> attributes {kernel.joined} {
    ^bb0(%n: f32, %f: f32, %c: f32):
      %0 = arith.mulf %n, %f : f32
      %1 = arith.addf %0, %c : f32
      kernel.yield %1 : f32
    }
    kernel.rows ins(%y : memref<?x64xf32>) outs(%z : memref<?x64xbf16>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

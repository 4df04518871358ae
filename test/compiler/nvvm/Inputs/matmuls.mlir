// Matmuls with odd sizes: rows that are apart, columns that fill no tile, extras
// of all kinds, f32 and bf16, two accumulators, an out without a tensor map.
func.func @bias(%x: memref<?x136xbf16, strided<[160, 1]>>, %w: memref<328x136xbf16>,
                 %b: memref<328xf32>, %o: memref<?x328xbf16, strided<[352, 1]>>) {
  kernel.matmul %x, %w extras(%b : memref<328xf32>) outs(%o : memref<?x328xbf16, strided<[352, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %s = arith.addf %a, %bias : f32
    kernel.yield %s : f32
  } : memref<?x136xbf16, strided<[160, 1]>>, memref<328x136xbf16>
  return
}
func.func @skip(%x: memref<?x200xbf16>, %w: memref<264x200xbf16>,
                 %b: memref<264xf32>, %r: memref<?x264xf32, strided<[272, 1]>>, %o: memref<?x264xf32, strided<[272, 1]>>) {
  kernel.matmul %x, %w extras(%b, %r : memref<264xf32>, memref<?x264xf32, strided<[272, 1]>>) outs(%o : memref<?x264xf32, strided<[272, 1]>>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32, %skip: f32):
    %c = arith.constant 1.75 : f32
    %s = arith.addf %a, %bias : f32
    %q = arith.mulf %skip, %c : f32
    %t = arith.addf %s, %q : f32
    kernel.yield %t : f32
  } : memref<?x200xbf16>, memref<264x200xbf16>
  return
}
func.func @gate(%x: memref<?x72xbf16>, %w: memref<400x72xbf16>, %r: memref<?x1xf32>, %e: memref<?x200xf32>, %o: memref<?x200xbf16>) {
  kernel.matmul %x, %w extras(%r, %e : memref<?x1xf32>, memref<?x200xf32>) outs(%o : memref<?x200xbf16>) accumulators 2 {
  ^bb0(%a: f32, %c: f32, %row: f32, %el: f32):
    %one = arith.constant 1.0 : f32
    %n = arith.negf %a : f32
    %e1 = math.exp %n : f32
    %d = arith.addf %e1, %one : f32
    %s = arith.divf %a, %d : f32
    %t = arith.mulf %s, %c : f32
    %u = arith.mulf %t, %row : f32
    %v = arith.addf %u, %el : f32
    kernel.yield %v : f32
  } : memref<?x72xbf16>, memref<400x72xbf16>
  return
}
func.func @unaligned(%x: memref<?x64xbf16>, %w: memref<77x64xbf16>, %b: memref<77xf32>, %o: memref<?x77xf32>) {
  kernel.matmul %x, %w extras(%b : memref<77xf32>) outs(%o : memref<?x77xf32>) accumulators 1 {
  ^bb0(%a: f32, %bias: f32):
    %h = arith.constant 0.5 : f32
    %q = arith.constant -0.70710678118 : f32
    %s = arith.addf %a, %bias : f32
    %u = arith.mulf %s, %q : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %s, %h : f32
    %t = arith.mulf %v, %e : f32
    kernel.yield %t : f32
  } : memref<?x64xbf16>, memref<77x64xbf16>
  return
}
func.func @wide(%x: memref<?x264xbf16>, %w: memref<1288x264xbf16>,
                %r: memref<?x1288xbf16>, %f: memref<?x1xf32>,
                %b: memref<1288xf32>, %s: memref<1xf32>,
                %o: memref<?x1288xbf16>) {
  kernel.matmul %x, %w
      extras(%r, %f, %b, %s : memref<?x1288xbf16>, memref<?x1xf32>,
             memref<1288xf32>, memref<1xf32>)
      outs(%o : memref<?x1288xbf16>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32, %factor: f32, %bias: f32, %scale: f32):
    %m = arith.mulf %a, %factor : f32
    %t = arith.addf %m, %bias : f32
    %u = arith.mulf %skip, %scale : f32
    %y = arith.addf %t, %u : f32
    kernel.yield %y : f32
  } : memref<?x264xbf16>, memref<1288x264xbf16>
  return
}
func.func @long(%x: memref<?x1032xbf16>, %w: memref<1024x1032xbf16>,
                %r: memref<?x1024xf32>, %o: memref<?x1024xf32>) {
  kernel.matmul %x, %w extras(%r : memref<?x1024xf32>)
      outs(%o : memref<?x1024xf32>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %y = arith.addf %a, %skip : f32
    kernel.yield %y : f32
  } : memref<?x1032xbf16>, memref<1024x1032xbf16>
  return
}
func.func @narrow(%x: memref<?x512xbf16>, %w: memref<72x512xbf16>,
                  %r: memref<?x72xf32>, %o: memref<?x72xf32>) {
  kernel.matmul %x, %w extras(%r : memref<?x72xf32>)
      outs(%o : memref<?x72xf32>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %y = arith.addf %a, %skip : f32
    kernel.yield %y : f32
  } : memref<?x512xbf16>, memref<72x512xbf16>
  return
}
func.func @deep(%x: memref<?x4096xbf16>, %w: memref<64x4096xbf16>, %o: memref<?x64xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x64xbf16>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x4096xbf16>, memref<64x4096xbf16>
  return
}
func.func @paired(%x: memref<?x512xbf16>, %w: memref<16384x512xbf16>, %o: memref<?x8192xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x8192xbf16>) accumulators 2 {
  ^bb0(%a: f32, %c: f32):
    %t = arith.mulf %a, %c : f32
    kernel.yield %t : f32
  } : memref<?x512xbf16>, memref<16384x512xbf16>
  return
}
func.func @whole(%x: memref<?x200xbf16>, %w: memref<384x200xbf16>,
                 %r: memref<?x384xf32>, %o: memref<?x384xf32>) {
  kernel.matmul %x, %w extras(%r : memref<?x384xf32>)
      outs(%o : memref<?x384xf32>) accumulators 1 {
  ^bb0(%a: f32, %skip: f32):
    %y = arith.addf %a, %skip : f32
    kernel.yield %y : f32
  } : memref<?x200xbf16>, memref<384x200xbf16>
  return
}
func.func @whole_bf16(%x: memref<?x72xbf16>, %w: memref<256x72xbf16>,
                      %o: memref<?x256xbf16>) {
  kernel.matmul %x, %w outs(%o : memref<?x256xbf16>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x72xbf16>, memref<256x72xbf16>
  return
}
func.func @apart(%x: memref<?x3072xbf16>, %w: memref<8x3072xbf16>,
                 %o: memref<?x8xf32>) {
  kernel.matmul %x, %w outs(%o : memref<?x8xf32>) accumulators 1 {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  } : memref<?x3072xbf16>, memref<8x3072xbf16>
  return
}

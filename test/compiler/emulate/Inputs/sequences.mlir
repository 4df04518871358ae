// Attention and rows for the emulator.
func.func @full(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %n: index, %m: index, %p: index, %o: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v queries %n keys %m first %p outs(%o : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0] scale 0.125 causal false
    : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}

// Grouped heads, in one buffer.
func.func @causal(%x: memref<?x1024xbf16>, %n: index, %p: index, %o: memref<?x512xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %p outs(%o : memref<?x512xbf16>)
    heads 4 kv_heads 2 head_dim 128 value_dim 128 offsets [0, 512, 768] scale 0.0884 causal true
    : memref<?x1024xbf16>, memref<?x1024xbf16>, memref<?x1024xbf16>
  return
}

func.func @masked(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %mask: memref<?xi32>, %n: index, %m: index, %p: index, %o: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> queries %n keys %m first %p outs(%o : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0] scale 0.125 causal false
    : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}

func.func @windowed(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %n: index, %p: index, %o: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v queries %n keys %n first %p outs(%o : memref<?x128xbf16>)
    heads 1 kv_heads 1 head_dim 128 value_dim 128 offsets [0, 0, 0] scale 0.0884 causal true softcap 20.0
    window [100, 0] : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}

func.func @turned(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %r: memref<?x64xf32>, %n: index, %p: index, %o: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v rotation %r : memref<?x64xf32> queries %n keys %n first %p outs(%o : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0] scale 0.125 causal true
    : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}

func.func @norm(%x: memref<?x203xbf16, strided<[208, 1]>>, %r: memref<?x203xbf16, strided<[208, 1]>>,
    %g: memref<203xf32>, %b: memref<203xf32>, %o: memref<?x203xbf16, strided<[208, 1]>>) {
  kernel.rows ins(%x, %r, %g, %b : memref<?x203xbf16, strided<[208, 1]>>, memref<?x203xbf16, strided<[208, 1]>>, memref<203xf32>, memref<203xf32>)
    outs(%o : memref<?x203xbf16, strided<[208, 1]>>) gather [-1, -1, -1, -1] norm <layer, 1.0e-05> {
  ^bb0(%n: f32, %skip: f32, %gain: f32, %bias: f32):
    %m = arith.mulf %n, %gain : f32
    %s = arith.addf %m, %bias : f32
    %y = arith.addf %s, %skip : f32
    kernel.yield %y : f32
  }
  return
}

func.func @embed(%t: memref<37x1024xf32>, %i: memref<?xi32>, %o: memref<?x1024xf32>) {
  kernel.rows ins(%t : memref<37x1024xf32>) indices(%i : memref<?xi32>) outs(%o : memref<?x1024xf32>) gather [0] norm <rms, 1.0e-06> {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// A term by key that three heads share.
func.func @shared(%x: memref<?x32xbf16>, %v: memref<?x8xbf16>, %b: memref<?x1xf32>,
    %n: index, %p: index, %o: memref<?x24xbf16>) {
  kernel.attention %x, %x, %v key_head_bias %b : memref<?x1xf32> queries %n keys %n first %p outs(%o : memref<?x24xbf16>)
    heads 3 kv_heads 1 head_dim 8 value_dim 8 offsets [0, 24, 0] scale 0.35 causal true
    : memref<?x32xbf16>, memref<?x32xbf16>, memref<?x8xbf16>
  return
}

func.func @rotate(%x: memref<?x128xbf16>, %r: memref<?x16xf32>, %o: memref<?x96xbf16>) {
  kernel.rotate %x by %r outs(%o : memref<?x96xbf16>) heads 3 head_dim 32 pairing interleaved start 8
    : memref<?x128xbf16>, memref<?x16xf32>
  return
}

// What the generator of attention and rows leaves to the next one.
func.func @two_types(%x: memref<?x192xf32>, %n: index, %out: memref<?x64xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125 causal false
    : memref<?x192xf32>, memref<?x192xf32>, memref<?x192xf32>
  return
}
func.func @turned_f32(%x: memref<?x192xf32>, %r: memref<?x64xf32>, %n: index, %out: memref<?x64xf32>) {
  kernel.attention %x, %x, %x rotation %r : memref<?x64xf32> queries %n keys %n first %n outs(%out : memref<?x64xf32>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125 causal false
    : memref<?x192xf32>, memref<?x192xf32>, memref<?x192xf32>
  return
}
func.func @narrow(%x: memref<?x36xbf16>, %n: index, %out: memref<?x12xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %n outs(%out : memref<?x12xbf16>)
    heads 1 kv_heads 1 head_dim 12 value_dim 12 offsets [0, 12, 24] scale 0.125 causal false
    : memref<?x36xbf16>, memref<?x36xbf16>, memref<?x36xbf16>
  return
}
func.func @wide(%x: memref<?x960xbf16>, %n: index, %out: memref<?x320xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %n outs(%out : memref<?x320xbf16>)
    heads 1 kv_heads 1 head_dim 320 value_dim 320 offsets [0, 320, 640] scale 0.125 causal false
    : memref<?x960xbf16>, memref<?x960xbf16>, memref<?x960xbf16>
  return
}
func.func @between(%x: memref<?x200xbf16>, %n: index, %out: memref<?x64xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [8, 72, 136] scale 0.125 causal false
    : memref<?x200xbf16>, memref<?x200xbf16>, memref<?x200xbf16>
  return
}
func.func @apart(%x: memref<?x192xbf16, strided<[196, 1]>>, %n: index, %out: memref<?x64xbf16>) {
  kernel.attention %x, %x, %x queries %n keys %n first %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125 causal false
    : memref<?x192xbf16, strided<[196, 1]>>, memref<?x192xbf16, strided<[196, 1]>>, memref<?x192xbf16, strided<[196, 1]>>
  return
}
func.func @pairs(%x: memref<?x192xbf16>, %r: memref<?x12xf32>, %n: index, %out: memref<?x64xbf16>) {
  kernel.attention %x, %x, %x rotation %r : memref<?x12xf32> queries %n keys %n first %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125 causal false
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @content(%x: memref<?x192xbf16>, %c: memref<?x9xf32>, %n: index, %out: memref<?x64xbf16>) {
  kernel.attention %x, %x, %x content_query %c : memref<?x9xf32> queries %n keys %n first %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125 causal false
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @linear(%x: memref<?x192xbf16>, %d: memref<1xf32>, %n: index, %out: memref<?x64xbf16>) {
  kernel.linear_attention %x, %x, %x decay %d : memref<1xf32> tokens %n outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 64, 128] scale 0.125
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @wide_state(%q: memref<?x192xbf16>, %k: memref<?x192xbf16>, %v: memref<?x192xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x192xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x192xbf16>)
    heads 1 kv_heads 1 head_dim 192 value_dim 192 offsets [0, 0, 0]
    scale 0.07216878364870322 causal true panels
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @distant_state(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
    %mask: memref<?xi32>, %b: memref<1x9xf32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x64xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> bias %b : memref<1x9xf32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x64xbf16>)
    heads 1 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true bias_by distance panels
    : memref<?x64xbf16>, memref<?x64xbf16>, memref<?x64xbf16>
  return
}
func.func @pool(%x: memref<?x64xf32>, %at: memref<?xi32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x : memref<?x64xf32>) indices(%at : memref<?xi32>) outs(%out : memref<?x64xf32>) gather [0] {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}
func.func @wide_norm(%x: memref<?x40000xf32>, %out: memref<?x40000xf32>) {
  kernel.rows ins(%x : memref<?x40000xf32>) outs(%out : memref<?x40000xf32>) gather [-1] norm <rms, 1.0e-06> {
  ^bb0(%a: f32):
    kernel.yield %a : f32
  }
  return
}
func.func @sine(%x: memref<?x64xf32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x : memref<?x64xf32>) outs(%out : memref<?x64xf32>) gather [-1] {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32
    kernel.yield %0 : f32
  }
  return
}
func.func @turn_pairs(%x: memref<?x64xbf16>, %r: memref<?x12xf32>, %out: memref<?x64xbf16>) {
  kernel.rotate %x by %r outs(%out : memref<?x64xbf16>) heads 1 head_dim 64 pairing half start 0
    : memref<?x64xbf16>, memref<?x12xf32>
  return
}
func.func @value_f32(%q: memref<?x64xf32>, %v: memref<?x200xf32>, %n: index, %out: memref<?x200xf32>) {
  kernel.attention %q, %q, %v queries %n keys %n first %n outs(%out : memref<?x200xf32>)
    heads 1 kv_heads 1 head_dim 64 value_dim 200 offsets [0, 0, 0] scale 0.125 causal false
    : memref<?x64xf32>, memref<?x64xf32>, memref<?x200xf32>
  return
}

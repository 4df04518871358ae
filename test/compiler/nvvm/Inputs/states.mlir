// Attention to the keys of a state, of models that generate: few heads, for the
// emulator.
func.func @llama_64(%q: memref<?x512xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x512xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x512xbf16>)
    heads 8 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true panels
    : memref<?x512xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}
func.func @llama_128(%q: memref<?x512xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x512xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x512xbf16>)
    heads 4 kv_heads 1 head_dim 128 value_dim 128 offsets [0, 0, 0]
    scale 0.08838834764831845 causal true panels
    : memref<?x512xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}
func.func @plain_64(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true panels
    : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}
func.func @three_80(%q: memref<?x480xbf16>, %k: memref<?x160xbf16>, %v: memref<?x160xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x480xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x480xbf16>)
    heads 6 kv_heads 2 head_dim 80 value_dim 80 offsets [0, 0, 0]
    scale 0.11180339887498948 causal true panels
    : memref<?x480xbf16>, memref<?x160xbf16>, memref<?x160xbf16>
  return
}
func.func @many_heads_8(%q: memref<?x568xbf16>, %k: memref<?x8xbf16>, %v: memref<?x8xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x568xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x568xbf16>)
    heads 71 kv_heads 1 head_dim 8 value_dim 8 offsets [0, 0, 0]
    scale 0.3535533905932738 causal true panels
    : memref<?x568xbf16>, memref<?x8xbf16>, memref<?x8xbf16>
  return
}
func.func @gemma2_96(%q: memref<?x384xbf16>, %k: memref<?x192xbf16>, %v: memref<?x192xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x384xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x384xbf16>)
    heads 4 kv_heads 2 head_dim 96 value_dim 96 offsets [0, 0, 0]
    scale 0.10206207261596575 causal true softcap 5.0e+00 window [100, 0] panels
    : memref<?x384xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @mpt_64(%q: memref<?x192xbf16>, %k: memref<?x192xbf16>, %v: memref<?x192xbf16>,
    %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x192xbf16>) {
  kernel.attention %q, %k, %v past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x192xbf16>)
    heads 3 kv_heads 3 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true slopes [0.25, 0.0625, 0.015625] panels
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @sinks_64(%q: memref<?x256xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %mask: memref<?xi32>, %sink: memref<4xf32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x256xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> sink %sink : memref<4xf32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x256xbf16>)
    heads 4 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true window [128, 0] panels
    : memref<?x256xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}
func.func @scales_64(%q: memref<?x128xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
    %mask: memref<?xi32>, %qs: memref<?x1xf32>, %hs: memref<2xf32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> query_scale %qs : memref<?x1xf32> head_scale %hs : memref<2xf32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x128xbf16>)
    heads 2 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true panels
    : memref<?x128xbf16>, memref<?x64xbf16>, memref<?x64xbf16>
  return
}
func.func @chunk_64(%q: memref<?x128xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x128xbf16>)
    heads 2 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal true chunk 96 panels
    : memref<?x128xbf16>, memref<?x64xbf16>, memref<?x64xbf16>
  return
}
func.func @cross_64(%q: memref<?x128xbf16>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>,
    %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0]
    scale 0.125 causal false panels
    : memref<?x128xbf16>, memref<?x128xbf16>, memref<?x128xbf16>
  return
}
func.func @latent_96_64(%q: memref<?x192xbf16>, %k: memref<?x192xbf16>, %v: memref<?x128xbf16>,
    %mask: memref<?xi32>, %past: memref<?xi32>, %queries: index, %keys: index,
    %first: index, %out: memref<?x128xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> past %past : memref<?xi32>
    queries %queries keys %keys first %first outs(%out : memref<?x128xbf16>)
    heads 2 kv_heads 2 head_dim 96 value_dim 64 offsets [0, 0, 0]
    scale 0.10206207261596575 causal true panels
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x128xbf16>
  return
}

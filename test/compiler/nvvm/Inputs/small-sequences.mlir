// Attention as in sequences.mlir, with few heads, for the emulator.
func.func @full_64(%qkv: memref<?x384xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal false 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @full_80(%qkv: memref<?x480xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x160xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x160xbf16>) heads 2 kv_heads 2 head_dim 80
    value_dim 80 offsets [0, 160, 320] scale 0.11180339887498948 causal false 
    : memref<?x480xbf16>, memref<?x480xbf16>, memref<?x480xbf16>
  return
}
func.func @full_128(%qkv: memref<?x768xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 2 kv_heads 2 head_dim 128
    value_dim 128 offsets [0, 256, 512] scale 0.088388347648318447 causal false 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @full_256(%qkv: memref<?x1536xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 2 kv_heads 2 head_dim 256
    value_dim 256 offsets [0, 512, 1024] scale 0.0625 causal false 
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @causal_64(%qkv: memref<?x384xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal true 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @causal_192(%qkv: memref<?x576xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x192xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x192xbf16>) heads 1 kv_heads 1 head_dim 192
    value_dim 192 offsets [0, 192, 384] scale 0.072168783648703216 causal true 
    : memref<?x576xbf16>, memref<?x576xbf16>, memref<?x576xbf16>
  return
}
func.func @bert(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal false 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @llama_64(%qkv: memref<?x512xbf16>, %mask: memref<?xi32>, %turn: memref<?x64xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x64xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 256, 384] scale 0.125 causal true 
    : memref<?x512xbf16>, memref<?x512xbf16>, memref<?x512xbf16>
  return
}
func.func @llama_128(%qkv: memref<?x512xbf16>, %mask: memref<?xi32>, %turn: memref<?x128xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x128xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 2 kv_heads 1 head_dim 128
    value_dim 128 offsets [0, 256, 384] scale 0.088388347648318447 causal true 
    : memref<?x512xbf16>, memref<?x512xbf16>, memref<?x512xbf16>
  return
}
func.func @gemma2_256(%qkv: memref<?x1024xbf16>, %mask: memref<?xi32>, %turn: memref<?x256xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x256xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 2 kv_heads 1 head_dim 256
    value_dim 256 offsets [0, 512, 768] scale 0.0625 causal true softcap 5.0e+00 window [100, 0]
    : memref<?x1024xbf16>, memref<?x1024xbf16>, memref<?x1024xbf16>
  return
}
func.func @gptj_256(%qkv: memref<?x768xbf16>, %turn: memref<?x64xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv rotation %turn : memref<?x64xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 1 kv_heads 1 head_dim 256
    value_dim 256 offsets [0, 256, 512] scale 0.0625 causal true pairing interleaved
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @part_64(%qkv: memref<?x192xbf16>, %turn: memref<?x16xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x64xbf16>) {
  kernel.attention %qkv, %qkv, %qkv rotation %turn : memref<?x16xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x64xbf16>) heads 1 kv_heads 1 head_dim 64
    value_dim 64 offsets [0, 64, 128] scale 0.125 causal true start 8
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @t5_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %bias: memref<2x255xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> bias %bias : memref<2x255xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal false bias_by distance
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @t5_causal_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %bias: memref<2x255xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> bias %bias : memref<2x255xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal true bias_by distance
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @pairs_64(%qkv: memref<?x384xbf16>, %bias: memref<2x4225xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv bias %bias : memref<2x4225xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal false bias_by pair
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @bloom_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %kb: memref<?x2xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> key_head_bias %kb : memref<?x2xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal true 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @mpt_128(%qkv: memref<?x768xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 2 kv_heads 2 head_dim 128
    value_dim 128 offsets [0, 256, 512] scale 0.088388347648318447 causal true slopes [0.25, 0.0625]
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @sinks_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %turn: memref<?x64xf32>, %sink: memref<4xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x64xf32> sink %sink : memref<4xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 1 head_dim 64
    value_dim 64 offsets [0, 256, 320] scale 0.125 causal true window [128, 0]
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @scales_128(%qkv: memref<?x768xbf16>, %mask: memref<?xi32>, %qs: memref<?x1xf32>, %hs: memref<2xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> query_scale %qs : memref<?x1xf32> head_scale %hs : memref<2xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 2 kv_heads 2 head_dim 128
    value_dim 128 offsets [0, 256, 512] scale 0.088388347648318447 causal true chunk 100
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @segments_80(%qkv: memref<?x480xbf16>, %seg: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x160xbf16>) {
  kernel.attention %qkv, %qkv, %qkv segments %seg : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x160xbf16>) heads 2 kv_heads 2 head_dim 80
    value_dim 80 offsets [0, 160, 320] scale 0.11180339887498948 causal false 
    : memref<?x480xbf16>, memref<?x480xbf16>, memref<?x480xbf16>
  return
}
func.func @prefix_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %p: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> prefix %p : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal true 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @latent_192_128(%q: memref<?x384xbf16>, %k: memref<?x384xbf16>, %v: memref<?x256xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 2 kv_heads 2 head_dim 192
    value_dim 128 offsets [0, 0, 0] scale 0.072168783648703216 causal true 
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x256xbf16>
  return
}
func.func @window_both_64(%qkv: memref<?x384xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x128xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x128xbf16>) heads 2 kv_heads 2 head_dim 64
    value_dim 64 offsets [0, 128, 256] scale 0.125 causal false window [64, 64]
    : memref<?x384xbf16>, memref<?x384xbf16>, memref<?x384xbf16>
  return
}
func.func @tiny_8(%qkv: memref<?x64xbf16>, %mask: memref<?xi32>, %turn: memref<?x8xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x32xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x8xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x32xbf16>) heads 4 kv_heads 2 head_dim 8
    value_dim 8 offsets [0, 32, 48] scale 0.35355339059327379 causal true 
    : memref<?x64xbf16>, memref<?x64xbf16>, memref<?x64xbf16>
  return
}
func.func @tiny_24(%qkv: memref<?x192xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x96xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x96xbf16>) heads 4 kv_heads 2 head_dim 24
    value_dim 24 offsets [0, 96, 144] scale 0.20412414523193151 causal false 
    : memref<?x192xbf16>, memref<?x192xbf16>, memref<?x192xbf16>
  return
}
func.func @causal_96(%qkv: memref<?x576xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x192xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x192xbf16>) heads 2 kv_heads 2 head_dim 96
    value_dim 96 offsets [0, 192, 384] scale 0.10206207261596575 causal true 
    : memref<?x576xbf16>, memref<?x576xbf16>, memref<?x576xbf16>
  return
}

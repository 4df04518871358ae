// Attention and rows of the models that the generator is for, at their sizes.
func.func @full_64(%qkv: memref<?x768xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 4 head_dim 64
    value_dim 64 offsets [0, 256, 512] scale 0.125 causal false 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @causal_64(%qkv: memref<?x768xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 4 head_dim 64
    value_dim 64 offsets [0, 256, 512] scale 0.125 causal true 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @full_80(%qkv: memref<?x960xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x320xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x320xbf16>) heads 4 kv_heads 4 head_dim 80
    value_dim 80 offsets [0, 320, 640] scale 0.11180339887498948 causal false 
    : memref<?x960xbf16>, memref<?x960xbf16>, memref<?x960xbf16>
  return
}
func.func @causal_80(%qkv: memref<?x960xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x320xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x320xbf16>) heads 4 kv_heads 4 head_dim 80
    value_dim 80 offsets [0, 320, 640] scale 0.11180339887498948 causal true 
    : memref<?x960xbf16>, memref<?x960xbf16>, memref<?x960xbf16>
  return
}
func.func @full_96(%qkv: memref<?x1152xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x384xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x384xbf16>) heads 4 kv_heads 4 head_dim 96
    value_dim 96 offsets [0, 384, 768] scale 0.10206207261596575 causal false 
    : memref<?x1152xbf16>, memref<?x1152xbf16>, memref<?x1152xbf16>
  return
}
func.func @causal_96(%qkv: memref<?x1152xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x384xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x384xbf16>) heads 4 kv_heads 4 head_dim 96
    value_dim 96 offsets [0, 384, 768] scale 0.10206207261596575 causal true 
    : memref<?x1152xbf16>, memref<?x1152xbf16>, memref<?x1152xbf16>
  return
}
func.func @full_128(%qkv: memref<?x1536xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 4 kv_heads 4 head_dim 128
    value_dim 128 offsets [0, 512, 1024] scale 0.088388347648318447 causal false 
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @causal_128(%qkv: memref<?x1536xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 4 kv_heads 4 head_dim 128
    value_dim 128 offsets [0, 512, 1024] scale 0.088388347648318447 causal true 
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @full_192(%qkv: memref<?x2304xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x768xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x768xbf16>) heads 4 kv_heads 4 head_dim 192
    value_dim 192 offsets [0, 768, 1536] scale 0.072168783648703216 causal false 
    : memref<?x2304xbf16>, memref<?x2304xbf16>, memref<?x2304xbf16>
  return
}
func.func @causal_192(%qkv: memref<?x2304xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x768xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x768xbf16>) heads 4 kv_heads 4 head_dim 192
    value_dim 192 offsets [0, 768, 1536] scale 0.072168783648703216 causal true 
    : memref<?x2304xbf16>, memref<?x2304xbf16>, memref<?x2304xbf16>
  return
}
func.func @full_256(%qkv: memref<?x3072xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x1024xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x1024xbf16>) heads 4 kv_heads 4 head_dim 256
    value_dim 256 offsets [0, 1024, 2048] scale 0.0625 causal false 
    : memref<?x3072xbf16>, memref<?x3072xbf16>, memref<?x3072xbf16>
  return
}
func.func @causal_256(%qkv: memref<?x3072xbf16>, %queries: index, %keys: index, %first: index,
    %out: memref<?x1024xbf16>) {
  kernel.attention %qkv, %qkv, %qkv queries %queries keys %keys first %first
    outs(%out : memref<?x1024xbf16>) heads 4 kv_heads 4 head_dim 256
    value_dim 256 offsets [0, 1024, 2048] scale 0.0625 causal true 
    : memref<?x3072xbf16>, memref<?x3072xbf16>, memref<?x3072xbf16>
  return
}
func.func @bert(%qkv: memref<?x2304xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x768xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x768xbf16>) heads 12 kv_heads 12 head_dim 64
    value_dim 64 offsets [0, 768, 1536] scale 0.125 causal false 
    : memref<?x2304xbf16>, memref<?x2304xbf16>, memref<?x2304xbf16>
  return
}
func.func @llama_64(%qkv: memref<?x3072xbf16>, %mask: memref<?xi32>, %turn: memref<?x64xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x2048xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x64xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x2048xbf16>) heads 32 kv_heads 8 head_dim 64
    value_dim 64 offsets [0, 2048, 2560] scale 0.125 causal true 
    : memref<?x3072xbf16>, memref<?x3072xbf16>, memref<?x3072xbf16>
  return
}
func.func @llama_128(%qkv: memref<?x6144xbf16>, %mask: memref<?xi32>, %turn: memref<?x128xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x4096xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x128xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x4096xbf16>) heads 32 kv_heads 8 head_dim 128
    value_dim 128 offsets [0, 4096, 5120] scale 0.088388347648318447 causal true 
    : memref<?x6144xbf16>, memref<?x6144xbf16>, memref<?x6144xbf16>
  return
}
func.func @gemma2_256(%qkv: memref<?x4096xbf16>, %mask: memref<?xi32>, %turn: memref<?x256xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x2048xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x256xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x2048xbf16>) heads 8 kv_heads 4 head_dim 256
    value_dim 256 offsets [0, 2048, 3072] scale 0.0625 causal true softcap 5.0e+01 window [4096, 0]
    : memref<?x4096xbf16>, memref<?x4096xbf16>, memref<?x4096xbf16>
  return
}
func.func @gemma2_128(%qkv: memref<?x2048xbf16>, %mask: memref<?xi32>, %turn: memref<?x128xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x1024xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x128xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x1024xbf16>) heads 8 kv_heads 4 head_dim 128
    value_dim 128 offsets [0, 1024, 1536] scale 0.088388347648318447 causal true softcap 5.0e+01 
    : memref<?x2048xbf16>, memref<?x2048xbf16>, memref<?x2048xbf16>
  return
}
func.func @gptj_256(%qkv: memref<?x3072xbf16>, %mask: memref<?xi32>, %turn: memref<?x64xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x1024xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x64xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x1024xbf16>) heads 4 kv_heads 4 head_dim 256
    value_dim 256 offsets [0, 1024, 2048] scale 0.0625 causal true pairing interleaved
    : memref<?x3072xbf16>, memref<?x3072xbf16>, memref<?x3072xbf16>
  return
}
func.func @t5_64(%qkv: memref<?x1536xbf16>, %mask: memref<?xi32>, %bias: memref<8x255xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> bias %bias : memref<8x255xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 8 kv_heads 8 head_dim 64
    value_dim 64 offsets [0, 512, 1024] scale 0.125 causal false bias_by distance
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @t5_causal_64(%qkv: memref<?x1536xbf16>, %mask: memref<?xi32>, %bias: memref<8x255xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> bias %bias : memref<8x255xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 8 kv_heads 8 head_dim 64
    value_dim 64 offsets [0, 512, 1024] scale 0.125 causal true bias_by distance
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @pairs_64(%qkv: memref<?x1536xbf16>, %bias: memref<8x961xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv bias %bias : memref<8x961xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 8 kv_heads 8 head_dim 64
    value_dim 64 offsets [0, 512, 1024] scale 0.125 causal false bias_by pair
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @bloom_64(%qkv: memref<?x768xbf16>, %mask: memref<?xi32>, %kb: memref<?x4xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> key_head_bias %kb : memref<?x4xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 4 head_dim 64
    value_dim 64 offsets [0, 256, 512] scale 0.125 causal true 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @mpt_128(%qkv: memref<?x1536xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 4 kv_heads 4 head_dim 128
    value_dim 128 offsets [0, 512, 1024] scale 0.088388347648318447 causal true slopes [0.25, 0.0625, 0.015625, 0.00390625]
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @sinks_64(%qkv: memref<?x640xbf16>, %mask: memref<?xi32>, %turn: memref<?x64xf32>, %sink: memref<8xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> rotation %turn : memref<?x64xf32> sink %sink : memref<8xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 8 kv_heads 1 head_dim 64
    value_dim 64 offsets [0, 512, 576] scale 0.125 causal true window [128, 0]
    : memref<?x640xbf16>, memref<?x640xbf16>, memref<?x640xbf16>
  return
}
func.func @scales_128(%qkv: memref<?x1536xbf16>, %mask: memref<?xi32>, %qs: memref<?x1xf32>, %hs: memref<4xf32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> query_scale %qs : memref<?x1xf32> head_scale %hs : memref<4xf32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 4 kv_heads 4 head_dim 128
    value_dim 128 offsets [0, 512, 1024] scale 0.088388347648318447 causal true chunk 8192
    : memref<?x1536xbf16>, memref<?x1536xbf16>, memref<?x1536xbf16>
  return
}
func.func @segments_80(%qkv: memref<?x3840xbf16>, %seg: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x1280xbf16>) {
  kernel.attention %qkv, %qkv, %qkv segments %seg : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x1280xbf16>) heads 16 kv_heads 16 head_dim 80
    value_dim 80 offsets [0, 1280, 2560] scale 0.11180339887498948 causal false 
    : memref<?x3840xbf16>, memref<?x3840xbf16>, memref<?x3840xbf16>
  return
}
func.func @prefix_64(%qkv: memref<?x768xbf16>, %mask: memref<?xi32>, %p: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> prefix %p : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 4 head_dim 64
    value_dim 64 offsets [0, 256, 512] scale 0.125 causal true 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
  return
}
func.func @latent_192_128(%q: memref<?x768xbf16>, %k: memref<?x768xbf16>, %v: memref<?x512xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x512xbf16>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x512xbf16>) heads 4 kv_heads 4 head_dim 192
    value_dim 128 offsets [0, 0, 0] scale 0.072168783648703216 causal true 
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x512xbf16>
  return
}
func.func @window_both_64(%qkv: memref<?x768xbf16>, %mask: memref<?xi32>, %queries: index, %keys: index, %first: index,
    %out: memref<?x256xbf16>) {
  kernel.attention %qkv, %qkv, %qkv key_mask %mask : memref<?xi32> queries %queries keys %keys first %first
    outs(%out : memref<?x256xbf16>) heads 4 kv_heads 4 head_dim 64
    value_dim 64 offsets [0, 256, 512] scale 0.125 causal false window [64, 64]
    : memref<?x768xbf16>, memref<?x768xbf16>, memref<?x768xbf16>
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
func.func @layer(%x: memref<?x768xf32>, %w: memref<768xf32>, %b: memref<768xf32>, %out: memref<?x768xbf16>) {
  kernel.rows ins(%x, %w, %b : memref<?x768xf32>, memref<768xf32>, memref<768xf32>) outs(%out : memref<?x768xbf16>) gather [-1, -1, -1] norm <layer, 1.0e-05> {
  ^bb0(%n: f32, %g: f32, %h: f32):
    %0 = arith.mulf %n, %g : f32
    %1 = arith.addf %0, %h : f32
    kernel.yield %1 : f32
  }
  return
}
func.func @rms(%x: memref<?x4096xf32>, %w: memref<4096xf32>, %out: memref<?x4096xbf16>) {
  kernel.rows ins(%x, %w : memref<?x4096xf32>, memref<4096xf32>) outs(%out : memref<?x4096xbf16>) gather [-1, -1] norm <rms, 1.0e-05> {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.mulf %n, %g : f32
    kernel.yield %0 : f32
  }
  return
}
func.func @wide(%x: memref<?x16384xbf16>, %w: memref<16384xf32>, %out: memref<?x16384xbf16>) {
  kernel.rows ins(%x, %w : memref<?x16384xbf16>, memref<16384xf32>) outs(%out : memref<?x16384xbf16>) gather [-1, -1] norm <rms, 1.0e-05> {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.mulf %n, %g : f32
    kernel.yield %0 : f32
  }
  return
}
func.func @of_heads(%x: memref<?x1024xbf16>, %w: memref<1024xf32>, %out: memref<?x1024xbf16>) {
  kernel.rows ins(%x, %w : memref<?x1024xbf16>, memref<1024xf32>) outs(%out : memref<?x1024xbf16>) gather [-1, -1] norm <rms, 1.0e-06, group = 128> {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.mulf %n, %g : f32
    kernel.yield %0 : f32
  }
  return
}
func.func @small_heads(%x: memref<?x64xf32>, %out: memref<?x64xf32>) {
  kernel.rows ins(%x : memref<?x64xf32>) outs(%out : memref<?x64xf32>) gather [-1] norm <l2, 1.0e-06, group = 16> {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}
func.func @odd(%x: memref<?x515xf32>, %w: memref<515xf32>, %out: memref<?x515xf32>) {
  kernel.rows ins(%x, %w : memref<?x515xf32>, memref<515xf32>) outs(%out : memref<?x515xf32>) gather [-1, -1] norm <layer, 1.0e-05> {
  ^bb0(%n: f32, %g: f32):
    %0 = arith.mulf %n, %g : f32
    kernel.yield %0 : f32
  }
  return
}
func.func @embed(%words: memref<30522x768xf32>, %places: memref<512x768xf32>, %types: memref<2x768xf32>, %w: memref<768xf32>, %b: memref<768xf32>, %ids: memref<?xi32>, %at: memref<?xi32>, %type: memref<?xi32>, %out: memref<?x768xf32>) {
  kernel.rows ins(%words, %places, %types : memref<30522x768xf32>, memref<512x768xf32>, memref<2x768xf32>) indices(%ids, %at, %type : memref<?xi32>, memref<?xi32>, memref<?xi32>) outs(%out : memref<?x768xf32>) gather [0, 1, 2] {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %x, %y : f32
    %1 = arith.addf %0, %z : f32
    kernel.yield %1 : f32
  }
  return
}
func.func @gate(%x: memref<?x11008xbf16>, %y: memref<?x11008xbf16>, %r: memref<?x1xf32>, %s: memref<1xf32>, %out: memref<?x11008xbf16>) {
  kernel.rows ins(%x, %y, %r, %s : memref<?x11008xbf16>, memref<?x11008xbf16>, memref<?x1xf32>, memref<1xf32>) outs(%out : memref<?x11008xbf16>) gather [-1, -1, -1, -1] {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = math.tanh %a : f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.mulf %1, %c : f32
    %3 = arith.mulf %2, %d : f32
    kernel.yield %3 : f32
  }
  return
}
func.func @turn_llama(%x: memref<?x3072xbf16>, %r: memref<?x64xf32>, %out: memref<?x2560xbf16>) {
  kernel.rotate %x by %r outs(%out : memref<?x2560xbf16>) heads 40 head_dim 64 pairing half start 0
    : memref<?x3072xbf16>, memref<?x64xf32>
  return
}
func.func @turn_part(%x: memref<?x96xf32>, %r: memref<?x16xf32>, %out: memref<?x96xbf16>) {
  kernel.rotate %x by %r outs(%out : memref<?x96xbf16>) heads 3 head_dim 32 pairing interleaved start 8
    : memref<?x96xf32>, memref<?x16xf32>
  return
}

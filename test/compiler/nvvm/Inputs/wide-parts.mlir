// Attention of f32 with heads of more than 64 columns: two, three and four
// panels, also of other sizes than the values'.
func.func @of_80(%q: memref<?x160xf32>, %k: memref<?x80xf32>,
    %v: memref<?x80xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x160xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x160xf32>)
    heads 2 kv_heads 1 head_dim 80 value_dim 80 offsets [0, 0, 0] scale 0.1
    causal false : memref<?x160xf32>, memref<?x80xf32>, memref<?x80xf32>
  return
}
func.func @of_96(%q: memref<?x96xf32>, %k: memref<?x96xf32>,
    %v: memref<?x96xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x96xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x96xf32>)
    heads 1 kv_heads 1 head_dim 96 value_dim 96 offsets [0, 0, 0] scale 0.1
    causal true : memref<?x96xf32>, memref<?x96xf32>, memref<?x96xf32>
  return
}
func.func @of_128(%q: memref<?x128xf32>, %k: memref<?x128xf32>,
    %v: memref<?x128xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x128xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x128xf32>)
    heads 1 kv_heads 1 head_dim 128 value_dim 128 offsets [0, 0, 0] scale 0.1
    causal true : memref<?x128xf32>, memref<?x128xf32>, memref<?x128xf32>
  return
}
func.func @latent_192_128(%q: memref<?x192xf32>, %k: memref<?x192xf32>,
    %v: memref<?x128xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x128xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x128xf32>)
    heads 1 kv_heads 1 head_dim 192 value_dim 128 offsets [0, 0, 0] scale 0.1
    causal true : memref<?x192xf32>, memref<?x192xf32>, memref<?x128xf32>
  return
}
func.func @of_256(%q: memref<?x256xf32>, %k: memref<?x256xf32>,
    %v: memref<?x256xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x256xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x256xf32>)
    heads 1 kv_heads 1 head_dim 256 value_dim 256 offsets [0, 0, 0] scale 0.1
    causal false : memref<?x256xf32>, memref<?x256xf32>, memref<?x256xf32>
  return
}
func.func @of_200_72(%q: memref<?x200xf32>, %k: memref<?x200xf32>,
    %v: memref<?x72xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x72xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x72xf32>)
    heads 1 kv_heads 1 head_dim 200 value_dim 72 offsets [0, 0, 0] scale 0.1
    causal false : memref<?x200xf32>, memref<?x200xf32>, memref<?x72xf32>
  return
}
func.func @gemma_256(%x: memref<?x1024xf32>, %n: index, %p: index,
    %o: memref<?x512xf32>) {
  kernel.attention %x, %x, %x queries %n keys %n first %p
    outs(%o : memref<?x512xf32>)
    heads 2 kv_heads 1 head_dim 256 value_dim 256 offsets [0, 512, 768]
    scale 0.0625 causal true softcap 20.0 window [50, 0]
    : memref<?x1024xf32>, memref<?x1024xf32>, memref<?x1024xf32>
  return
}
func.func @causal_192(%x: memref<?x576xf32>, %n: index, %p: index,
    %o: memref<?x192xf32>) {
  kernel.attention %x, %x, %x queries %n keys %n first %p
    outs(%o : memref<?x192xf32>)
    heads 1 kv_heads 1 head_dim 192 value_dim 192 offsets [0, 192, 384]
    scale 0.07 causal true
    : memref<?x576xf32>, memref<?x576xf32>, memref<?x576xf32>
  return
}

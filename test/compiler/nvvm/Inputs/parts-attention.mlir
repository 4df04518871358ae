// Attention of f32: heads side by side, a mask, a causal window with grouped
// heads in one buffer, biases by distance and a cap, heads of 24 columns.
func.func @masked(%q: memref<?x128xf32>, %k: memref<?x128xf32>,
    %v: memref<?x128xf32>, %mask: memref<?xi32>, %n: index, %m: index,
    %p: index, %o: memref<?x128xf32>) {
  kernel.attention %q, %k, %v key_mask %mask : memref<?xi32>
    queries %n keys %m first %p outs(%o : memref<?x128xf32>)
    heads 2 kv_heads 2 head_dim 64 value_dim 64 offsets [0, 0, 0] scale 0.125
    causal false : memref<?x128xf32>, memref<?x128xf32>, memref<?x128xf32>
  return
}
func.func @causal(%x: memref<?x256xf32>, %n: index, %p: index,
    %o: memref<?x128xf32>) {
  kernel.attention %x, %x, %x queries %n keys %n first %p
    outs(%o : memref<?x128xf32>)
    heads 2 kv_heads 1 head_dim 64 value_dim 64 offsets [0, 128, 192]
    scale 0.125 causal true softcap 20.0 window [100, 0]
    : memref<?x256xf32>, memref<?x256xf32>, memref<?x256xf32>
  return
}
func.func @narrow(%q: memref<?x24xf32>, %k: memref<?x24xf32>,
    %v: memref<?x40xf32>, %n: index, %m: index, %p: index,
    %o: memref<?x40xf32>) {
  kernel.attention %q, %k, %v queries %n keys %m first %p
    outs(%o : memref<?x40xf32>)
    heads 1 kv_heads 1 head_dim 24 value_dim 40 offsets [0, 0, 0] scale 0.2
    causal false : memref<?x24xf32>, memref<?x24xf32>, memref<?x40xf32>
  return
}

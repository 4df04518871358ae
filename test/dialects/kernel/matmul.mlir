// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK: kernel.matmul %{{.*}}, %{{.*}} extras(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<?x16xf32>) accumulators 1 {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK: arith.addf %[[ACC]], %[[BIAS]]
// CHECK: } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
func.func @matmul(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %o: tensor<?x16xf32>) {
  %y = kernel.matmul %x, %w extras(%b : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  return
}

// Packed, two accumulators: 20 columns are in one panel of 2 * 32.
// CHECK-LABEL: @packed
// CHECK: accumulators 2 {
// CHECK: } : memref<?x8xf32>, memref<1x8x64xf32>{{$}}
func.func @packed(%x: memref<?x8xf32>, %w: memref<1x8x64xf32>, %r: memref<?x20xf32>, %s: memref<1xf32>, %m: memref<?x1xf32>, %o: memref<?x20xf32>) {
  kernel.matmul %x, %w extras(%r, %s, %m : memref<?x20xf32>, memref<1xf32>, memref<?x1xf32>) outs(%o : memref<?x20xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32, %rest: f32, %scale: f32, %row: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : memref<?x8xf32>, memref<1x8x64xf32>
  return
}

// A stack of weights, one per expert, unpacked and packed.
// CHECK-LABEL: @experts
// CHECK: kernel.matmul %{{.*}}, %{{.*}} starts %{{.*}} : tensor<5xi32> extras(%{{.*}} : tensor<4x16xf32>) outs(%{{.*}} : tensor<?x16xf32>) accumulators 1 {
// CHECK: } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
// CHECK: kernel.matmul %{{.*}}, %{{.*}} starts %{{.*}} : memref<5xi32> outs(%{{.*}} : memref<?x20xf32>) accumulators 2 {
// CHECK: } : memref<?x8xf32>, memref<4x1x8x64xf32>{{$}}
func.func @experts(%x: tensor<?x8xf32>, %w: tensor<4x16x8xf32>, %s: tensor<5xi32>, %e: tensor<4x16xf32>, %o: tensor<?x16xf32>,
    %b: memref<?x8xf32>, %v: memref<4x1x8x64xf32>, %t: memref<5xi32>, %p: memref<?x20xf32>) {
  %y = kernel.matmul %x, %w starts %s : tensor<5xi32> extras(%e : tensor<4x16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<4x16x8xf32> -> tensor<?x16xf32>
  kernel.matmul %b, %v starts %t : memref<5xi32> outs(%p : memref<?x20xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : memref<?x8xf32>, memref<4x1x8x64xf32>
  return
}

// Narrow elements, unpacked and in panels of groups of two and of four.
// CHECK-LABEL: @narrow
// CHECK: } : tensor<?x8xbf16>, tensor<16x8xbf16> -> tensor<?x16xbf16>
// CHECK: } : memref<?x7xbf16>, memref<1x4x128xbf16>{{$}}
// CHECK: kernel.matmul %{{.*}}, %{{.*}} parameters %{{.*}} : memref<?x4xf32> sums %{{.*}} : memref<1x1x64xi32> extras(%{{.*}} : memref<?x20xbf16>) outs
// CHECK: } : memref<?x7xui8>, memref<1x2x256xi8>{{$}}
func.func @narrow(%x: tensor<?x8xbf16>, %w: tensor<16x8xbf16>, %o: tensor<?x16xbf16>,
    %a: memref<?x7xbf16>, %v: memref<1x4x128xbf16>, %p: memref<?x20xbf16>,
    %c: memref<?x7xui8>, %z: memref<?x4xf32>, %i: memref<1x1x64xi32>, %u: memref<1x2x256xi8>) {
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xbf16>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xbf16>, tensor<16x8xbf16> -> tensor<?x16xbf16>
  kernel.matmul %a, %v outs(%p : memref<?x20xbf16>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : memref<?x7xbf16>, memref<1x4x128xbf16>
  kernel.matmul %c, %u parameters %z : memref<?x4xf32> sums %i : memref<1x1x64xi32> extras(%p : memref<?x20xbf16>) outs(%p : memref<?x20xbf16>) accumulators 1 {
  ^bb0(%acc: f32, %r: f32):
    kernel.yield %acc : f32
  } : memref<?x7xui8>, memref<1x2x256xi8>
  return
}

// CHECK-LABEL: @quantize
// CHECK: %{{.*}}:2 = kernel.quantize %{{.*}} values(%{{.*}} : tensor<?x8xui8>) parameters(%{{.*}} : tensor<?x4xf32>) : tensor<?x8xbf16> -> tensor<?x8xui8>, tensor<?x4xf32>
func.func @quantize(%x: tensor<?x8xbf16>, %v: tensor<?x8xui8>, %p: tensor<?x4xf32>) {
  %a, %b = kernel.quantize %x values(%v : tensor<?x8xui8>) parameters(%p : tensor<?x4xf32>)
    : tensor<?x8xbf16> -> tensor<?x8xui8>, tensor<?x4xf32>
  return
}

// CHECK-LABEL: @blocks
// CHECK: %{{.*}}:2 = kernel.quantize %{{.*}} values(%{{.*}} : tensor<?x64xi8>) parameters(%{{.*}} : tensor<?x6xf32>) : tensor<?x64xf32> -> tensor<?x64xi8>, tensor<?x6xf32>
// CHECK: kernel.weight #transformer.in_blocks<@w, q8_0> -> tensor<20x64xf32>
// CHECK: kernel.matmul %{{.*}}, %{{.*}} parameters %{{.*}} : tensor<?x6xf32> outs(%{{.*}}) accumulators 1 blocks q8_0 {
func.func @blocks(%x: tensor<?x64xf32>, %v: tensor<?x64xi8>, %p: tensor<?x6xf32>, %o: tensor<?x20xf32>) {
  %a, %b = kernel.quantize %x values(%v : tensor<?x64xi8>) parameters(%p : tensor<?x6xf32>)
    : tensor<?x64xf32> -> tensor<?x64xi8>, tensor<?x6xf32>
  %w = kernel.weight #transformer.in_blocks<@w, q8_0> -> tensor<20x64xf32>
  %y = kernel.matmul %a, %w parameters %b : tensor<?x6xf32> outs(%o : tensor<?x20xf32>) accumulators 1 blocks q8_0 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x64xi8>, tensor<20x64xf32> -> tensor<?x20xf32>
  return
}

// Of two accumulators, in panels.
// CHECK-LABEL: @packed_blocks
// CHECK: accumulators 2 blocks q4_0 {
func.func @packed_blocks(%x: memref<?x64xi8>, %w: memref<2x2x576xi8>, %p: memref<?x6xf32>, %o: memref<?x20xf32>) {
  kernel.matmul %x, %w parameters %p : memref<?x6xf32> outs(%o : memref<?x20xf32>) accumulators 2 blocks q4_0 {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  } : memref<?x64xi8>, memref<2x2x576xi8>
  return
}

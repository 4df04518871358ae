// RUN: %mille-opt %s '--pack-weights=widths=48,64 widths-of-more=64' | FileCheck %s
// RUN: %mille-opt %s '--pack-weights=widths=48,64 widths-of-more=64' | %mille-opt '--pack-weights=widths=32 widths-of-more=32' | FileCheck %s
// RUN: %mille-opt %s '--pack-weights=widths=64 widths-of-more=64' | FileCheck %s --check-prefix=DEVICE
// RUN: %mille-opt %s '--pack-weights=widths=64 widths-of-more=64 in-rows' | FileCheck %s --check-prefix=ROWS
// ROWS-LABEL: func.func @packs(
// ROWS: kernel.weight @w -> tensor<80x8xf32>
// DEVICE-NOT: panel = 48

// CHECK-LABEL: func.func @packs
// CHECK: %[[W:.*]] = kernel.weight #transformer.pack<@w, panel = 48, accumulators = 1> -> tensor<2x8x48xf32>
// CHECK: kernel.matmul %{{.*}}, %[[W]] outs
// CHECK-SAME: accumulators 1
func.func @packs(%x: tensor<?x8xf32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<80x8xf32>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<80x8xf32> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// With panels of 48 an eighth would be padding.
// CHECK-LABEL: func.func @packs_without_much_padding
// CHECK: kernel.weight #transformer.pack<@w, panel = 64, accumulators = 1> -> tensor<4x8x64xf32>
// CHECK: kernel.weight #transformer.pack<@v, panel = 48, accumulators = 1> -> tensor<22x8x48xf32>
func.func @packs_without_much_padding(%x: tensor<?x8xf32>, %o: tensor<?x256xf32>, %p: tensor<?x1024xf32>) -> (tensor<?x256xf32>, tensor<?x1024xf32>) {
  %w = kernel.weight @w -> tensor<256x8xf32>
  %v = kernel.weight @v -> tensor<1024x8xf32>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x256xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<256x8xf32> -> tensor<?x256xf32>
  %z = kernel.matmul %x, %v outs(%p : tensor<?x1024xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<1024x8xf32> -> tensor<?x1024xf32>
  return %y, %z : tensor<?x256xf32>, tensor<?x1024xf32>
}

// CHECK-LABEL: func.func @packs_two_accumulators
// CHECK: kernel.weight #transformer.pack<#transformer.concat<@gate, @up>, panel = 64, accumulators = 2> -> tensor<1x8x64xf32>
func.func @packs_two_accumulators(%x: tensor<?x8xf32>, %o: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %w = kernel.weight #transformer.concat<@gate, @up> -> tensor<32x8xf32>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x16xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<32x8xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// A tied embedding is read in both layouts.
// CHECK-LABEL: func.func @keeps_a_copy_as_a_gather_reads_it
// CHECK-DAG: %[[TABLE:.*]] = kernel.weight @w -> tensor<80x8xf32>
// CHECK-DAG: %[[W:.*]] = kernel.weight #transformer.pack<@w
// CHECK: kernel.rows ins(%[[TABLE]]
// CHECK: kernel.matmul %{{.*}}, %[[W]] outs
func.func @keeps_a_copy_as_a_gather_reads_it(%ids: tensor<?xi32>, %e: tensor<?x8xf32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<80x8xf32>
  %x = kernel.rows ins(%w : tensor<80x8xf32>) indices(%ids : tensor<?xi32>) outs(%e : tensor<?x8xf32>) gather [0] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x8xf32>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<80x8xf32> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// With in-rows, where 16 bytes hold whole parts of a row.
// CHECK-LABEL: func.func @keep_as_rows_of_bf16
// CHECK: kernel.weight #transformer.pack<@w
// CHECK: kernel.weight #transformer.pack<@v
// ROWS-LABEL: func.func @keep_as_rows_of_bf16
// ROWS: kernel.weight @w -> tensor<80x8xbf16>
// ROWS: kernel.weight #transformer.pack<@v, panel = 64, accumulators = 1, group = 2> -> tensor<2x6x128xbf16>
func.func @keep_as_rows_of_bf16(%x: tensor<?x8xbf16>, %z: tensor<?x12xbf16>, %o: tensor<?x80xf32>) -> (tensor<?x80xf32>, tensor<?x80xf32>) {
  %w = kernel.weight @w -> tensor<80x8xbf16>
  %v = kernel.weight @v -> tensor<80x12xbf16>
  %y = kernel.matmul %x, %w outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xbf16>, tensor<80x8xbf16> -> tensor<?x80xf32>
  %u = kernel.matmul %z, %v outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x12xbf16>, tensor<80x12xbf16> -> tensor<?x80xf32>
  return %y, %u : tensor<?x80xf32>, tensor<?x80xf32>
}

// CHECK-LABEL: func.func @keep_as_stack_of_bf16
// CHECK: kernel.weight #transformer.pack<@w, panel = 48, accumulators = 1, group = 2> -> tensor<3x2x4x96xbf16>
// ROWS-LABEL: func.func @keep_as_stack_of_bf16
// ROWS: kernel.weight @w -> tensor<3x80x8xbf16>
func.func @keep_as_stack_of_bf16(%x: tensor<?x8xbf16>, %s: tensor<4xi32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<3x80x8xbf16>
  %y = kernel.matmul %x, %w starts %s : tensor<4xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xbf16>, tensor<3x80x8xbf16> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// Bytes and their rows' sums, where K is a multiple of 16.
// CHECK-LABEL: func.func @keep_as_rows_of_bytes
// CHECK-COUNT-2: kernel.weight #transformer.pack<
// ROWS-LABEL: func.func @keep_as_rows_of_bytes
// ROWS: kernel.weight @w -> tensor<80x16xi8>
// ROWS: kernel.weight @s -> tensor<80x1xi32>
// ROWS: kernel.weight #transformer.pack<@v,
// ROWS: kernel.weight #transformer.pack<@s,
func.func @keep_as_rows_of_bytes(%x: tensor<?x16xui8>, %z: tensor<?x8xui8>, %p: tensor<?x4xf32>, %o: tensor<?x80xf32>) -> (tensor<?x80xf32>, tensor<?x80xf32>) {
  %w = kernel.weight @w -> tensor<80x16xi8>
  %s = kernel.weight @s -> tensor<80x1xi32>
  %y = kernel.matmul %x, %w parameters %p : tensor<?x4xf32> sums %s : tensor<80x1xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x16xui8>, tensor<80x16xi8> -> tensor<?x80xf32>
  %v = kernel.weight @v -> tensor<80x8xi8>
  %t = kernel.weight @s -> tensor<80x1xi32>
  %u = kernel.matmul %z, %v parameters %p : tensor<?x4xf32> sums %t : tensor<80x1xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xui8>, tensor<80x8xi8> -> tensor<?x80xf32>
  return %y, %u : tensor<?x80xf32>, tensor<?x80xf32>
}

// 12 is no multiple of 8, though 80 is.
// ROWS-LABEL: func.func @packs_a_stack_of_12
// ROWS: kernel.weight #transformer.pack<@w, panel = 64, accumulators = 1, group = 2>
func.func @packs_a_stack_of_12(%x: tensor<?x12xbf16>, %s: tensor<4xi32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<3x80x12xbf16>
  %y = kernel.matmul %x, %w starts %s : tensor<4xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x12xbf16>, tensor<3x80x12xbf16> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// ROWS-LABEL: func.func @keep_as_stack_of_f32
// ROWS: kernel.weight @v -> tensor<80x8xf32>
// ROWS: kernel.weight @w -> tensor<3x80x8xf32>
func.func @keep_as_stack_of_f32(%x: tensor<?x8xf32>, %s: tensor<4xi32>, %o: tensor<?x80xf32>) -> (tensor<?x80xf32>, tensor<?x80xf32>) {
  %v = kernel.weight @v -> tensor<80x8xf32>
  %z = kernel.matmul %x, %v outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<80x8xf32> -> tensor<?x80xf32>
  %w = kernel.weight @w -> tensor<3x80x8xf32>
  %y = kernel.matmul %x, %w starts %s : tensor<4xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<3x80x8xf32> -> tensor<?x80xf32>
  return %y, %z : tensor<?x80xf32>, tensor<?x80xf32>
}

// A weight that changes between runs is packed by the program, in these panels.
// CHECK-LABEL: func.func @packs_again
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x8x48xf32>
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} transposed outs(%[[E]] : tensor<2x8x48xf32>) : tensor<8x80xf32> -> tensor<2x8x48xf32>
// CHECK: kernel.matmul %{{.*}}, %[[P]]
func.func @packs_again(%x: tensor<?x8xf32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<8x80xf32>
  %e = tensor.empty() : tensor<80x8xf32>
  %p = kernel.pack %w transposed outs(%e : tensor<80x8xf32>) : tensor<8x80xf32> -> tensor<80x8xf32>
  %y = kernel.matmul %x, %p outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<80x8xf32> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// So is a stack of them, an entry for each expert.
// CHECK-LABEL: func.func @packs_experts_again
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x2x8x48xf32>
// CHECK: %[[P:.*]] = kernel.pack %{{.*}} transposed starts %[[S:.*]] : tensor<4xi32> outs(%[[E]] : tensor<3x2x8x48xf32>) : tensor<3x8x80xf32> -> tensor<3x2x8x48xf32>
// CHECK: kernel.matmul %{{.*}}, %[[P]] starts %[[S]]
func.func @packs_experts_again(%x: tensor<?x8xf32>, %s: tensor<4xi32>, %o: tensor<?x80xf32>) -> tensor<?x80xf32> {
  %w = kernel.weight @w -> tensor<3x8x80xf32>
  %e = tensor.empty() : tensor<3x80x8xf32>
  %p = kernel.pack %w transposed starts %s : tensor<4xi32> outs(%e : tensor<3x80x8xf32>) : tensor<3x8x80xf32> -> tensor<3x80x8xf32>
  %y = kernel.matmul %x, %p starts %s : tensor<4xi32> outs(%o : tensor<?x80xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<3x80x8xf32> -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

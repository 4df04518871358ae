// RUN: %mille-opt %s --convert-to-kernel | FileCheck %s
// RUN: %mille-opt %s --convert-to-kernel > %t.once
// RUN: %mille-opt %s --convert-to-kernel --convert-to-kernel > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: func.func @train_step
// CHECK: %[[R:.*]] = kernel.reverse_tokens %[[X:.*]] tokens %[[T:.*]] outs
// CHECK: %[[L:.*]] = kernel.linear_attention %[[R]], %[[R]], %[[R]] decay
// CHECK: kernel.reverse_tokens %[[L]] key_mask %{{.*}} : tensor<?xi32> tokens %[[T]] outs
transformer.model @m {
  transformer.parameter @d : tensor<2xf32> = #transformer.numbers<[0.5, 0.25], tensor<2xf32>>
  func.func @train_step(%x: tensor<?x?x8xf32> {transformer.name = "x"}, %m: tensor<?x?xi32> {transformer.name = "m"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %0 = transformer.reverse_tokens %x : tensor<?x?x8xf32>
    %1 = transformer.linear_attend %0, %0, %0 heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @d
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %2 = transformer.reverse_tokens %1 key_mask %m : tensor<?x?xi32> : tensor<?x?x8xf32>
    return %2 : tensor<?x?x8xf32>
  }
}

func.func @k(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %o: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = kernel.matmul %x, %w extras(%b : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %z = kernel.rows ins(%y : tensor<?x16xf32>) outs(%o : tensor<?x16xf32>) gather [-1] norm <rms, 1.0e-06> {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  } -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}

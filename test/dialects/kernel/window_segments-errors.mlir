// RUN: %mille-opt %s --split-input-file --verify-diagnostics

func.func @window_segments_c1(%h: index, %w: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{size is 7 and shift 7 but 0 <= shift < size < 32768}}
  %s = kernel.window_segments height %h width %w side [4, 4] size 7 shift 7 outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @window_segments_c2(%h: index, %w: index, %o: tensor<?xi32>) {
  // expected-error @+1 {{outs is a tensor but there is no result}}
  kernel.window_segments height %h width %w side [4, 4] size 7 outs(%o : tensor<?xi32>)
  return
}

// RUN: %mille-opt %s --narrow-types=dtype=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: %mille-opt %s --narrow-types=dtype=int8 --remarks-filter=plan --remark-format=emitRemark 2>%t | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: %mille-opt %s --narrow-types=dtype=int8 | %mille-opt '--pack-weights=widths=48,64 widths-of-more=64' --plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: %mille-opt %s --narrow-types=dtype=fp8 --remarks-filter=plan --remark-format=emitRemark 2>%t.fp8 | FileCheck %s --check-prefix=FP8
// RUN: FileCheck %s --check-prefix=BF16REMARK --input-file=%t.fp8
// BF16REMARK: a weight becomes bf16: its rows of 8 bytes are no multiples of 16
// RUN: %refuses 1 %mille-opt %s --narrow-types=dtype=fp4 2>&1 | FileCheck %s --check-prefix=FP4
// FP4: dtype is 'fp4' but must be f32, f16, bf16, int8, q8_0, q6_k, fp8, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0, mxfp4, stored

// The input is the application's: a rounded copy. What only the second matmul reads
// is bf16 where it is made; the result is not. Its channels, of bytes, are equalized with
// the columns of that weight.
// CHECK-LABEL: func.func @chain
// BF16-DAG: %[[X:.*]] = kernel.rows ins(%arg2 : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xbf16>)
// BF16-DAG: %[[W:.*]] = kernel.weight @w -> tensor<16x8xbf16>
// BF16: %[[H:.*]] = kernel.matmul %[[X]], %[[W]] outs
// BF16: } : tensor<?x8xbf16>, tensor<16x8xbf16> -> tensor<?x16xbf16>
// BF16: kernel.matmul %[[H]], %{{.*}} outs
// BF16: } : tensor<?x16xbf16>, tensor<4x16xbf16> -> tensor<?x4xf32>
// INT8-DAG: %[[X:.*]]:2 = kernel.quantize %arg2
// INT8-DAG: %[[C:.*]] = kernel.weight #transformer.row_scales<@w> -> tensor<16xf32>
// INT8-DAG: %[[W:.*]] = kernel.weight #transformer.quantized<@w> -> tensor<16x8xi8>
// INT8-DAG: %[[S:.*]] = kernel.weight #transformer.reshape<#transformer.apply<#transformer.column_rms<@v>, sqrt>, [16]> -> tensor<16xf32>
// INT8-DAG: %[[I:.*]] = kernel.weight #transformer.row_sums<#transformer.quantized<@w>> -> tensor<16x1xi32>
// INT8: %[[H:.*]] = kernel.matmul %[[X]]#0, %[[W]] parameters %[[X]]#1 : tensor<?x4xf32> sums %[[I]] : tensor<16x1xi32> extras(%[[C]], %[[S]] : tensor<16xf32>, tensor<16xf32>)
// INT8: ^bb0(%[[SUM:.*]]: f32, %[[COLUMN:.*]]: f32, %[[CHANNEL:.*]]: f32):
// INT8: %[[ACC:.*]] = arith.mulf %[[SUM]], %[[COLUMN]] : f32
// INT8: %[[RELU:.*]] = arith.maximumf %[[ACC]]
// INT8: arith.mulf %[[RELU]], %[[CHANNEL]] : f32
// INT8: } : tensor<?x8xui8>, tensor<16x8xi8> -> tensor<?x16xbf16>
// INT8: kernel.weight #transformer.quantized<#transformer.times<@v, #transformer.apply<#transformer.column_rms<@v>, rsqrt>>> -> tensor<4x16xi8>
// INT8: kernel.weight #transformer.row_scales<#transformer.times<@v, #transformer.apply<#transformer.column_rms<@v>, rsqrt>>> -> tensor<4xf32>
// INT8: kernel.quantize %[[H]] values
// INT8: } : tensor<?x16xui8>, tensor<4x16xi8> -> tensor<?x4xf32>
// Of floats the second alone: rows of 8 bytes are too short for a device's copies. The sum is
// multiplied by its row's scale, then by its column's.
// FP8-LABEL: func.func @chain
// FP8: } : tensor<?x8xbf16>, tensor<16x8xbf16> -> tensor<?x16xbf16>
// FP8-DAG: %[[W:.*]] = kernel.weight #transformer.quantized<@v, e4m3> -> tensor<4x16xf8E4M3FN>
// FP8-DAG: %[[C:.*]] = kernel.weight #transformer.row_scales<@v, e4m3> -> tensor<4xf32>
// FP8-DAG: %[[X:.*]]:2 = kernel.quantize {{.*}} -> tensor<?x16xf8E4M3FN>, tensor<?x1xf32>
// FP8: kernel.matmul %[[X]]#0, %[[W]] extras(%[[C]], %[[X]]#1 : tensor<4xf32>, tensor<?x1xf32>)
// FP8: ^bb0(%[[SUM:.*]]: f32, %[[COLUMN:.*]]: f32, %[[ROW:.*]]: f32):
// FP8: %[[S:.*]] = arith.mulf %[[SUM]], %[[ROW]]
// FP8: arith.mulf %[[S]], %[[COLUMN]]
// PLAN-LABEL: func.func @chain
// PLAN-DAG: kernel.weight #transformer.pack<#transformer.quantized<@w>, panel = 48, accumulators = 1, group = 4> -> memref<1x2x192xi8>
// PLAN-DAG: kernel.weight #transformer.pack<#transformer.row_sums<{{.*}}, panel = 48, accumulators = 1> -> memref<1x1x48xi32>
// PLAN-DAG: kernel.arena {{.*}} : memref<?x16xbf16, strided<[32, 1]>>
// PLAN-DAG: kernel.arena {{.*}} : memref<?x8xui8, strided<[64, 1]>>
func.func @chain(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x4xf32> {transformer.name = "y"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<16x8xf32>
  %d0 = tensor.empty(%rows) : tensor<?x16xf32>
  %h = kernel.matmul %x, %w outs(%d0 : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %acc, %zero : f32
    kernel.yield %relu : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %v = kernel.weight @v -> tensor<4x16xf32>
  %d1 = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kernel.matmul %h, %v outs(%d1 : tensor<?x4xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x16xf32>, tensor<4x16xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Channels that another reads, too, stay as they are.
// CHECK-LABEL: func.func @keep_as_read_twice
// INT8-NOT: column_rms
// CHECK: return
func.func @keep_as_read_twice(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x4xf32> {transformer.name = "y"}, tensor<?x4xf32> {transformer.name = "z"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<16x8xf32>
  %d0 = tensor.empty(%rows) : tensor<?x16xf32>
  %h = kernel.matmul %x, %w outs(%d0 : tensor<?x16xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %v = kernel.weight @v -> tensor<4x16xf32>
  %d1 = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kernel.matmul %h, %v outs(%d1 : tensor<?x4xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x16xf32>, tensor<4x16xf32> -> tensor<?x4xf32>
  %d2 = tensor.empty(%rows) : tensor<?x4xf32>
  %z = kernel.matmul %h, %v outs(%d2 : tensor<?x4xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x16xf32>, tensor<4x16xf32> -> tensor<?x4xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}

// A norm in a launch whose rows the residual sum reads too: the copy is made in the
// launch, once for both matmuls, and handed out.
// CHECK-LABEL: func.func @shared
// CHECK: kernel.launch {
// BF16: %[[N:.*]] = kernel.rows ins({{.*}} norm
// BF16: %[[C:.*]] = kernel.rows ins(%[[N]] : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xbf16>)
// BF16: kernel.yield %[[N]], %[[C]] : tensor<?x8xf32>, tensor<?x8xbf16>
// INT8: %[[N:.*]] = kernel.rows ins({{.*}} norm
// INT8: %[[C:.*]]:2 = kernel.quantize %[[N]]
// INT8: kernel.yield %[[N]], %[[C]]#0, %[[C]]#1
// CHECK-NOT: kernel.quantize
// INT8: ^bb0(%[[SUM:.*]]: f32, %[[R:.*]]: f32, %[[COLUMN:.*]]: f32):
// INT8-NEXT: math.fma %[[SUM]], %[[COLUMN]], %[[R]] : f32
// CHECK-NOT: kernel.quantize
// CHECK: return
func.func @shared(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x8xf32> {transformer.name = "y"}, tensor<?x8xf32> {transformer.name = "z"}) {
  %rows = arith.muli %b, %t : index
  %n = kernel.launch {
    %d = tensor.empty(%rows) : tensor<?x8xf32>
    %0 = kernel.rows ins(%x : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) gather [-1] norm <rms, 1.0e-06> {
    ^bb0(%a: f32):
      kernel.yield %a : f32
    } -> tensor<?x8xf32>
    kernel.yield %0 : tensor<?x8xf32>
  } : tensor<?x8xf32>
  %w = kernel.weight @w -> tensor<8x8xf32>
  %d0 = tensor.empty(%rows) : tensor<?x8xf32>
  %y = kernel.matmul %n, %w extras(%n : tensor<?x8xf32>) outs(%d0 : tensor<?x8xf32>) accumulators 1 {
  ^bb0(%acc: f32, %r: f32):
    %0 = arith.addf %acc, %r : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %d1 = tensor.empty(%rows) : tensor<?x8xf32>
  %z = kernel.matmul %n, %w outs(%d1 : tensor<?x8xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// Two accumulators: each with its half of the weight's scales.
// CHECK-LABEL: func.func @gated
// INT8-DAG: kernel.weight #transformer.slice<#transformer.row_scales<@w>, axis = 0, offset = 0, size = 4, stride = 1> -> tensor<4xf32>
// INT8-DAG: kernel.weight #transformer.slice<#transformer.row_scales<@w>, axis = 0, offset = 4, size = 4, stride = 1> -> tensor<4xf32>
func.func @gated(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x8xf32> {transformer.name = "x"}) -> (tensor<?x4xf32> {transformer.name = "y"}) {
  %rows = arith.muli %b, %t : index
  %w = kernel.weight @w -> tensor<8x8xf32>
  %d = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kernel.matmul %x, %w outs(%d : tensor<?x4xf32>) accumulators 2 {
  ^bb0(%gate: f32, %up: f32):
    %0 = arith.mulf %gate, %up : f32
    kernel.yield %0 : f32
  } : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// What chooses experts stays as it is.
// CHECK-LABEL: func.func @routes
// CHECK-NOT: bf16
// CHECK-NOT: i8
// CHECK: kernel.route
func.func @routes(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %x: tensor<?x8xf32> {transformer.name = "x"}) {
  %rows = arith.muli %b, %t : index
  %two = arith.constant 2 : index
  %slots = arith.muli %rows, %two : index
  %w = kernel.weight @w -> tensor<4x8xf32>
  %d = tensor.empty(%rows) : tensor<?x4xf32>
  %logits = kernel.matmul %x, %w outs(%d : tensor<?x4xf32>) accumulators 1 {
  ^bb0(%acc: f32):
    kernel.yield %acc : f32
  } : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %a = tensor.empty(%rows) : tensor<?x2xf32>
  %e = tensor.empty(%slots) : tensor<?xi32>
  %p = tensor.empty(%slots) : tensor<?xi32>
  %s = tensor.empty() : tensor<5xi32>
  %r0, %r1, %r2, %r3 = kernel.route %logits outs(%a, %e, %p, %s : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
    k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
    : tensor<?x4xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<5xi32>
  return
}

// Scores of bytes where every key is this run's.
// CHECK-LABEL: func.func @attends
// BF16-NOT: byte_scores
// INT8: kernel.attention {{.*}} causal false byte_scores :
// INT8: kernel.attention {{.*}} causal true :
// INT8: kernel.attention {{.*}} causal false :
// REMARK: attention's scores stay bf16: keys may be of earlier steps
// REMARK: attention's scores stay bf16: keys may be of earlier steps
// REMARK-NOT: attention's scores
func.func @attends(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"}, %n: index {kernel.size = "decoder_tokens"}, %x: tensor<?x12xf32> {transformer.name = "x"}, %k: tensor<?x12xf32> {transformer.name = "k"}) {
  %rows = arith.muli %b, %t : index
  %zero = arith.constant 0 : index
  %o = tensor.empty(%rows) : tensor<?x4xf32>
  %0 = kernel.attention %x, %x, %x queries %t keys %t first %zero outs(%o : tensor<?x4xf32>)
    heads 1 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 4, 8] scale 0.5 causal false
    : tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32> -> tensor<?x4xf32>
  %1 = kernel.attention %x, %x, %x queries %t keys %t first %zero outs(%o : tensor<?x4xf32>)
    heads 1 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 4, 8] scale 0.5 causal true
    : tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32> -> tensor<?x4xf32>
  %2 = kernel.attention %x, %k, %k queries %t keys %n first %zero outs(%o : tensor<?x4xf32>)
    heads 1 kv_heads 1 head_dim 4 value_dim 4 offsets [0, 4, 8] scale 0.5 causal false
    : tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32> -> tensor<?x4xf32>
  return
}

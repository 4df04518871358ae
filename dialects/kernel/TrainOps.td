// The kernels that only a training step has. Gradients of activations are
// [rows, channels] as activations are; the gradient of a parameter has the
// parameter's shape and lives on from run to run.
#ifndef MILLE_KERNEL_TRAIN_OPS
#define MILLE_KERNEL_TRAIN_OPS
include "dialects/kernel/ExpertTrainOps.td"

def Kernel_WeightGradientOp : Kernel_GeneratedOp<"weight_gradient", [Kernel_Adds]> {
  let summary = "out[n, k] += sum over rows m of gradient[m, n] input[m, k]";
  let description = [{
    The gradient of the weight of a `matmul` of `input`. The sum starts at what the out holds. Rows
    are added in order, so that a batch gives the same bits in one run and in several; of bf16 in
    pairs, an odd last one with zeros: for that all runs but the last have an even number of rows.

    With `starts`, i32 [entries + 1], the out is a stack, [entries, N, K]: entry e gets the sum over
    rows starts[e] to starts[e + 1] - 1. Such a sum has no pairs, since no run knows how many rows
    an expert had in others.

    Constraints:
    * (C1) gradient is f32 or bf16 [?, N], input [?, K] of the same type, the out f32 [N, K].
    * (C2) a result for each outs on tensors, none on memrefs.
    * (C3) starts is i32 [entries + 1], and the out has as many entries.

    Accuracy: |error| <= (rows + 1) u sum|a b|, of the terms and what the out holds.

    ```mlir
    %w = kernel.weight_gradient %gy, %x outs(%g : tensor<16x8xf32>)
      : tensor<?x16xf32>, tensor<?x8xf32> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Kernel_Buffer:$input,
    Optional<Kernel_Buffer>:$starts, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $gradient `,` $input (`starts` $starts^ `:` type($starts))? `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($gradient) `,` type($input) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_ColumnSumsOp : Kernel_GeneratedOp<"column_sums", [Kernel_Adds]> {
  let summary = "out[n] += sum over rows m of a scalar region";
  let description = [{
    Inputs are read at (m, n) like an extra of `matmul`, and the region has one f32 argument for
    each. The first input is [?, N]. The sum starts at what the out holds, and rows are added in
    their order.

    An out of P numbers, where P divides N, gets column n at number n mod P: columns that belong
    to one parameter, as do those of all heads to the norm of a head, or all of them to a factor.
    `to` says it for each column instead, and counts the out's numbers row by row.

    Constraints:
    * (C1) the out is f32 [P], P divides N; inputs are f32 or bf16 [?, N], or f32 [?, 1], [N],
      [1, N] or [1], the first of them [?, N].
    * (C2) the region has an f32 argument for each input and yields one f32.
    * (C3) a result for each outs on tensors, none on memrefs.
    * (C4) with `to` the out is f32 [P] or [R, C]; `to` has N numbers of it.

    Accuracy: |error| <= (k + 1) u sum|t|, of k terms and what the out holds.

    ```mlir
    %b = kernel.column_sums ins(%gy, %hat : tensor<?x8xf32>, tensor<?x8xf32>) outs(%g : tensor<8xf32>) {
    ^bb0(%a: f32, %h: f32):
      %0 = arith.mulf %a, %h : f32
      kernel.yield %0 : f32
    } -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<Kernel_Buffer>:$inputs, Kernel_Buffer:$out,
                       OptionalAttr<DenseI64ArrayAttr>:$to);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $out `:` type($out) `)`
    (`to` $to^)? attr-dict-with-keyword $body (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_EmbedGradientOp : Kernel_GeneratedOp<"embed_gradient", [Kernel_Adds]> {
  let summary = "out[ids[m], n] += gradient[m, n], rows m in their order";
  let description = [{
    The gradient of a table that rows are gathered from. An id outside of the table is read as
    the nearest one inside.

    Constraints:
    * (C1) gradient is f32 [?, N], ids i32 [?], the out f32 [entries, N].
    * (C2) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| <= n u sum|t|, of the n rows with that id and what the out holds.

    ```mlir
    %w = kernel.embed_gradient %gy at %ids outs(%g : tensor<32x8xf32>)
      : tensor<?x8xf32>, tensor<?xi32> -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Kernel_Integers:$ids, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $gradient `at` $ids `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($gradient) `,` type($ids) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_NormBackwardOp : Kernel_GeneratedOp<"norm_backward", [Kernel_TokenLocal, AttrSizedOperandSegments],
    "getOutsMutable()"> {
  let summary = "the gradient of a norm's input, and perhaps the normed row";
  let description = [{
    Let h be the norm of `input` and q = gradient * weight, or the gradient where there is no
    weight. For layer the first out is scale * (q - mean(q) - h * mean(q h)), where scale is 1 /
    sqrt(var + eps); for rms it is scale * (q - h * mean(q h)), and for l2 scale * (q - h *
    sum(q h)), where scale is 1 / |x|, or q / eps where |x| <= eps. The second out, if there is
    one, is h: `column_sums` of gradient * h is the gradient of the weight.

    Constraints:
    * (C1) gradient, input and the one or two outs are f32 [?, N]; weight is [N] or [1, N].
    * (C2) the norm's group divides N, its eps is finite and >= 0.
    * (C3) results for the outs on tensors, none on memrefs.

    Accuracy: |error| < 6e-6 scale (|q| + max|q|) for each number, as of the norm.

    ```mlir
    %x, %h = kernel.norm_backward %gy, %y weight %w : tensor<8xf32> outs(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>)
      norm <layer, 1.0e-05> : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Kernel_Buffer:$input,
    Optional<Kernel_Buffer>:$weight, Variadic<Kernel_Buffer>:$outs, Kernel_RowNormAttr:$norm);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $gradient `,` $input (`weight` $weight^ `:` type($weight))?
    `outs` `(` $outs `:` type($outs) `)` `norm` $norm attr-dict
    `:` type($gradient) `,` type($input) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_CrossEntropyOp : Kernel_GeneratedOp<"cross_entropy", [Kernel_TokenLocal],
    "{getOperation(), getLossesMutable().getOperandNumber(), 2}"> {
  let summary = "each row's loss, and the gradient of its logits";
  let description = [{
    Let p be the softmax of a row of logits, and t its target: 1 - smoothing at the column of its
    label, plus smoothing / V in every column. losses[m] = times * -sum(t log p) and
    gradient[m] = times * (p - t). Both are 0 where the label is below 0. A label that is no
    column is read as the last one.

    Constraints:
    * (C1) logits and gradient are f32 [?, V], labels i32 [?], times f32 [1], losses f32 [?, 1].
    * (C2) smoothing is >= 0 and < 1.
    * (C3) results for both outs on tensors, none on memrefs.

    Accuracy: |error| < 1e-6 times (4 + |x|) of a loss, x the row's largest difference of
    logits, and 2e-6 times of a number of the gradient.

    ```mlir
    %l, %g = kernel.cross_entropy %z labels %y : tensor<?xi32> times %t : tensor<1xf32>
      losses(%a : tensor<?x1xf32>) gradient(%b : tensor<?x8xf32>)
      : tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$logits, Kernel_Integers:$labels, Kernel_Buffer:$times,
    Kernel_Buffer:$losses, Kernel_Buffer:$gradient, DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $logits `labels` $labels `:` type($labels) `times` $times `:` type($times)
    `losses` `(` $losses `:` type($losses) `)` `gradient` `(` $gradient `:` type($gradient) `)`
    (`smoothing` $smoothing^)? attr-dict `:` type($logits) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PackOp : Kernel_GeneratedOp<"pack"> {
  let summary = "a weight, or its transpose, in panels of columns, at run time";
  let description = [{
    The out is what a `matmul` reads as its weight: `weight` [N, K], or its transpose [K, N], as a
    matrix or, after planning, in panels [panels, K, panel] of its rows, filled up with zeros; of
    bf16 they are [panels, ceil(K / 2), 2 panel], as two values of K lie side by side.

    With `starts`, i32 [entries + 1], weight and out are stacks. Only entries that have rows,
    starts[e] < starts[e + 1], are packed: what the others hold is undefined.

    Constraints:
    * (C1) weight is f32 [N, K]; the out is f32 or bf16, and such a matrix or panels of it.
    * (C2) a result for each outs on tensors, none on memrefs.
    * (C3) starts is i32 [entries + 1], and weight and out have as many entries.

    Accuracy: exact in f32, one rounding in bf16.

    ```mlir
    %t = kernel.pack %w transposed outs(%o : tensor<8x16xf32>) : tensor<16x8xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$weight, Optional<Kernel_Buffer>:$starts,
    Kernel_Buffer:$out, UnitAttr:$transposed);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $weight (`transposed` $transposed^)? (`starts` $starts^ `:` type($starts))? `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($weight) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_AttentionBackwardOp : Kernel_GeneratedOp<"attention_backward", [AttrSizedOperandSegments],
    "getOutsMutable()"> {
  let summary = "the gradients of attention's key, value and query, of its biases and sink";
  let description = [{
    Buffers, offsets, sequences, heads, masks, biases and softcap are as in `attention`,
    query i is at position i; `gradient` is that of its out. The softmax p is made again from
    query and key. With s = scale q k^T, z = softcap tanh(s / softcap) or s, and p the softmax of
    z with its biases: value gradient = p^T g; with u = p * (g v^T - sum(p * g v^T)) and d = u
    times 1 - (z / softcap)^2 where there is a softcap: query gradient = scale d k, key gradient =
    scale d^T q. The query heads of a key head are added in their order.

    The gradient of `bias` is a row for each query: by distance [?, heads * (2D + 1)], u added
    where keys share a column; by pair [?, heads * keys], u itself. With `key_head_gradient`
    that of key_head_bias is its shape: u added over queries and the heads that share a number.
    The sink's is [?, heads]: -p_sink sum(p * g v^T).

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) the columns named by offsets exist; gradient is [?, heads * value_dim]; the outs are
      the gradients of key [?, kv_heads * head_dim], value [?, kv_heads * value_dim], of
      key_head_bias where it is asked for, of bias and of sink if there are these, and of query
      [?, heads * head_dim]; all are f32, but query, key, value and gradient may all be bf16.
    * (C3) key_mask and segments are i32 [?]; scale is finite; softcap is finite and >= 0;
      window is empty or two numbers >= 0; chunk >= 0.
    * (C4) results for the outs on tensors, none on memrefs.
    * (C5) key_head_bias is [?, n] where n divides heads, sink [heads]; there are as many slopes
      as heads, or none.
    * (C6) bias and bias_by go together; bias is [heads, odd] by distance and [heads, keys *
      keys] by pair; key_head_gradient goes with a key_head_bias.

    Accuracy: |error| <= (keys + 64) 2u sum|t|, of the terms of each sum. Of bf16 p and d may be
    rounded to bf16 before they multiply query, key and gradient: 2^-8 sum|t| more.

    ```mlir
    %k, %v, %q = kernel.attention_backward %qkv, %qkv, %qkv gradient %g : tensor<?x8xf32> queries %t keys %t
      outs(%a, %b, %c : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
      : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$query, Kernel_Buffer:$key, Kernel_Buffer:$value,
    Kernel_Buffer:$gradient, Optional<Kernel_Buffer>:$key_mask,
    Optional<Kernel_Buffer>:$key_head_bias, Optional<Kernel_Buffer>:$sink,
    Optional<Kernel_Buffer>:$bias, Optional<Kernel_Buffer>:$segments,
    Index:$queries, Index:$keys,
    Variadic<Kernel_Buffer>:$outs,
    I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
    DenseI64ArrayAttr:$offsets, F64Attr:$scale, BoolAttr:$causal,
    DefaultValuedAttr<F64Attr, "0.0">:$softcap, OptionalAttr<DenseF64ArrayAttr>:$slopes,
    OptionalAttr<DenseI64ArrayAttr>:$window, DefaultValuedAttr<I64Attr, "0">:$chunk,
    OptionalAttr<Kernel_BiasByAttr>:$bias_by, UnitAttr:$key_head_gradient);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $query `,` $key `,` $value `gradient` $gradient `:` type($gradient)
    (`key_mask` $key_mask^ `:` type($key_mask))?
    (`key_head_bias` $key_head_bias^ `:` type($key_head_bias))?
    (`sink` $sink^ `:` type($sink))? (`bias` $bias^ `:` type($bias))?
    (`segments` $segments^ `:` type($segments))? `queries` $queries `keys` $keys
    `outs` `(` $outs `:` type($outs) `)`
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `offsets` $offsets `scale` $scale `causal` $causal (`softcap` $softcap^)?
    (`slopes` custom<Numbers>($slopes)^)? (`window` $window^)? (`chunk` $chunk^)?
    (`bias_by` $bias_by^)? (`key_head_gradient` $key_head_gradient^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PairSumsOp : Kernel_PreparedOp<"pair_sums", [Kernel_Adds]> {
  let summary = "out[index[i * n + j], h] += sum over sequences s of gradient[s * n + i, h * n + j]";
  let description = [{
    The gradient of a table by pairs of a sequence's n tokens, from that of a bias by pair. The
    sum starts at what the out holds, and rows are added in their order.

    Constraints:
    * (C1) index has n * n numbers, n > 0, each a row of the out, f32 [entries, heads].
    * (C2) gradient is f32 [?, heads * n].
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| <= (k + 1) u sum|t|, of k terms and what the out holds.

    ```mlir
    %t = kernel.pair_sums %g index [0, 1, 1, 0] outs(%w : tensor<2x4xf32>) : tensor<?x8xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, DenseI64ArrayAttr:$index, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$gradient `index` $index `outs` `(` $out `:` type($out) `)` attr-dict `:` type($gradient) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_SpreadOp : Kernel_PreparedOp<"spread"> {
  let summary = "out[i] = weight[from[i]]: numbers of a weight that a step changes";
  let description = [{
    Weight and out are counted row by row. Weights that no step changes are laid out before any
    run, by an expression of `kernel.weight`.

    Constraints:
    * (C1) weight and out are f32 of fixed shapes.
    * (C2) from has a number for each of the out's, and each is one of the weight's.
    * (C3) a result for each outs on tensors, none on memrefs.

    ```mlir
    %b = kernel.spread %w from [0, 1, 0, 1] outs(%o : tensor<4xf32>) : tensor<2xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$weight, DenseI64ArrayAttr:$from, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$weight `from` $from `outs` `(` $out `:` type($out) `)` attr-dict `:` type($weight) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_PoolGradientOp : Kernel_PreparedOp<"pool_gradient", [AttrSizedOperandSegments]> {
  let summary = "the gradient of rows that were pooled, of [batch, N]: [rows, N]";
  let description = [{
    With `index`, i32 [batch], row index[b] gets row b of the gradient, and all others get 0.
    Without, a sequence's tokens from `skip` on whose key_mask is not 0 share its row, each
    a part of 1 / their number.

    Constraints:
    * (C1) index goes with no key_mask and no skip; skip >= 0.
    * (C2) gradient and out have as many columns.
    * (C3) a result for each outs on tensors, none on memrefs.

    ```mlir
    %x = kernel.pool_gradient %g index %i : tensor<?xi32> tokens %t skip 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Optional<Kernel_Integers>:$index,
    Optional<Kernel_Integers>:$key_mask, Index:$tokens, I64Attr:$skip, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$gradient (`index` $index^ `:` type($index))? (`key_mask` $key_mask^ `:` type($key_mask))? `tokens` $tokens `skip` $skip `outs` `(` $out `:` type($out) `)` attr-dict `:` type($gradient) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_DropoutOp : Kernel_PreparedOp<"dropout"> {
  let summary = "input / (1 - rate), or 0 with the probability rate";
  let description = [{
    As transformer.dropout, of rows: `tokens` are those of a sequence. In a body of
    `kernel.layers` the layer is that of the row of its table, and `after` more. A mask
    follows from a token's place, so that padding stays.

    Constraints:
    * (C1) step and first are [1].
    * (C2) 0 <= rate < 1; seed, site and after are >= 0 and below 2^32.
    * (C3) input and out have as many columns.
    * (C4) a result for each outs on tensors, none on memrefs.

    Accuracy: a number that is kept is rounded once.

    ```mlir
    %y = kernel.dropout %x step %step first %first tokens %t rate 0.1 seed 1 site 0 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Integers:$step, Kernel_Integers:$first,
    Index:$tokens, F64Attr:$rate, I64Attr:$seed, I64Attr:$site,
    DefaultValuedAttr<I64Attr, "0">:$after, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input `step` $step `first` $first `tokens` $tokens `rate` $rate `seed` $seed `site` $site (`after` $after^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) `,` type($step) `,` type($first) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_ReverseTokensOp : Kernel_PreparedOp<"reverse_tokens"> {
  let summary = "the rows of each sequence from the last to the first";
  let description = [{
    Row t of a sequence of n rows is row n - 1 - t of the input, or 0 where its own key_mask
    is 0.

    Constraints:
    * (C1) input and out have the same columns.
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %r = kernel.reverse_tokens %x tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Optional<Kernel_Integers>:$key_mask, Index:$tokens,
                       Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input (`key_mask` $key_mask^ `:` type($key_mask))? `tokens` $tokens `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
  let hasVerifier = 1;
}
#endif

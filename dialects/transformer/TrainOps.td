// Ops of a training step: the loss, and gradients of ops. Gradients of parameters
// are effects on symbols: an op adds to them, so that a parameter that is used
// twice needs nothing, and a body of `layers` is one body however deep the stack is.
#ifndef MILLE_TRANSFORMER_TRAIN_OPS
#define MILLE_TRANSFORMER_TRAIN_OPS
include "dialects/transformer/TransformerTypes.td"

def Transformer_CrossEntropyOp : Transformer_Op<"cross_entropy",
    [Pure, AllTypesMatch<["logits", "gradient"]>]> {
  let summary = "cross-entropy of each row, and its gradient with respect to the logits";
  let description = [{
    Let p = softmax(logits) of a row, V its channels, y its label, s = smoothing, and w
    the one number of `weight`. Then

    losses = -w ((1 - s) log p[y] + s/V sum_v log p[v]),
    gradient[v] = w (p[v] - (1 - s) [v = y] - s/V).

    Both are 0 where the label is `ignore`. With w = 1 / (number of labels that count),
    the sum of losses is their mean, whatever part of a batch the run has.

    Constraints:
    * (C1) labels and losses have the logits' leading shape.
    * (C2) weight is [1].
    * (C3) 0 <= smoothing < 1; ignore is < 0.

    ```mlir
    %losses, %g = transformer.cross_entropy %logits labels %y weight %w
      : tensor<?x?x8xf32>, tensor<?x?xi32>, tensor<1xf32> -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$logits, Transformer_Ids:$labels,
    RankedTensorOf<[F32]>:$weight, DefaultValuedAttr<I64Attr, "-100">:$ignore,
    DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs RankedTensorOf<[F32]>:$losses, Transformer_Stream:$gradient);
  let assemblyFormat = [{
    $logits `labels` $labels `weight` $weight (`ignore` $ignore^)?
    (`smoothing` $smoothing^)? attr-dict
    `:` type($logits) `,` type($labels) `,` type($weight) `->` type($losses)
  }];
  let hasVerifier = 1;
}

include "dialects/transformer/NumberLossOps.td"
include "dialects/transformer/ExpertTrainOps.td"

def Transformer_WeightGradientOp : Transformer_Op<"weight_gradient",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds scale * gradient^T input to the gradient of a linear's weight";
  let description = [{
    The part of the adjoint of `linear` that belongs to its parameters: gradient is that
    of the linear's result. The gradient of @bias gets the sum of gradient's rows. Rows
    are added in order. Rows of the weight that fixed_rows names, as those of `parameter`,
    get nothing.

    Constraints:
    * (C1) weight is [channels of gradient, channels of input]; with experts
      [entries, ...].
    * (C2) bias is [channels of gradient]; with experts [entries, ...].
    * (C3) leading dimensions of gradient and input, and of experts, agree.
    * (C4) scale is finite.
    * (C5) fixed_rows is as that of a parameter of the weight's rows, without experts.

    ```mlir
    transformer.weight_gradient %g, %x weight @w bias @b : tensor<?x?x24xf32>, tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$input,
    Optional<Transformer_Ids>:$experts, FlatSymbolRefAttr:$weight,
    OptionalAttr<FlatSymbolRefAttr>:$bias, DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<DenseI64ArrayAttr>:$fixed_rows);
  let assemblyFormat = "$gradient `,` $input (`experts` $experts^ `:` type($experts))? `weight` $weight (`bias` $bias^)? (`scale` $scale^)? (`fixed_rows` $fixed_rows^)? attr-dict `:` type($gradient) `,` type($input)";
  let hasVerifier = 1;
}

def Transformer_NormGradientOp : Transformer_Op<"norm_gradient",
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gradient of a norm's input; adds to those of its weight and bias";
  let description = [{
    Let h be the normed row of `input` before weight and bias, n its length, r its factor,
    q = gradient * weight (or 1 + weight, or 1). The result is r (q - h mean(q h) -
    mean(q)) for layer_norm, r (q - h mean(q h)) for rms_norm, and r (q - h sum(q h)) for
    l2_norm, whose factor r is a constant where |input| is below eps. The gradient of the
    weight gets the sum over rows of gradient * h, that of the bias the sum of gradient.

    Constraints:
    * (C1) weight and bias are as those of `norm`.
    * (C2) group divides channels.

    ```mlir
    %gx = transformer.norm_gradient %g at %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @n.weight, bias = @n.bias> : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$input,
                       Transformer_NormAttr:$norm);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$gradient `at` $input `by` $norm attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_ActivateGradientOp : Transformer_Op<"activate_gradient",
    [Pure, SameTypeOperands]> {
  let summary = "gradients of the inputs of activate, gate, softcap and clamp";
  let description = [{
    The forward op is y = f(input), or f(input) (up + up_offset) with an `up`. f is an
    activation (`by`), cap tanh(x / cap) (`cap`), or min(max(x, low), high). The results
    are gradient * f'(input) [* (up + up_offset)] and, with up, gradient * f(input).
    f' of a kink is 0 (relu at 0, clamp at low and high).

    Constraints:
    * (C1) f is given once: `by`, `cap`, or `low` and `high`.
    * (C2) there is one result, with up there are two, all of the input's type.
    * (C3) up_offset is finite, and 0 without up.

    ```mlir
    %gx = transformer.activate_gradient %g at %x by gelu_erf : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    %gg, %gu = transformer.activate_gradient %g at %gate times %up by silu : tensor<?x?x8xf32> -> tensor<?x?x8xf32>, tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$input,
    Optional<Transformer_Stream>:$up, OptionalAttr<Transformer_ActivationWord>:$function,
    OptionalAttr<F64Attr>:$cap, OptionalAttr<F64Attr>:$low, OptionalAttr<F64Attr>:$high,
    DefaultValuedAttr<F64Attr, "0.0">:$up_offset);
  let results = (outs Variadic<Transformer_Stream>:$results);
  let assemblyFormat = [{
    $gradient `at` $input (`times` $up^)? (`by` $function^)? (`cap` $cap^)?
    (`low` $low^)? (`high` $high^)? (`up_offset` $up_offset^)? attr-dict
    `:` type($gradient) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Transformer_ScaleGradientOp : Transformer_Op<"scale_gradient",
    [SameTypeOperands, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds sum(gradient * input) to the gradient of a learned scale or shift";
  let description = [{
    The sum is over rows; over channels too if the parameter is [1]. An absent input
    counts as ones (a shift).

    Constraints:
    * (C1) the parameter is [1] or [channels].

    ```mlir
    transformer.scale_gradient %g times %x to @gamma : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Optional<Transformer_Stream>:$input,
                       FlatSymbolRefAttr:$scale);
  let assemblyFormat = "$gradient (`times` $input^)? `to` $scale attr-dict `:` type($gradient)";
}

def Transformer_EmbedGradientOp : Transformer_Op<"embed_gradient",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds rows of gradient to the gradients of an embedding's tables";
  let description = [{
    The gradient of row ids_i + offset_i of table_i gets the row of `gradient`, times
    scale for the first table. Rows of the same id are added in their order.

    Constraints:
    * (C1) as many tables and offsets as ids, at least one.
    * (C2) every table is [entries, channels] with the gradient's channels.
    * (C3) all ids have the gradient's leading shape.
    * (C4) scale is finite.

    ```mlir
    transformer.embed_gradient %g to (%ids, %positions) tables [@word, @position] offsets [0, 2]
      : tensor<?x?x8xf32>, (tensor<?x?xi32>, tensor<?x?xi32>)
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Variadic<Transformer_Ids>:$ids,
    TypedArrayAttrBase<FlatSymbolRefAttr, "symbols">:$tables,
    DenseI64ArrayAttr:$offsets, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let assemblyFormat = "$gradient `to` `(` $ids `)` `tables` $tables `offsets` $offsets (`scale` $scale^)? attr-dict `:` type($gradient) `,` `(` type($ids) `)`";
  let hasVerifier = 1;
}

def Transformer_AttendGradientOp : Transformer_Op<"attend_gradient",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     AllTypesMatch<["gradient", "output"]>, AllTypesMatch<["query", "query_gradient"]>,
     AllTypesMatch<["key", "key_gradient"]>, AllTypesMatch<["value", "value_gradient"]>]> {
  let summary = "gradients of query, key and value of attend, and of its biases";
  let description = [{
    `output` is the result of the `attend` that has the same operands and attributes.
    Let p be the weights of a query, s its scores before scale and softcap, and d = gradient
    . output. Then the gradient of a score with its biases is u = p (gradient . value - d),
    value's gradient is the sum of p * gradient over queries and query heads, and query and
    key get u * scale * softcap' times the other. `bias_gradients` lists the biases whose
    gradients are wanted: further results, u summed over the batch's sequences that share
    the bias. The gradients of @sink and @head_scale are added to: -p_sink d, and the sum
    of u * (scaled score before the softcap) * softcap' / head_scale.

    Constraints:
    * (C1) operands and attributes are as attend's, without past.
    * (C2) bias_gradients are numbers of biases in ascending order, and there are as many
      further results, of the types of these biases.

    ```mlir
    %gq, %gk, %gv = transformer.attend_gradient %g of %o at %q, %k, %v key_mask %m heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$output,
    Transformer_Stream:$query, Transformer_Stream:$key,
    Transformer_Stream:$value, Optional<Transformer_Ids>:$key_mask,
    Optional<Transformer_Ids>:$positions, Optional<Transformer_Ids>:$segments,
    Optional<Transformer_Ids>:$prefix,
    Variadic<Transformer_Bias>:$biases, I64Attr:$heads, I64Attr:$kv_heads,
    I64Attr:$head_dim, I64Attr:$value_dim, F64Attr:$scale,
    Transformer_Symbol:$layer_scale, Transformer_Symbol:$head_scale,
    OptionalAttr<Transformer_LengthScaleAttr>:$length_scale,
    Transformer_Symbol:$sink, Transformer_MaskWord:$mask,
    OptionalAttr<DenseI64ArrayAttr>:$window, DefaultValuedAttr<I64Attr, "0">:$chunk,
    DefaultValuedAttr<I64Attr, "1">:$sequences,
    DefaultValuedAttr<I64Attr, "0">:$sequence_tokens,
    DefaultValuedAttr<F64Attr, "0.0">:$softcap,
    OptionalAttr<DenseI64ArrayAttr>:$bias_gradients);
  let results = (outs Transformer_Stream:$query_gradient,
    Transformer_Stream:$key_gradient, Transformer_Stream:$value_gradient,
    Variadic<Transformer_Bias>:$to_biases);
  let assemblyFormat = [{
    $gradient `of` $output `at` $query `,` $key `,` $value
    (`key_mask` $key_mask^ `:` type($key_mask))?
    (`positions` $positions^ `:` type($positions))?
    (`segments` $segments^ `:` type($segments))? (`prefix` $prefix^ `:` type($prefix))?
    (`bias` $biases^ `:` type($biases))? `heads` $heads `kv_heads` $kv_heads
    `head_dim` $head_dim `value_dim` $value_dim `scale` $scale
    (`layer_scale` $layer_scale^)? (`head_scale` $head_scale^)?
    (`length_scale` $length_scale^)? (`sink` $sink^)? `mask` $mask
    (`window` $window^)? (`chunk` $chunk^)? (`sequences` $sequences^)?
    (`sequence_tokens` $sequence_tokens^)? (`softcap` $softcap^)?
    (`bias_gradients` $bias_gradients^ `->` type($to_biases))? attr-dict
    `:` type($gradient) `,` type($query) `,` type($key) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Transformer_PoolGradientOp : Transformer_Op<"pool_gradient",
    [Pure, AttrSizedOperandSegments, AllTypesMatch<["like", "result"]>]> {
  let summary = "gradient of the tokens that pool read";
  let description = [{
    The token that `pool` takes gets the gradient of its sequence, the tokens of a mean get
    their shares; all others get 0. `like` has the pool's tokens.

    Constraints:
    * (C1) gradient is [batch, channels] of like, which is [batch, tokens, channels].
    * (C2) key_mask and ids are [batch, tokens].
    * (C3) ids are given for first_id and highest_id, and for these only.
    * (C4) skip is as that of pool.

    ```mlir
    %gx = transformer.pool_gradient %g like %x by first : tensor<?x8xf32>, tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$like,
    Optional<Transformer_Ids>:$key_mask, Optional<Transformer_Ids>:$ids,
    Transformer_PoolWord:$kind, DefaultValuedAttr<I64Attr, "0">:$skip,
    DefaultValuedAttr<I64Attr, "0">:$id);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$gradient `like` $like (`key_mask` $key_mask^ `:` type($key_mask))? (`ids` $ids^ `:` type($ids))? `by` $kind (`skip` $skip^)? (`id` $id^)? attr-dict `:` type($gradient) `,` type($like)";
  let hasVerifier = 1;
}

def Transformer_DropoutOp : Transformer_Op<"dropout", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "input / (1 - rate), or 0 with the probability rate";
  let description = [{
    Number c of token t of sequence b is kept if word c mod 4 of Philox 4x32-10 of the counter
    (c / 4, (first + b) tokens + t, step, layer) with the key (seed, site) is at least 2^32
    rate (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011). So a mask
    is nowhere kept: the gradient's is the same op. `first` is the number of the run's first
    sequence in the batch, `layer` that of the layer, 2^32 - 1 outside of layers, and
    `site` tells ops apart. In a loop over some layers of a stack `after` counts those
    before them.

    Constraints:
    * (C1) step and first are [1].
    * (C2) 0 <= rate < 1; seed, site and after are >= 0 and below 2^32.

    ```mlir
    %y = transformer.dropout %x step %step first %first rate 0.1 seed 1 site 0
      : tensor<?x?x8xf32>, tensor<1xi32>, tensor<1xi32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, RankedTensorOf<[I32]>:$step,
    RankedTensorOf<[I32]>:$first, F64Attr:$rate, I64Attr:$seed, I64Attr:$site,
    DefaultValuedAttr<I64Attr, "0">:$after);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `step` $step `first` $first `rate` $rate `seed` $seed `site` $site (`after` $after^)? attr-dict `:` type($input) `,` type($step) `,` type($first)";
  let hasVerifier = 1;
}

def Transformer_SaveOp : Transformer_Op<"save", []> {
  let summary = "saves a value of the forward pass for the backward pass";
  let description = [{
    In a body of `layers` there is one value for each layer. A name is saved once in the
    function, or once in each of several bodies of one `layers`.

    Constraints:
    * (C1) in `layers`, the name is one of its `saves`.

    ```mlir
    transformer.save %x as "ffn.in" : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, StrAttr:$name);
  let assemblyFormat = "$value `as` $name attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Transformer_SavedOp : Transformer_Op<"saved", []> {
  let summary = "a value that `save` has saved, of the same layer";
  let description = [{
    In a body of `layers ... reverse` it is the value that the layer of the same number
    saved.

    Verifier: none, that of `model` looks for the save.

    ```mlir
    %x = transformer.saved "ffn.in" : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Transformer_CollectOp : Transformer_Op<"collect", []> {
  let summary = "adds a value to the sum of that name";
  let description = [{
    A sum over layers: the gradient of what all layers of a stack read, or what a loss reads
    of all layers. It begins at 0 in each run, and has the rows of `like`, a value from
    outside of the layers. The model's verifier compares names and types.

    Constraints:
    * (C1) value has the leading shape of like.

    ```mlir
    transformer.collect %g like %x into "encoder" : tensor<?x?x8xf32>, tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$value, Transformer_Stream:$like, StrAttr:$name);
  let assemblyFormat = "$value `like` $like `into` $name attr-dict `:` type($value) `,` type($like)";
  let hasVerifier = 1;
}

def Transformer_CollectedOp : Transformer_Op<"collected", []> {
  let summary = "the sum of what `collect` has added so far";
  let description = [{
    The model's verifier looks for what was added.

    Constraints:
    * (C1) the result has the leading shape of like.

    ```mlir
    %g = transformer.collected "encoder" like %x : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Transformer_Stream:$like);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$name `like` $like attr-dict `:` type($like) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_BiasGradientOp : Transformer_Op<"bias_gradient",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds to the gradient of the table of distance_bias or pair_bias";
  let description = [{
    Each row of the table gets the sum over the pairs of tokens that read it, and over
    the batch, as `buckets` (distance_bias) or `index` (pair_bias) says.

    Constraints:
    * (C1) either buckets, an odd number of them, or index, n * n with n the tokens of
      gradient.
    * (C2) table is [entries, heads] with gradient's heads; all entries are rows of it.

    ```mlir
    transformer.bias_gradient %g to @rel buckets [0, 1, 2] : tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Bias:$gradient, FlatSymbolRefAttr:$table,
    OptionalAttr<DenseI64ArrayAttr>:$buckets, OptionalAttr<DenseI64ArrayAttr>:$index);
  let assemblyFormat = "$gradient `to` $table (`buckets` $buckets^)? (`index` $index^)? attr-dict `:` type($gradient)";
  let hasVerifier = 1;
}

def Transformer_KeyHeadGradientOp : Transformer_Op<"key_head_gradient", [Pure]> {
  let summary = "gradient of the input of key_head_bias";
  let description = [{
    The sum of gradient over queries, and over the heads that read a channel.

    Constraints:
    * (C1) gradient and result are as the result and the input of key_head_bias.

    ```mlir
    %gx = transformer.key_head_gradient %g : tensor<?x2x?x?xf32> -> tensor<?x?x2xf32>
    ```
  }];
  let arguments = (ins Transformer_Bias:$gradient);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$gradient attr-dict `:` type($gradient) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_ConstantGradientOp : Transformer_Op<"constant_gradient",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds the sum over the batch to the gradient of a constant";
  let description = [{
    Constraints:
    * (C1) the parameter is [n, channels] of gradient.

    ```mlir
    transformer.constant_gradient %g to @probe : tensor<?x1x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, FlatSymbolRefAttr:$value);
  let assemblyFormat = "$gradient `to` $value attr-dict `:` type($gradient)";
}

def Transformer_ReverseTokensOp : Transformer_Op<"reverse_tokens",
    [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "the tokens of each sequence from the last to the first";
  let description = [{
    Row t of a sequence of n is row n - 1 - t of the input, or 0 where its own key_mask is 0.
    What looks back on reversed tokens looks ahead: so are gradients of linear attention made.

    Constraints:
    * (C1) input is [batch, tokens, channels], key_mask [batch, tokens].

    ```mlir
    %r = transformer.reverse_tokens %x : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Optional<Transformer_Ids>:$key_mask);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input (`key_mask` $key_mask^ `:` type($key_mask))? attr-dict `:` type($input)";
  let hasVerifier = 1;
}
#endif

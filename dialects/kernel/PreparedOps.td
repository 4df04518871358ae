// The ops that the runtime computes without a generated kernel, once per run or
// between kernels. They are serial or bound by memory.
#ifndef MILLE_KERNEL_PREPARED_OPS
#define MILLE_KERNEL_PREPARED_OPS
include "dialects/kernel/ImageOps.td"

def Kernel_RotationOp : Kernel_PreparedOp<"rotation"> {
  let summary = "positions [rows] -> factor * cos | factor * sin of position * frequency";
  let description = [{
    The out is [rows, 2n]: n cosines, then n sines. `long` works as in
    transformer.rotate and is decided by the run's largest position.

    Constraints:
    * (C1) the out has 2n columns, n = number of frequencies.
    * (C2) `long` has as many frequencies.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Integers:$positions, DenseF64ArrayAttr:$frequencies,
                       F64Attr:$factor, OptionalAttr<Kernel_LongContext>:$long_context,
                       Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$positions `frequencies` custom<Numbers>($frequencies) `factor` $factor (`long` $long_context^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($positions) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_AlibiOp : Kernel_PreparedOp<"alibi", [Kernel_TokenLocal]> {
  let summary = "positions [rows] -> factor * bf16(bf16(slope) * position), [rows, heads]";
  let description = [{
    Constraints:
    * (C1) the out has as many columns as there are slopes.
    * (C2) slopes and factor are finite.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: the two roundings to bf16 are part of the formula; the result is rounded to
    f32 once.

    ```mlir
    %b = kernel.alibi %positions slopes [0.5, 0.25] factor 0.5 outs(%o : tensor<?x2xf32>) : tensor<?xi32> -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Kernel_Integers:$positions, DenseF64ArrayAttr:$slopes,
                       F64Attr:$factor, Kernel_FloatRows:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$positions `slopes` custom<Numbers>($slopes) `factor` $factor `outs` `(` $out `:` type($out) `)` attr-dict `:` type($positions) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_QueryScaleOp : Kernel_PreparedOp<"query_scale", [AttrSizedOperandSegments]> {
  let summary = "a factor per query from a transformer.length_scale, [rows, 1]";
  let description = [{
    positions (for log_floor) and key_mask (for log_keys) are i32 [rows], with `tokens`
    rows per sequence. causal and window say which keys a query sees. With `past`, i32
    [batch], the mask is a state with `tokens` rows per sequence, and query t is token
    past[b] + t.

    Constraints:
    * (C1) positions are present for log_floor, and for no other kind.
    * (C2) key_mask is present for log_keys only.
    * (C3) window is absent or two numbers >= 0.
    * (C4) a result for each outs on tensors, none on memrefs.
    * (C5) past goes with causal if keys are counted.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %s = kernel.query_scale key_mask %m : tensor<?xi32> tokens %t scale <log_keys, base = 512.0, floor = 16.0> causal true outs(%o : tensor<?x1xf32>) -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins Optional<Kernel_Integers>:$positions, Optional<Kernel_Integers>:$key_mask,
    Optional<Kernel_Integers>:$past, Index:$tokens, Kernel_LengthScale:$scale, BoolAttr:$causal,
    OptionalAttr<DenseI64ArrayAttr>:$window, Kernel_FloatColumn:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    (`positions` $positions^ `:` type($positions))? (`key_mask` $key_mask^ `:` type($key_mask))?
    (`past` $past^ `:` type($past))? `tokens` $tokens `scale` $scale `causal` $causal (`window` $window^)?
    `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_TokenNumbersOp : Kernel_PreparedOp<"token_numbers"> {
  let summary = "the same numbers for every sequence: i32 [batch * n]";
  let description = [{
    Constraints:
    * (C1) there is a number, and each is an i32.
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %p = kernel.token_numbers [0, 1, 2] outs(%o : tensor<?xi32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$numbers, Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$numbers `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_ShiftOp : Kernel_PreparedOp<"shift", [Kernel_TokenLocal]> {
  let summary = "ids + a number: i32 [rows]";
  let description = [{
    The rows of a part of a table as rows of the whole table.

    Constraints:
    * (C1) the number is an i32.
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %p = kernel.shift %ids by 2 outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Kernel_Integers:$ids, I64Attr:$number, Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$ids `by` $number `outs` `(` $out `:` type($out) `)` attr-dict `:` type($ids) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_CountTokensOp : Kernel_PreparedOp<"count_tokens"> {
  let summary = "i32 [rows] -> 1, 2, ... for the tokens that count in each sequence, 0 for others";
  let description = [{
    As transformer.count_tokens: a token counts if its id is not `padding`, or, without
    `padding`, not 0. The tokens that count get floor(n / each), where n counts from
    `first`. With `past`, i32 [batch], the ids are a state with `tokens` rows per
    sequence, and the out has a row for each token of the run.

    Constraints:
    * (C1) first >= 0, each > 0; these and padding are i32.
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %p = kernel.count_tokens %ids tokens %t padding 1 outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Kernel_Integers:$ids, Optional<Kernel_Integers>:$past,
    Index:$tokens, OptionalAttr<I64Attr>:$padding,
    DefaultValuedAttr<I64Attr, "1">:$first, DefaultValuedAttr<I64Attr, "1">:$each,
    Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$ids (`past` $past^ `:` type($past))? `tokens` $tokens (`padding` $padding^)? (`first` $first^)? (`each` $each^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($ids) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_GatherTokensOp : Kernel_PreparedOp<"gather_tokens"> {
  let summary = "tokens of each sequence in another order, `group` side by side";
  let description = [{
    As transformer.gather_tokens: the input is [batch * tokens, parts * N], the out
    [batch * m, group * N], and index has m * group entries.

    Constraints:
    * (C1) group, parts and tokens are > 0; index has some multiple of group entries,
      from -1 to tokens * parts - 1.
    * (C2) parts divides the input's columns; the out has group * N columns.
    * (C3) a result for each outs on tensors, none on memrefs.

    ```mlir
    %y = kernel.gather_tokens %x index [1, 0] group 1 tokens 2 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, DenseI64ArrayAttr:$index, I64Attr:$group,
                       I64Attr:$tokens, Kernel_Buffer:$out,
                       DefaultValuedAttr<I64Attr, "1">:$parts);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input `index` $index `group` $group (`parts` $parts^)? `tokens` $tokens `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_SimilarityOp : Kernel_OutputOp<"similarity"> {
  let summary = "left * right^T over the batch: an output [batch, batch]";
  let description = [{
    The op names the output that it writes, since a buffer cannot have a run-time
    number of columns.

    Constraints:
    * (C1) left and right have the same columns.
    * (C2) name is not empty.

    Accuracy: as if summed in double, rounded to f32 once.

    ```mlir
    kernel.similarity %a, %b as "logits_per_text" : tensor<?x8xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_FloatRows:$left, Kernel_FloatRows:$right, StrAttr:$name);
  let assemblyFormat = "$left `,` $right `as` $name attr-dict `:` type($left) `,` type($right)";
  let hasVerifier = 1;
}

def Kernel_RouteOp : Kernel_PreparedOp<"route",
    [AttrSizedOperandSegments, Kernel_TokenLocal], "getOutsMutable()"> {
  let summary = "router logits -> each row's experts and weights, rows sorted by expert";
  let description = [{
    As transformer.route. weights is [rows, k]. Slot m * k + j is expert j of row m. The
    slots are sorted by expert, then by slot. order [rows * k] holds the row of each
    sorted place, place [rows * k] the sorted place of each slot, and starts [entries + 1]
    the first place of each expert. The router's attributes are those of the transformer
    op.

    Constraints:
    * (C1) logits is [?, entries], weights [?, k], order and place i32 [?], starts
      i32 [entries + 1].
    * (C2) selection_bias is [entries].
    * (C3) results for the outs on tensors, none on memrefs.
    * (C4) k, groups and top_groups as C1 of transformer.route; factor and epsilon
      are finite, epsilon >= 0.

    Accuracy: scores and weights are computed in double on the CPU, in f32 on a device;
    weights are rounded to f32 once.

    ```mlir
    %w, %o, %p, %s = kernel.route %l outs(%a, %b, %c, %d : tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>)
      k 2 score softmax groups 1 top_groups 1 group_score max renormalised true softmax_chosen false epsilon 0.0 factor 1.0
      : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$logits, Optional<Kernel_Buffer>:$selection_bias,
    Variadic<Kernel_Buffer>:$outs, I64Attr:$k, Transformer_RouterScoreWord:$score,
    I64Attr:$groups, I64Attr:$top_groups, Transformer_GroupScoreWord:$group_score, BoolAttr:$renormalised,
    BoolAttr:$softmax_chosen, F64Attr:$epsilon, F64Attr:$factor);
  let results = (outs Variadic<AnyRankedTensor>:$outcomes);
  let assemblyFormat = [{
    $logits (`selection_bias` $selection_bias^ `:` type($selection_bias))?
    `outs` `(` $outs `:` type($outs) `)` `k` $k `score` $score `groups` $groups
    `top_groups` $top_groups `group_score` $group_score `renormalised` $renormalised
    `softmax_chosen` $softmax_chosen `epsilon` $epsilon `factor` $factor attr-dict
    `:` type($logits) (`->` type($outcomes)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_ScheduleOp : Kernel_PreparedOp<"schedule"> {
  let summary = "step [1] -> from + (to - from) * min(step, steps) / steps, [1]";
  let description = [{
    An application may set another number for `name` (mille_session_set_scale).

    Constraints:
    * (C1) name is not empty.
    * (C2) steps > 0; from and to are finite.
    * (C3) step is i32 [1], the out f32 [1].
    * (C4) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %s = kernel.schedule "branch_scale" of %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Kernel_Integers:$step, F64Attr:$from,
                       F64Attr:$to, I64Attr:$steps, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$name `of` $step `from` $from `to` $to `over` $steps `outs` `(` $out `:` type($out) `)` attr-dict `:` type($step) (`->` type($result)^)?";
}

def Kernel_PoolIndexOp : Kernel_PreparedOp<"pool_index"> {
  let summary = "for each sequence the row of one of its tokens";
  let description = [{
    `kind` is as in transformer.pool: first (token number skip), last, first_id or
    highest_id. mask holds the mask or the ids, i32 [batch * tokens]; an absent mask is
    all ones. The out is i32 [batch].

    Constraints:
    * (C1) kind is not mean; first_id and highest_id have ids.
    * (C2) skip >= 0, and 0 unless kind is first; id is an i32.
    * (C3) a result for each outs on tensors, none on memrefs.

    ```mlir
    %i = kernel.pool_index of %mask : tensor<?xi32> tokens %t kind last skip 0 id 0 outs(%o : tensor<?xi32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Optional<Kernel_Integers>:$mask, Index:$tokens,
                       Transformer_PoolWord:$kind, I64Attr:$skip, I64Attr:$id,
                       Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "(`of` $mask^ `:` type($mask))? `tokens` $tokens `kind` $kind `skip` $skip `id` $id `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_PoolMeanOp : Kernel_PreparedOp<"pool_mean"> {
  let summary = "mean over the unmasked tokens of each sequence, from `skip` on";
  let description = [{
    input is [batch * tokens, N], key_mask i32 [batch * tokens] or absent, which means
    all ones. The out is [batch, N].

    Constraints:
    * (C1) input and out have the same columns.
    * (C2) skip >= 0.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: as if summed in double, rounded to f32 once.

    ```mlir
    %p = kernel.pool_mean %x key_mask %m : tensor<?xi32> tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_FloatRows:$input, Optional<Kernel_Integers>:$key_mask, Index:$tokens,
                       DefaultValuedAttr<I64Attr, "0">:$skip, Kernel_FloatRows:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input (`key_mask` $key_mask^ `:` type($key_mask))? `tokens` $tokens (`skip` $skip^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_RecallOp : Kernel_Op<"recall", [Pure]> {
  let summary = "the rows of entry `index` (+ layer, in a body) of a state";
  let description = [{
    A state is an argument of the entry with `transformer.state`, [entries, rows,
    columns] or, for ids, [entries, rows]. The result is the memory of the state's entry:
    if an op writes to it as a destination, the next run finds that.

    Constraints:
    * (C1) the state's shape is [entries] followed by the result's shape.
    * (C2) 0 <= index, and index < entries if the op is not in `layers`.
    * (C3) the state is an argument of the entry, with `transformer.state`.

    ```mlir
    %held = kernel.recall 1 of %keys rows %rows : tensor<2x?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$state, Index:$rows, I64Attr:$index);
  let results = (outs Kernel_Buffer:$result);
  let assemblyFormat = "$index `of` $state `rows` $rows attr-dict `:` type($state) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_RememberOp : Kernel_PreparedOp<"remember", [Kernel_TokenLocal]> {
  let summary = "appends the rows of the run's tokens to a state";
  let description = [{
    The destination is a result of `recall`, with `rows` rows per sequence. Row
    past[s] + t of sequence s becomes the input's row of token t; other rows stay. Without
    `past` it is row t, and the tokens may be those of a fixed number of rows.

    With `panels`, the columns are `heads` heads, and a sequence's memory is one head
    after the other, laid out as decode attention reads it (runtime/StatePanels.h): keys
    in panels of 16 rows, one row per lane; values in panels of columns. Two bf16 that
    one multiply-add takes (columns of a key, or rows of a value) lie side by side.

    Outs of i8 hold each row of a head as integers from -127 to 127 and a step in f32,
    which has four columns more; outs of f16 beside a wider input hold rounded numbers, and
    have no pairs.

    Constraints:
    * (C1) input and outs have the same columns and elements, unless outs is i8 or, with
      the same columns, f16.
    * (C2) outs is a result of `recall`.
    * (C3) a result for each outs on tensors, none on memrefs.
    * (C4) panels and heads go together; columns are a multiple of heads > 0.
    * (C5) i8, and f16 of another input, go with panels and an input of f32 or bf16, i8 with heads of keys
      whose columns are a multiple of 4; its outs has the columns of the input and of the
      steps.

    ```mlir
    %all = kernel.remember %k past %past : tensor<?xi32> rows %context outs(%held : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Optional<Kernel_Integers>:$past, Index:$rows,
                       Kernel_Buffer:$out, OptionalAttr<Kernel_StatePanelsAttr>:$panels,
                       OptionalAttr<I64Attr>:$heads);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input (`past` $past^ `:` type($past))? `rows` $rows (`panels` $panels^)? (`heads` $heads^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_PositionsOp : Kernel_PreparedOp<"positions", [Kernel_TokenLocal]> {
  let summary = "past [batch] -> past + the token's number, i32 [rows]";
  let description = [{
    Constraints:
    * (C1) a result for each outs on tensors, none on memrefs.

    ```mlir
    %p = kernel.positions %past outs(%o : tensor<?xi32>) : tensor<?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Kernel_Integers:$past, Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$past `outs` `(` $out `:` type($out) `)` attr-dict `:` type($past) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_LinearRecurrenceOp : Kernel_PreparedOp<"linear_recurrence",
    [AttrSizedOperandSegments, Kernel_TokenLocal], "getOutsMutable()"> {
  let summary = "linear attention whose sums are a state";
  let description = [{
    As linear_attention, token by token. The first out is a result of `recall`,
    [sequences * heads * head_dim, value_dim], whose sums start at 0 if past[s] is 0. The
    second is [rows, heads * value_dim]. Its rows after the last unmasked token are 0.

    Constraints:
    * (C1) two outs with these columns; the first is a result of `recall`.
    * (C2) as C1 to C4 of linear_attention.
    * (C3) results for the outs on tensors, none on memrefs.

    Accuracy: as linear_attention; each token's sums round once.

    ```mlir
    %s, %y = kernel.linear_recurrence %q, %k, %v decay %d : tensor<2xf32> past %past : tensor<?xi32>
      outs(%held, %o : tensor<?x4xf32>, tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
      : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x4xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_FloatRows:$query, Kernel_FloatRows:$key, Kernel_FloatRows:$value,
    Optional<Kernel_Integers>:$key_mask, Kernel_Buffer:$decay, Kernel_Integers:$past,
    Variadic<Kernel_FloatRows>:$outs,
    I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
    DenseI64ArrayAttr:$offsets, F64Attr:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$outcomes);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_mask` $key_mask^ `:` type($key_mask))?
    `decay` $decay `:` type($decay) `past` $past `:` type($past)
    `outs` `(` $outs `:` type($outs) `)`
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `offsets` $offsets `scale` $scale attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`->` type($outcomes)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_KeepOp : Kernel_OutputOp<"keep", [Kernel_TokenLocal]> {
  let summary = "copies rows to entry `index` (+ layer, in a body) of output `name`";
  let description = [{
    Constraints:
    * (C1) index >= 0.
    * (C2) name is not empty.
    * (C3) the input is f32 on tensors; after planning it may also be i32.

    ```mlir
    kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Kernel_FloatRows, Kernel_Integers]>:$input,
                       StrAttr:$name, I64Attr:$index);
  let assemblyFormat = "$input `as` $name `index` $index attr-dict `:` type($input)";
  let hasVerifier = 1;
}
#endif

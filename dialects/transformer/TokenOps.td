// Ops that choose, move and make tokens: experts, patches, windows, pooling.
#ifndef MILLE_TRANSFORMER_TOKEN_OPS
#define MILLE_TRANSFORMER_TOKEN_OPS
include "dialects/transformer/TransformerTypes.td"

def Transformer_RouteOp : Transformer_Op<"route",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the k experts of each row, and their weights";
  let description = [{
    scores = softmax or sigmoid of the logits [.., entries]. The op chooses the k
    entries with the largest score + selection_bias; of equal ones, the one with the
    smaller number. If `groups` > 1, it chooses only among the top_groups groups of
    consecutive entries with the largest group_score (max, or the sum of the two
    largest). The weights are the scores; with `renormalised` they are divided by (their
    sum + epsilon), and with `softmax_chosen` they are a softmax over the k logits
    instead. Then they are multiplied by `factor`. experts is i32 and weights f32, both
    [.., k], the largest score first.

    Constraints:
    * (C1) entries is fixed, 0 < k <= entries; groups > 0 divides entries; 0 <
      top_groups <= groups, with k experts or more in them.
    * (C2) experts and weights have the logits' leading shape and k entries.
    * (C3) selection_bias is [entries].
    * (C4) factor and epsilon are finite; epsilon >= 0.

    ```mlir
    %e, %w = transformer.route %logits k 2 score softmax renormalised true : tensor<?x?x8xf32> -> tensor<?x?x2xi32>, tensor<?x?x2xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$logits, I64Attr:$k,
    Transformer_RouterScoreWord:$score, Transformer_Symbol:$selection_bias,
    DefaultValuedAttr<I64Attr, "1">:$groups, DefaultValuedAttr<I64Attr, "1">:$top_groups,
    DefaultValuedAttr<Transformer_GroupScoreWord, "::mille::transformer::GroupScore::max">:$group_score,
    DefaultValuedAttr<BoolAttr, "false">:$renormalised,
    DefaultValuedAttr<BoolAttr, "false">:$softmax_chosen,
    DefaultValuedAttr<F64Attr, "0.0">:$epsilon, DefaultValuedAttr<F64Attr, "1.0">:$factor);
  let results = (outs Transformer_Ids:$experts, Transformer_Stream:$weights);
  let assemblyFormat = [{
    $logits `k` $k `score` $score (`selection_bias` $selection_bias^)?
    (`groups` $groups^)? (`top_groups` $top_groups^)? (`group_score` $group_score^)?
    (`renormalised` $renormalised^)? (`softmax_chosen` $softmax_chosen^)?
    (`epsilon` $epsilon^)? (`factor` $factor^)? attr-dict
    `:` type($logits) `->` type($experts) `,` type($weights)
  }];
  let hasVerifier = 1;
}

def Transformer_DispatchOp : Transformer_Op<"dispatch", [Pure]> {
  let summary = "copies each row for each of its experts, times the weight if given";
  let description = [{
    [batch, tokens, channels] -> [batch, tokens, k, channels].

    Constraints:
    * (C1) the result is [batch, tokens, k, channels]; experts is [batch, tokens,
      k]; k is fixed.
    * (C2) weights are as experts.

    ```mlir
    %y = transformer.dispatch %x to %e : tensor<?x?x8xf32>, tensor<?x?x2xi32> -> tensor<?x?x2x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Transformer_Ids:$experts,
                       Optional<Transformer_Stream>:$weights);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `to` $experts (`times` $weights^ `:` type($weights))? attr-dict `:` type($input) `,` type($experts) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_CombineOp : Transformer_Op<"combine", [Pure]> {
  let summary = "sums the results of a row's experts, times their weights if given";
  let description = [{
    [batch, tokens, k, channels] -> [batch, tokens, channels], in the order of k.

    Constraints:
    * (C1) input is [batch, tokens, k, channels], the result [batch, tokens,
      channels]; k is fixed.
    * (C2) weights are [batch, tokens, k].

    ```mlir
    %y = transformer.combine %x times %w : tensor<?x?x2xf32> : tensor<?x?x2x8xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Optional<Transformer_Stream>:$weights);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input (`times` $weights^ `:` type($weights))? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PatchesOp : Transformer_Op<"patches", [Pure]> {
  let summary = "an image's patches as tokens, for a convolution (im2col)";
  let description = [{
    [batch, c, h, w] -> [batch, prefix + oh * ow, c * kh * kw]. A spectrogram
    [batch, c, w] counts as h = 1. Token prefix + y * ow + x holds the elements
    (ch, dy, dx) of the patch at (y * stride - padding, x * stride - padding); elements
    outside the image are 0. The first `prefix` tokens (CLS, registers) are zeros.

    Constraints:
    * (C1) the input is f32 [batch, c, h, w] or [batch, c, w], all but batch fixed. h and
      w may be sizes of an input with `transformer.grid`, whose patch is kernel and
      stride, without padding, and whose prefix is the op's.
    * (C2) kernel, stride and padding are two numbers each, > 0 (padding >= 0);
      prefix >= 0.
    * (C3) the padded image holds a kernel; the result is [batch, prefix + oh * ow,
      c * kh * kw].

    ```mlir
    %p = transformer.patches %image kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$pixels, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DefaultValuedAttr<I64Attr, "0">:$prefix);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$pixels `kernel` $kernel `stride` $stride `padding` $padding (`prefix` $prefix^)? attr-dict `:` type($pixels) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PatchTableOp : Transformer_Op<"patch_table",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "rows of tables for the tokens of an image, resized to its grid";
  let description = [{
    [batch, c, h, w] -> [batch, prefix + rows * columns, channels], the same for every
    image: base[t] + table[t] for token t < prefix, and base[prefix] + resized[p] for
    patch p. An absent table counts as zeros. The first `placed` rows of `table` belong to
    the first tokens; the others are the grid `own`, row by row, which is resized to the
    image's h / patch[0] rows and w / patch[1] columns, rounded down. Reads the sizes of
    `pixels` only.

    Resized is, for output row y of n rows and a grid of m rows (columns likewise, the
    product of both), a sum over rows r of grid[r] * weight. Let s = m / n and c = (y +
    1/2) s - 1/2.
    bicubic: r = floor(c) - 1 to floor(c) + 2, each cut to the grid, weight k(c - r) with
    a = -3/4.
    bicubic_antialiased: the rows r with |c - r| < 2 z, z = max(s, 1), weight
    k((c - r) / z) with a = -1/2, divided by the sum of the weights.
    k(x) = (a + 2)|x|^3 - (a + 3)|x|^2 + 1 for |x| <= 1, a (|x|^3 - 5|x|^2 + 8|x| - 4) for
    1 < |x| < 2, else 0.

    Constraints:
    * (C1) pixels are [batch, c, h, w], c fixed; if h and w are not, they are an input with
      `transformer.grid`, of the same patch and prefix.
    * (C2) patch is two numbers > 0; 0 <= placed <= prefix; all are below 2^31.
    * (C3) base or table is present; base is [prefix + 1, channels].
    * (C4) own and resize go with table, which is [placed + own[0] * own[1], channels];
      placed is 0 without it.
    * (C5) the result is [batch, prefix + rows * columns, channels].

    ```mlir
    %t = transformer.patch_table of %image patch [4, 4] prefix 1 base @cls table @position own [3, 3] placed 1 resize bicubic
      : tensor<?x3x8x8xf32> -> tensor<?x5x48xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$pixels, DenseI64ArrayAttr:$patch,
    DefaultValuedAttr<I64Attr, "0">:$prefix, Transformer_Symbol:$base,
    Transformer_Symbol:$table, OptionalAttr<DenseI64ArrayAttr>:$own,
    DefaultValuedAttr<I64Attr, "0">:$placed, OptionalAttr<Transformer_ResizeWord>:$resize);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "`of` $pixels `patch` $patch (`prefix` $prefix^)? (`base` $base^)? (`table` $table^)? (`own` $own^)? (`placed` $placed^)? (`resize` $resize^)? attr-dict `:` type($pixels) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_MovePatchesOp : Transformer_Op<"move_patches", [Pure]> {
  let summary = "an image's tokens into windows, back, or four side by side";
  let description = [{
    A token is side[0] x side[1] pixels: the image has h / side[0] rows of w / side[1]
    tokens, rounded up.
    into_windows: the rows and columns are padded with zeros, at their ends, to multiples
    of `size`; then the token at row y, column x moves to row y - shift, column x - shift,
    around the edges. The result is window by window, each row by row. Where the image has
    no more than `size` rows or columns, shift counts as 0.
    out_of_windows: the inverse.
    merge: for each square of 2 x 2 tokens, row by row, its four tokens side by side:
    upper left, lower left, upper right, lower right; zeros outside of the image.

    Constraints:
    * (C1) pixels are an input with `transformer.grid`.
    * (C2) side is two numbers > 0; 0 <= shift < size, or both are 0 for merge; all are
      below 2^15.
    * (C3) the grid has a part for the result's tokens: size * size tokens of a window,
      one token of side, or one of twice the side.
    * (C4) the result is [batch, tokens, c], c the input's channels, four times for merge;
      both have run-time tokens.

    ```mlir
    %y = transformer.move_patches %x of %image move into_windows side [4, 4] size 7 shift 3
      : tensor<?x?x8xf32>, tensor<?x3x?x?xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, RankedTensorOf<[F32]>:$pixels,
    Transformer_MoveWord:$move, DenseI64ArrayAttr:$side,
    DefaultValuedAttr<I64Attr, "0">:$size, DefaultValuedAttr<I64Attr, "0">:$shift);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `of` $pixels `move` $move `side` $side (`size` $size^)? (`shift` $shift^)? attr-dict `:` type($input) `,` type($pixels) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_WindowSegmentsOp : Transformer_Op<"window_segments", [Pure]> {
  let summary = "which tokens of a window were neighbours before the shift";
  let description = [{
    [batch, c, h, w] -> i32 [batch, tokens], a number for each place of the windows that
    move_patches makes: 3 r + k, where r is 0 for the rows before the last window, 1 for
    its first size - shift rows and 2 for the others, and k the same of the columns. All
    numbers are 0 where nothing shifts.

    Constraints:
    * (C1) pixels are an input with `transformer.grid`.
    * (C2) side is two numbers > 0; 0 <= shift < size; all are below 2^15.
    * (C3) the grid has a part for the tokens of the windows.
    * (C4) the result is [batch, tokens], run-time tokens.

    ```mlir
    %s = transformer.window_segments of %image side [4, 4] size 7 shift 3 : tensor<?x3x?x?xf32> -> tensor<?x?xi32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$pixels, DenseI64ArrayAttr:$side,
    I64Attr:$size, DefaultValuedAttr<I64Attr, "0">:$shift);
  let results = (outs Transformer_Ids:$result);
  let assemblyFormat = "`of` $pixels `side` $side `size` $size (`shift` $shift^)? attr-dict `:` type($pixels) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_GatherTokensOp : Transformer_Op<"gather_tokens", [Pure]> {
  let summary = "puts tokens in another order, `group` of them side by side";
  let description = [{
    [batch, n, parts * c] -> [batch, m, group * c]: part g of token t is part index[t *
    group + g] of the input, counted token by token, or zeros if that is -1. Used for
    window shift and partition, patch merging and convolution over tokens; with `parts`
    for the gradient of these.

    Constraints:
    * (C1) n and m are fixed; index has m * group entries from -1 to n * parts - 1.
    * (C2) the result is [batch, m, group * c], c fixed; parts divides the input's
      channels.

    ```mlir
    %y = transformer.gather_tokens %x index [1, 0] group 1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, DenseI64ArrayAttr:$index, I64Attr:$group,
                       DefaultValuedAttr<I64Attr, "1">:$parts);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `index` $index `group` $group (`parts` $parts^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_TokenNumbersOp : Transformer_Op<"token_numbers", [Pure]> {
  let summary = "the same numbers for every batch entry, one per token";
  let description = [{
    Used for positions of patches and segments of windows.

    Constraints:
    * (C1) the result is i32 [batch, n], n = how many numbers there are; each
      fits i32.

    ```mlir
    %p = transformer.token_numbers %x [0, 1, 2] : tensor<?x3x8xf32> -> tensor<?x3xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$like, DenseI64ArrayAttr:$numbers);
  let results = (outs Transformer_Ids:$result);
  let assemblyFormat = "$like $numbers attr-dict `:` type($like) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_CountTokensOp : Transformer_Op<"count_tokens",
    [Pure, AllTypesMatch<["ids", "result"]>]> {
  let summary = "positions of the tokens that are no padding: 1, 2, ..., 0 for the others";
  let description = [{
    A token counts if its id is not `padding` (RoBERTa, M2M-100), or, without `padding`,
    if ids (a mask) is not 0 (OPT). The tokens that count get floor(n / each), where n
    counts from `first`, so that `each` of them form a group. With `past` the ids come
    from a state, and the result has the numbers of the run's tokens, from past[b] on.

    Constraints:
    * (C1) first >= 0, each > 0.
    * (C2) past is i32 [batch].

    ```mlir
    %p = transformer.count_tokens %ids padding 1 : tensor<?x?xi32>
    %chunks = transformer.count_tokens %mask first 0 each 4 : tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Transformer_Ids:$ids, Optional<Transformer_Ids>:$past,
    OptionalAttr<I64Attr>:$padding,
    DefaultValuedAttr<I64Attr, "1">:$first, DefaultValuedAttr<I64Attr, "1">:$each);
  let results = (outs Transformer_Ids:$result);
  let assemblyFormat = "$ids (`past` $past^ `:` type($past))? (`padding` $padding^)? (`first` $first^)? (`each` $each^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_ConstantOp : Transformer_Op<"constant",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a parameter as every batch entry's tokens: a probe, a query";
  let description = [{
    [n, channels] -> [batch, n, channels].

    Constraints:
    * (C1) the parameter is [n, channels] of the result.

    ```mlir
    %p = transformer.constant @probe for %x : tensor<?x?x8xf32> -> tensor<?x1x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$value, Transformer_Stream:$like);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$value `for` $like attr-dict `:` type($like) `->` type($result)";
}

def Transformer_SimilarityOp : Transformer_Op<"similarity", [Pure]> {
  let summary = "left * right^T over the batch: [batch, c] twice -> [batch, batch]";
  let description = [{
    Constraints:
    * (C1) both have the same channels; the result is [batch, batch].

    ```mlir
    %s = transformer.similarity %a, %b : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$left, Transformer_Stream:$right);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `,` type($right) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PoolOp : Transformer_Op<"pool", [Pure, AttrSizedOperandSegments]> {
  let summary = "one vector per sequence: one of its tokens, or their mean";
  let description = [{
    first: token number `skip`. last: the last unmasked token. mean: the mean of the
    unmasked tokens from `skip` on. first_id: the first token with the id `id`, or token 0
    if there is none. highest_id: the first token with the largest id.

    Constraints:
    * (C1) the result is [batch, channels].
    * (C2) key_mask and ids are [batch, tokens].
    * (C3) ids are given for first_id and highest_id, and for these only.
    * (C4) skip >= 0, and 0 but for first and mean; less than the tokens where
      they are fixed.

    ```mlir
    %p = transformer.pool %x by first : tensor<?x?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Optional<Transformer_Ids>:$key_mask,
                       Optional<Transformer_Ids>:$ids, Transformer_PoolWord:$kind,
                       DefaultValuedAttr<I64Attr, "0">:$skip,
                       DefaultValuedAttr<I64Attr, "0">:$id);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input (`key_mask` $key_mask^ `:` type($key_mask))? (`ids` $ids^ `:` type($ids))? `by` $kind (`skip` $skip^)? (`id` $id^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
#endif

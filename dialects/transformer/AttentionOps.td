// Attention: rotation, biases, softmax and linear attention.
#ifndef MILLE_TRANSFORMER_ATTENTION_OPS
#define MILLE_TRANSFORMER_ATTENTION_OPS
include "dialects/transformer/TransformerTypes.td"

def Transformer_RotateOp : Transformer_Op<"rotate",
    [Pure, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "RoPE: pairs of each head turn by position * frequency";
  let description = [{
    (a, b) -> f (a cos t - b sin t, b cos t + a sin t), t = position *
    frequencies[i], f = attention_factor; negative frequencies turn backwards.
    Let s = start and n be the number of frequencies. Pair i of a head is (s + i, s +
    i + n) for half, and (s + 2i, s + 2i + 1) for interleaved; other dimensions are
    copied. A `table`, [positions, 2n], replaces the frequencies (2-D axes): row p holds
    the n cosines, then the n sines. Positions that are f32 [.., 2n] are these rows
    themselves. `long` gives the frequencies for long runs.

    Constraints:
    * (C1) channels = heads * head_dim.
    * (C2) start >= 0, start + 2n <= head_dim (also of a table's), and n is at
      least 1.
    * (C3) positions have the input's leading shape.
    * (C4) frequencies and attention_factor are finite.
    * (C5) either frequencies, or a table of rank 2 with an even number of columns, or
      f32 positions with an even number of columns, whose attention_factor is 1.
    * (C6) frequencies of `long` are as many; `long` goes with frequencies only,
      a stretch with two or more.

    ```mlir
    %r = transformer.rotate %q at %positions heads 2 head_dim 4 pairing half frequencies [1.0, 0.01]
      : tensor<?x?x8xf32>, tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input,
    AnyTypeOf<[Transformer_Ids, Transformer_Stream]>:$positions,
    I64Attr:$heads, I64Attr:$head_dim, DefaultValuedAttr<I64Attr, "0">:$start,
    Transformer_PairingWord:$pairing,
    OptionalAttr<DenseF64ArrayAttr>:$frequencies, Transformer_Symbol:$table,
    OptionalAttr<Transformer_LongContextAttr>:$long_context,
    DefaultValuedAttr<F64Attr, "1.0">:$attention_factor);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `at` $positions `heads` $heads `head_dim` $head_dim (`start` $start^)? `pairing` $pairing (`frequencies` custom<Numbers>($frequencies)^)? (`table` $table^)? (`long` $long_context^)? (`attention_factor` $attention_factor^)? attr-dict `:` type($input) `,` type($positions)";
  let hasVerifier = 1;
}

def Transformer_PatchRotationOp : Transformer_Op<"patch_rotation", [Pure]> {
  let summary = "cosines and sines of an image's patches, by row and by column";
  let description = [{
    [batch, c, h, w] -> [batch, prefix + rows * columns, 2n], n = 2 (head_dim / 4): the
    cosines, then the sines, of n angles, which are 2 pi times the patch's row, then its
    column (both measured at the patch's middle, -1 to 1 over the image), times
    theta^(-4i / head_dim) for i < n / 2. The angles of the first `prefix` tokens are 0.
    There are h / patch[0] rows and w / patch[1] columns, rounded down. Reads the sizes of
    `pixels` only.

    Constraints:
    * (C1) pixels are [batch, c, h, w], c fixed; if h and w are not, they are an input with
      `transformer.grid`, of the same patch and prefix.
    * (C2) patch is two numbers > 0; prefix >= 0; all are below 2^31.
    * (C3) theta is > 0 and finite; head_dim >= 4.
    * (C4) the result is [batch, prefix + rows * columns, 2n].

    ```mlir
    %r = transformer.patch_rotation of %image patch [4, 4] prefix 1 theta 100.0 head_dim 8 : tensor<?x3x8x8xf32> -> tensor<?x5x8xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$pixels, DenseI64ArrayAttr:$patch,
    DefaultValuedAttr<I64Attr, "0">:$prefix, F64Attr:$theta, I64Attr:$head_dim);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "`of` $pixels `patch` $patch (`prefix` $prefix^)? `theta` $theta `head_dim` $head_dim attr-dict `:` type($pixels) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PositionBiasOp : Transformer_Op<"position_bias", [Pure]> {
  let summary = "ALiBi: factor * slopes[h] * (key position - query position)";
  let description = [{
    `attend` adds it to the scaled scores, with one slope per head. With `rounding
    bfloat16` (Falcon) it is factor * bf16(bf16(slopes[h]) * key position). The query's
    position is not subtracted, since it does not change a softmax.

    Constraints:
    * (C1) the result is [batch, heads, tokens, tokens] with as many heads as slopes.
    * (C2) slopes and factor are finite.

    ```mlir
    %b = transformer.position_bias %positions slopes [0.5, 0.25] : tensor<?x?xi32> -> tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Ids:$positions, DenseF64ArrayAttr:$slopes,
    DefaultValuedAttr<F64Attr, "1.0">:$factor, UnitAttr:$bfloat16);
  let results = (outs Transformer_Bias:$result);
  let assemblyFormat = "$positions `slopes` custom<Numbers>($slopes) (`factor` $factor^)? (`rounding` `bfloat16` $bfloat16^)? attr-dict `:` type($positions) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_DistanceBiasOp : Transformer_Op<"distance_bias",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "bias by distance: table[buckets[clamp(j - i, -D, D) + D], h]";
  let description = [{
    T5's relative position buckets, listed for query i and key j: buckets has 2D + 1
    entries, which are rows of table [entries, heads]. Distances are between tokens,
    not position ids.

    Constraints:
    * (C1) buckets has an odd number of entries, all rows of the table.
    * (C2) table is [entries, heads].
    * (C3) the result is [batch, heads, query tokens, key tokens], heads fixed.

    ```mlir
    %b = transformer.distance_bias %x table @rel buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$like, FlatSymbolRefAttr:$table, DenseI64ArrayAttr:$buckets);
  let results = (outs Transformer_Bias:$result);
  let assemblyFormat = "$like `table` $table `buckets` $buckets attr-dict `:` type($like) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PairBiasOp : Transformer_Op<"pair_bias",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "bias by pair of tokens: table[index[i * n + j], h]";
  let description = [{
    Swin's and BEiT's 2-D tables: a sequence has a fixed number n of tokens, and index
    has n * n entries, which are rows of table [entries, heads].

    Constraints:
    * (C1) index has n * n entries, all rows of the table, n from the result.
    * (C2) table is [entries, heads].
    * (C3) the result is [batch, heads, n, n].

    ```mlir
    %b = transformer.pair_bias %x table @rel index [0, 1, 2, 0] : tensor<?x2x8xf32> -> tensor<?x4x2x2xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$like, FlatSymbolRefAttr:$table, DenseI64ArrayAttr:$index);
  let results = (outs Transformer_Bias:$result);
  let assemblyFormat = "$like `table` $table `index` $index attr-dict `:` type($like) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_ContentBiasOp : Transformer_Op<"content_bias",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "factor * x_h . table_h[buckets[clamp(j - i, -D, D) + D]], x the query's or key's row";
  let description = [{
    DeBERTa's disentangled terms: content to position (`of query`: x is row i of the
    queries) and position to content (row j of the keys). table is [entries, heads *
    head_dim].

    Constraints:
    * (C1) buckets has an odd number of entries, all rows of the table.
    * (C2) table is [entries, channels of x].
    * (C3) the result is [batch, heads, tokens, tokens]; heads divides the channels.
    * (C4) factor is finite.

    ```mlir
    %b = transformer.content_bias %q of_key false table @pos factor 0.5 buckets [0, 1, 2] : tensor<?x?x8xf32> -> tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, BoolAttr:$of_key, FlatSymbolRefAttr:$table,
                       F64Attr:$factor, DenseI64ArrayAttr:$buckets);
  let results = (outs Transformer_Bias:$result);
  let assemblyFormat = "$input `of_key` $of_key `table` $table `factor` $factor `buckets` $buckets attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_KeyHeadBiasOp : Transformer_Op<"key_head_bias", [Pure]> {
  let summary = "bias by key and head, whatever the query";
  let description = [{
    The input has a number per key and some heads (Doge's dynamic mask, a function of the
    values): head h reads channel h / (heads / channels).

    Constraints:
    * (C1) the result is [batch, heads, query tokens, key tokens], where the input's
      channels divide heads, and its tokens are those of keys.

    ```mlir
    %b = transformer.key_head_bias %x : tensor<?x?x2xf32> -> tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input);
  let results = (outs Transformer_Bias:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_AttendOp : Transformer_Op<"attend",
    [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "softmax(softcap(q k^T * scale) + biases | mask) v, per head";
  let description = [{
    Query head h reads key/value head h / (heads / kv_heads). i and j count tokens of
    the sequence. Key j is hidden from query i if

    * key_mask is 0 at j,
    * mask is causal and j > i, except that all queries see the first prefix[b] keys,
    * window = [l, r] and j <= i - l (for l > 0) or j >= i + r (for r > 0),
    * chunk c > 0 and floor(i / c) != floor(j / c), or
    * their segments differ.

    A hidden key does not affect the result, even if it is NaN. A row that sees no key
    is 0. softcap c gives c tanh(s / c); 0 means none.

    With `past`, i32 [batch], key, value, key_mask and segments come from states: query
    t is token past[b] + t of the sequence, biases are for all its tokens, and keys from
    past[b] + the number of queries on do not exist. Where the mask is bidirectional, key
    and value are those of another stream (an encoder's) and past[b] says how many
    there are: keys from past[b] on do not exist.

    scale is multiplied by layer_scale (a column of the layer table), head_scale[h] and
    length_scale, which reads positions. sink[h] is the score of a further key, whose
    value is 0. The tokens of a batch entry form `sequences` sequences of equal length
    (windows of an image), or sequences of `sequence_tokens` tokens.

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) query has heads * head_dim channels, key kv_heads * head_dim, value
      kv_heads * value_dim, the result heads * value_dim, but where value is
      the key itself, of one head: then it is the first value_dim channels of it.
    * (C3) key, value and mask have the same tokens; key_mask is [batch, tokens],
      positions and segments too, prefix [batch]; queries with segments have the
      keys' tokens.
    * (C4) scale is finite; softcap is finite and >= 0.
    * (C5) each bias is [batch, heads, query tokens, key tokens] of one sequence;
      with past [batch, heads, key tokens, key tokens].
    * (C6) window is empty or two numbers >= 0; chunk >= 0.
    * (C7) sequences >= 1 and divides the tokens where they are fixed; sequence_tokens
      > 0 goes with run-time tokens and sequences 1.
    * (C8) sink and head_scale are [heads].
    * (C9) a log_floor length_scale has positions.
    * (C10) a layer_scale is a number of the layer table.
    * (C11) past is i32 [batch], goes with one sequence a batch entry and no prefix.
    * (C12) past goes with a causal mask, or with no biases, segments, window and chunk.

    ```mlir
    %o = transformer.attend %q, %k, %v key_mask %m heads 2 kv_heads 1 head_dim 4 value_dim 4 scale 0.5 mask causal
      : tensor<?x?x8xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$query, Transformer_Stream:$key,
    Transformer_Stream:$value, Optional<Transformer_Ids>:$key_mask,
    Optional<Transformer_Ids>:$positions, Optional<Transformer_Ids>:$segments,
    Optional<Transformer_Ids>:$prefix, Optional<Transformer_Ids>:$past,
    Variadic<Transformer_Bias>:$biases, I64Attr:$heads, I64Attr:$kv_heads,
    I64Attr:$head_dim, I64Attr:$value_dim, F64Attr:$scale,
    Transformer_Symbol:$layer_scale, Transformer_Symbol:$head_scale,
    OptionalAttr<Transformer_LengthScaleAttr>:$length_scale,
    Transformer_Symbol:$sink, Transformer_MaskWord:$mask,
    OptionalAttr<DenseI64ArrayAttr>:$window, DefaultValuedAttr<I64Attr, "0">:$chunk,
    DefaultValuedAttr<I64Attr, "1">:$sequences,
    DefaultValuedAttr<I64Attr, "0">:$sequence_tokens,
    DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_mask` $key_mask^ `:` type($key_mask))?
    (`positions` $positions^ `:` type($positions))?
    (`segments` $segments^ `:` type($segments))? (`prefix` $prefix^ `:` type($prefix))?
    (`past` $past^ `:` type($past))?
    (`bias` $biases^ `:` type($biases))? `heads` $heads `kv_heads` $kv_heads
    `head_dim` $head_dim `value_dim` $value_dim `scale` $scale
    (`layer_scale` $layer_scale^)? (`head_scale` $head_scale^)?
    (`length_scale` $length_scale^)? (`sink` $sink^)? `mask` $mask
    (`window` $window^)? (`chunk` $chunk^)? (`sequences` $sequences^)?
    (`sequence_tokens` $sequence_tokens^)? (`softcap` $softcap^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Transformer_LinearAttendOp : Transformer_Op<"linear_attend",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sum over j <= i of exp(-decay[h] (i - j)) scale (q_i . k_j) v_j, per head";
  let description = [{
    Causal linear attention with decay (lightning attention, retention), without a
    softmax. Query head h reads key/value head h / (heads / kv_heads). Keys whose
    key_mask is 0 add nothing. i and j count tokens.

    A state [entries, batch, heads * head_dim, value_dim] holds the sums over the
    sequence's tokens before the run in its entry `index` (+ layer in a body of
    `layers`); if past[b] is 0, the sums start at 0. After the run it holds the sums up
    to the last unmasked token. Rows after that token are 0.

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) channels as in attend.
    * (C3) query, key, value and mask have the same tokens.
    * (C4) scale is finite.
    * (C5) decay is [heads].
    * (C6) a state has that shape and is an argument of the entry, with
      `transformer.state`; it goes with past, i32 [batch]; index as C2 of remember.

    ```mlir
    %o = transformer.linear_attend %q, %k, %v heads 2 kv_heads 2 head_dim 4 value_dim 4 scale 1.0 decay @slopes
      : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$query, Transformer_Stream:$key,
    Transformer_Stream:$value, Optional<Transformer_Ids>:$key_mask,
    Optional<AnyRankedTensor>:$state, Optional<Transformer_Ids>:$past, I64Attr:$heads,
    I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim, F64Attr:$scale,
    FlatSymbolRefAttr:$decay, DefaultValuedAttr<I64Attr, "0">:$index);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_mask` $key_mask^ `:` type($key_mask))?
    (`state` $state^ `:` type($state))? (`index` $index^)?
    (`past` $past^ `:` type($past))?
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `scale` $scale `decay` $decay attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}
#endif

// The `kernel` dialect: the program that a machine runs. An op is one launch;
// ops inside a `launch` share one. Ops use destination-passing style: on
// tensors an op is pure and has a result per `outs`; after planning it reads
// memrefs, writes its outs and has no results. Activations are [rows, channels],
// where rows = batch * tokens is a run-time size. They are f32, or also bf16 or
// f16 if an op says "f32 or bf16". These are widened when they are read; regions
// compute in f32; a result is rounded once, to nearest, ties to even.
#ifndef MILLE_KERNEL_OPS
#define MILLE_KERNEL_OPS
include "dialects/kernel/KernelTypes.td"
include "dialects/kernel/ParameterOps.td"
include "dialects/kernel/PreparedOps.td"
include "dialects/kernel/RowBlocksOp.td"
include "dialects/kernel/TrainOps.td"

def Kernel_WeightOp : Kernel_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a parameter's value, from the weights file at run time";
  let description = [{
    `value` is an expression of the transformer dialect; its symbols are
    parameters or, inside `kernel.layers`, columns of the layer table. Its numbers
    are rounded to the result's elements: f32, bf16, f16, f8E4M3FN, i8 or i32.

    Constraints:
    * (C1) the result's shape is the value's, its elements one of these.

    ```mlir
    %w = kernel.weight #transformer.concat<@q.weight, @k.weight> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs Kernel_Buffer:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
}

def Kernel_MatmulOp : Kernel_GeneratedOp<"matmul",
    [AttrSizedOperandSegments, Kernel_TokenLocal]> {
  let summary = "out = epilogue(input * weight^T, extras...)";
  let description = [{
    weight is [accumulators * N, K], or packed in panels [panels, K, panel] after planning. The
    region is the epilogue, a scalar function: it has one f32 argument per accumulator (columns
    n and N + n of the unpacked product), then one per extra, and yields out[m, n]. The shape of an extra says how it is read: [?, N] by element, [N] or [1,
    N] by column, [?, 1] by row, [1] as a scalar. Input and weight are both f32, bf16, f16 or
    f8E4M3FN, ui8 and i8, or i8 and blocks. Extras by element and the out may be bf16.

    If the input is ui8, `parameters`, f32 [?, 4], holds for each row the step, the zero, the
    outlier and the outlier's column, as `quantize` computes them. `sums`, i32 [accumulators *
    N, 1] or packed like the weight, holds the sums of the weight's rows. The region's argument
    is step * sum((input - zero) * weight) + outlier * (weight at the outlier's column). The sum
    is exact and is converted to f32 once.

    With `blocks` the weight's rows are blocks of that encoding, given as their numbers
    (`transformer.in_blocks`) or, after planning, as bytes (`transformer.pack_blocks`). The
    input is i8 in blocks of 32, with the `parameters` that `quantize` computes. The region's
    argument is the sum over the blocks, in the order of K, of step * (scale * sum(input *
    level) - least * sum(input)), with one such product per scale. The sums of integers are
    exact, and every other operation rounds once.

    With `starts`, i32 [entries + 1], the matmul is one of a mixture of experts: the weight is a
    stack of `entries` weights, and an extra may be [entries, N] ("by expert"). Rows starts[e]
    to starts[e + 1] - 1 use entry e of both. Every row belongs to one entry.

    With `heads` H, each head has a weight and columns of its own: columns h K to h K + K - 1 of
    the input times entry h of the weight, [H, N, K], are columns h N to h N + N - 1 of the out.

    Constraints:
    * (C1) input is [?, K], weight is [accumulators * N, K] or packed from it, in
      groups of as many elements as fit 32 bits; their element types go together.
    * (C2) accumulators is 1 or 2.
    * (C3) an extra has one of the shapes above.
    * (C4) the region has accumulators + extras f32 arguments and yields one f32.
    * (C5) a result for each outs on tensors, none on memrefs.
    * (C6) starts is i32 [entries + 1], and the weight's first dimension entries.
    * (C7) parameters and sums are there when the input is ui8, and then K <= 65536.
    * (C8) blocks is q8_0, q6_k, q5_k, q5_1, q5_0, iq4_xs, iq4_nl, q4_k, q4_1, q4_0 or mxfp4
      and goes with i8; K is a multiple of the blocks' length, parameters are f32
      [?, 3 K / 32], without sums.
    * (C9) heads is >= 0, and divides the columns of input and outs; it goes with f32 or bf16,
      one accumulator, and neither starts nor extras.

    Accuracy: |error| <= K u sum|a b| before the epilogue, u = 2^-24; K is summed
    in order, never split (bf16: in pairs, u = 2^-23; f8E4M3FN on Hopper: 128 at a time, of
    which tensor cores keep some 14 bits). Of integers it is exact; of
    blocks |error| <= (K / 32 + 6) u sum|a b|, of the terms above.

    ```mlir
    %y = kernel.matmul %x, %w extras(%b : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$weight,
    Optional<Kernel_Buffer>:$parameters, Optional<Kernel_Buffer>:$sums,
    Optional<Kernel_Buffer>:$starts, Variadic<Kernel_Buffer>:$extras, Kernel_Buffer:$out,
    DefaultValuedAttr<I64Attr, "1">:$accumulators,
    OptionalAttr<Transformer_EncodingWord>:$blocks, DefaultValuedAttr<I64Attr, "0">:$heads);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`parameters` $parameters^ `:` type($parameters))?
    (`sums` $sums^ `:` type($sums))?
    (`starts` $starts^ `:` type($starts))? (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $out `:` type($out) `)` `accumulators` $accumulators (`blocks` $blocks^)?
    (`heads` $heads^)? attr-dict-with-keyword $epilogue `:` type($input) `,` type($weight) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_QuantizeOp : Kernel_GeneratedOp<"quantize", [Kernel_TokenLocal],
    "{getOperation(), getValuesMutable().getOperandNumber(), 2}"> {
  let summary = "rounds rows to bytes, and gives the parameters that decode them";
  let description = [{
    The outlier of a row is its number of the largest magnitude: the positive one of two with
    opposite signs, and the first of equal ones in the order of columns modulo 64. It is kept in
    full, so that one very large channel does not make the step of the others large, and its
    byte decodes to 0. Let low and high be the least and the largest of 0 and all other numbers.
    parameters[m] = (step, zero, outlier, its column), where step = (high - low) / 255, at least
    2^-100, and zero = -low / step. values[m, n] = x[m, n] / step + zero. Zero and values are
    rounded to the nearest integer from 0 to 255. So (value - zero) * step is within a step of
    x, and 0 is exact. A row with a number that is not finite has a step or an outlier that is
    not finite; its values are undefined.

    If the values are i8, they are in blocks of 32 columns. The step of a block is its largest
    magnitude divided by 127, at least 2^-100. A value is x / step, rounded to the nearest
    integer, ties to even. parameters[m] holds the steps of the row's blocks, then the sums of
    their values, then the sums of the first halves, each sum as 1.5 * 2^23 - 128 * sum, whose
    bits are an integer that a matmul can count from. A block with a number that is not finite
    has a step that is not finite.

    If the values are f8E4M3FN, parameters[m] is the row's scale: its largest magnitude divided
    by 448, at least 2^-100. A value is x / scale, rounded to nearest, ties to even. A row with
    a number that is not finite has a scale or a value that is not finite.

    Constraints:
    * (C1) input is f32 or bf16 [?, K]; values are ui8 [?, K], parameters f32 [?, 4], or
      values i8 [?, K], parameters f32 [?, 3 K / 32], and K is a multiple of 32, or
      values f8E4M3FN [?, K], parameters f32 [?, 1].
    * (C2) results for both on tensors, none on memrefs.

    Accuracy: a byte decodes to its number within one step. The bits are the same on
    every instruction set.

    ```mlir
    %v, %p = kernel.quantize %x values(%a : tensor<?x8xui8>) parameters(%b : tensor<?x4xf32>)
      : tensor<?x8xf32> -> tensor<?x8xui8>, tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$values, Kernel_Buffer:$parameters);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `values` `(` $values `:` type($values) `)`
    `parameters` `(` $parameters `:` type($parameters) `)`
    attr-dict `:` type($input) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_AttentionOp : Kernel_GeneratedOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(q k^T scale + biases | mask) v for each sequence and head";
  let description = [{
    query, key and value may be the same buffer: head h of query starts at column query_offset +
    h * head_dim, and likewise for key and value. These three and the out are f32 or bf16; the
    softmax is f32. A sequence has `queries` query rows and `keys` key rows; query i is at
    position first + i. Optional operands:
    * key_mask i32 [?]: a key whose number is 0 is hidden from every query. Its
      weight is 0, and it does not affect the out, even if it is NaN. A row that sees
      no key is 0.
    * key_head_bias [?, n]: added to every score of that key; head h reads column
      h / (heads / n).
    * rotation [?, 2n]: cos then sin of n angles per row, applied to dimensions
      start to start + 2n - 1 of each query and key head.
    * query_scale [?, 1], head_scale [heads] or [1]: factors of the scores in addition
      to scale, before softcap.
    * sink [heads]: the score of a further key, whose value is 0.
    * bias: added to scores. By distance it is [heads, 2D + 1], read at column
      clamp(j - i, -D, D) + D; by pair it is [heads, queries * keys], read at column
      i * keys + j.
    * content_query, content_key [?, heads * (2D + 1)]: added to scores, read at column
      h * (2D + 1) + clamp(j - i, -D, D) + D of query row i and of key row j.
    * segments i32 [?]: keys of another segment are hidden.
    * prefix i32 [sequences]: every query sees so many first keys, also if causal.
    * past i32 [sequences]: the keys are a state. A sequence has `keys` rows in it, of
      which past[s] + queries are filled; query i is at position first + past[s] + i.
      If not causal, past[s] keys of another stream are. Only the runtime reads past.
    slopes[h] * (key position - query position) is added to scores. window = [l, r] hides key j
    from query i if j <= i - l (for l > 0) or j >= i + r (for r > 0). chunk c > 0 hides it if
    floor(i / c) != floor(j / c). byte_scores allows a kernel to round query and key heads to
    bytes, each row of a head in 127ths of its largest magnitude.

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) the columns named by offsets exist; the out is [?, heads * value_dim].
    * (C3) rotation has an even number 2n of columns, start + 2n <= head_dim.
    * (C4) as many slopes as heads, or none.
    * (C5) query_scale is [?, 1], key_head_bias [?, n] where n divides heads.
    * (C6) scale is finite; softcap is finite and >= 0.
    * (C7) a result for each outs on tensors, none on memrefs.
    * (C8) sink is [heads], head_scale [heads] or [1], bias f32 [heads, columns],
      an odd number of columns by distance.
    * (C9) window is empty or two numbers >= 0; chunk >= 0.
    * (C10) bias_by says how bias is read, and is present if bias is.
    * (C11) content_query and content_key have an odd number of columns for each
      head; key_mask, segments and prefix are i32 [?].
    * (C12) past goes with no rotation, prefix, content_query or content_key; and with
      causal, or with no bias, slopes, segments, window or chunk.
    * (C13) panels goes with past: `remember` has written key and value in panels of
      keys and of values, with kv_heads heads and no other columns. A value that is the
      key itself, of one head, is the first value_dim columns of it, in panels of values.
    * (C14) key and value of i8 are panels of bytes with their steps: head_dim is a
      multiple of 4, columns are those of `remember`. Of f16 they are panels, both.

    Accuracy: |error| < 6e-6 (1 + |out|) in f32, 1.5e-2 (1 + |out|) in bf16, whose weights
    are rounded, 3e-2 (1 + |out|) with byte_scores and of keys in bytes, which queries
    meet as bytes.

    ```mlir
    kernel.attention %qkv, %qkv, %qkv key_mask %m : tensor<?xi32> queries %t keys %t first %zero outs(%o : tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
      : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$query, Kernel_Buffer:$key, Kernel_Buffer:$value,
    Optional<Kernel_Buffer>:$key_mask, Optional<Kernel_Buffer>:$key_head_bias,
    Optional<Kernel_Buffer>:$rotation, Optional<Kernel_Buffer>:$query_scale,
    Optional<Kernel_Buffer>:$head_scale, Optional<Kernel_Buffer>:$sink, Optional<Kernel_Buffer>:$bias,
    Optional<Kernel_Buffer>:$content_query, Optional<Kernel_Buffer>:$content_key,
    Optional<Kernel_Buffer>:$segments, Optional<Kernel_Buffer>:$prefix, Optional<Kernel_Integers>:$past,
    Index:$queries, Index:$keys, Index:$first, Kernel_Buffer:$out,
    I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
    DenseI64ArrayAttr:$offsets, F64Attr:$scale, BoolAttr:$causal,
    DefaultValuedAttr<F64Attr, "0.0">:$softcap,
    DefaultValuedAttr<Transformer_PairingWord, "::mille::transformer::Pairing::half">:$pairing,
    DefaultValuedAttr<I64Attr, "0">:$start, OptionalAttr<DenseF64ArrayAttr>:$slopes,
    OptionalAttr<DenseI64ArrayAttr>:$window, DefaultValuedAttr<I64Attr, "0">:$chunk,
    OptionalAttr<Kernel_BiasByAttr>:$bias_by, UnitAttr:$byte_scores, UnitAttr:$panels);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_mask` $key_mask^ `:` type($key_mask))?
    (`key_head_bias` $key_head_bias^ `:` type($key_head_bias))?
    (`rotation` $rotation^ `:` type($rotation))? (`query_scale` $query_scale^ `:` type($query_scale))?
    (`head_scale` $head_scale^ `:` type($head_scale))?
    (`sink` $sink^ `:` type($sink))? (`bias` $bias^ `:` type($bias))?
    (`content_query` $content_query^ `:` type($content_query))?
    (`content_key` $content_key^ `:` type($content_key))?
    (`segments` $segments^ `:` type($segments))?
    (`prefix` $prefix^ `:` type($prefix))? (`past` $past^ `:` type($past))?
    `queries` $queries `keys` $keys `first` $first
    `outs` `(` $out `:` type($out) `)`
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `offsets` $offsets `scale` $scale `causal` $causal (`softcap` $softcap^)?
    (`pairing` $pairing^)? (`start` $start^)? (`slopes` custom<Numbers>($slopes)^)?
    (`window` $window^)? (`chunk` $chunk^)? (`bias_by` $bias_by^)?
    (`byte_scores` $byte_scores^)? (`panels` $panels^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_LinearAttentionOp : Kernel_GeneratedOp<"linear_attention"> {
  let summary = "sum over j <= i of exp(-decay[h] (i - j)) scale (q_i . k_j) v_j";
  let description = [{
    Buffers, offsets, sequences, heads and key_mask are as in `attention`; query i is
    at position i. A hidden key adds nothing to any sum, even if it is NaN. decay is
    [heads].

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) the columns named by offsets exist; the out is [?, heads * value_dim].
    * (C3) key_mask is i32 [?], decay [heads].
    * (C4) scale is finite.
    * (C5) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| < 6e-6 (1 + |out|) in f32, 1.5e-2 (1 + |out|) in bf16.

    ```mlir
    kernel.linear_attention %qkv, %qkv, %qkv decay %d : tensor<2xf32> tokens %t outs(%o : tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 1.0
      : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$query, Kernel_Buffer:$key, Kernel_Buffer:$value,
    Optional<Kernel_Buffer>:$key_mask, Kernel_Buffer:$decay, Index:$tokens, Kernel_Buffer:$out,
    I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
    DenseI64ArrayAttr:$offsets, F64Attr:$scale);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_mask` $key_mask^ `:` type($key_mask))?
    `decay` $decay `:` type($decay) `tokens` $tokens
    `outs` `(` $out `:` type($out) `)`
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `offsets` $offsets `scale` $scale attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_RotateOp : Kernel_GeneratedOp<"rotate", [Kernel_TokenLocal]> {
  let summary = "RoPE of every head of every row, for use outside attention";
  let description = [{
    Dimensions start to start + 2n - 1 of each of `heads` heads are rotated by rotation
    [?, 2n] (n cosines, then n sines per row); the others are copied. The heads are the
    first columns of the input. Input and out are f32 or bf16, the out rounded once.

    Constraints:
    * (C1) the out is [?, heads * head_dim], the input has as many columns or more;
      both sizes > 0.
    * (C2) rotation is [?, 2n], start >= 0, start + 2n <= head_dim.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| < 1e-6 (1 + |out|), 4e-3 (1 + |out|) where the out is bf16.

    ```mlir
    %y = kernel.rotate %x by %r outs(%o : tensor<?x8xf32>) heads 2 head_dim 4 pairing half start 0
      : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$rotation, Kernel_Buffer:$out,
    I64Attr:$heads, I64Attr:$head_dim, Transformer_PairingWord:$pairing, I64Attr:$start);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input `by` $rotation `outs` `(` $out `:` type($out) `)` `heads` $heads `head_dim` $head_dim `pairing` $pairing `start` $start attr-dict `:` type($input) `,` type($rotation) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_RowsOp : Kernel_GeneratedOp<"rows", [AttrSizedOperandSegments]> {
  let summary = "row by row: gathers inputs, perhaps norms one, applies a scalar region";
  let description = [{
    Input i is read like an extra of `matmul` ([?, N], [N], [1, N], [?, 1] or [1]). If gather[i]
    >= 0, it is a table [entries, N] that is read at row indices[gather[i]][m]. With `norm`,
    input 0, which must be [?, N] or gathered, is first normed along each row or each group of
    its columns. The region has one f32 argument per input and yields out[m, n]. Inputs [?, N]
    and the out are f32 or bf16.

    Constraints:
    * (C1) an input has one of the shapes above; a gathered one is f32 or bf16 [entries, N].
    * (C2) gather has one entry per input, each -1 or the number of an index operand.
    * (C3) indices are i32 [?].
    * (C4) the region has one f32 argument per input and yields one f32.
    * (C5) with norm, input 0 is [?, N] or gathered; its group divides N, its eps
      is finite and >= 0.
    * (C6) a result for each outs on tensors, none on memrefs.

    Accuracy: for a norm |error| < 2e-6 (1 + |out|). Each step of the region rounds
    once, and its functions have the errors that the generator states.

    ```mlir
    %y = kernel.rows ins(%x, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%o : tensor<?x8xf32>)
        gather [-1, -1] norm <rms, 1.0e-06> {
    ^bb0(%n: f32, %g: f32):
      %0 = arith.mulf %n, %g : f32
      kernel.yield %0 : f32
    } -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Kernel_Buffer>:$inputs, Variadic<Kernel_Buffer>:$indices,
    Kernel_Buffer:$out, DenseI64ArrayAttr:$gather, OptionalAttr<Kernel_RowNormAttr>:$norm);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` ($inputs^ `:` type($inputs))? `)` (`indices` `(` $indices^ `:` type($indices) `)`)?
    `outs` `(` $out `:` type($out) `)` `gather` $gather (`norm` $norm^)? attr-dict-with-keyword
    $body (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_LaunchOp : Kernel_Op<"launch", [RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<Kernel_RowSource>]> {
  let summary = "row-local kernels that a task runs one after the other on its rows";
  let description = [{
    Holds `matmul`, `rows` and `quantize` ops. Each reads only the task's own rows of the
    results of earlier ops, so a task runs all of them on its rows, and the results are still in
    cache when the next op reads them. The op is not isolated from above. Its results are the
    operands of its yield.

    Constraints:
    * (C1) the body holds `matmul`, `rows`, `quantize`, their destinations, weights
      and constants only.
    * (C2) results are the yield's operands, by number and type.

    ```mlir
    %z = kernel.launch {
      ...
      kernel.yield %n : tensor<?x8xf32>
    } : tensor<?x8xf32>
    ```
  }];
  let results = (outs Variadic<AnyRankedTensor>:$outcomes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict (`:` type($outcomes)^)?";
  let hasVerifier = 1;
}

def Kernel_LayersOp : Kernel_Op<"layers",
    [RecursiveMemoryEffects, LayerStack, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     DeclareOpInterfaceMethods<Kernel_RowSource>]> {
  let summary = "the layer loop: bodies, an index per layer, a table of weights";
  let description = [{
    As `transformer.layers`, but a layer may pass several values to the next: the stream, and
    values that the next layer begins with. On memrefs each value has two buffers, and the op's
    stream operands are the pairs (current, other). A body reads the first buffer and writes the
    second, and they swap after each layer. The outcome is in the first buffer if the number of
    layers is even, else in the second. With `reverse` the last layer comes first.

    Constraints:
    * (C1) - (C3) as C1 - C3 of transformer.layers.
    * (C4) on tensors a body takes and yields values of the stream's types, and
      so is the result; on memrefs it takes the stream's pairs and yields none.
    * (C5) as C5 of transformer.layers.

    ```mlir
    %y = kernel.layers %x slots [["layers.*.w"]] bodies [0, 0] table [[@a], [@b]] {
    ^bb0(%s: tensor<?x8xf32>):
      kernel.yield %s : tensor<?x8xf32>
    } : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Kernel_Buffer>:$stream, ArrayAttr:$slots,
                       DenseI64ArrayAttr:$bodies, ArrayAttr:$table, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$outcomes);
  let regions = (region VariadicRegion<SizedRegion<1>>:$body_regions);
  let assemblyFormat = "$stream (`reverse` $reverse^)? `slots` $slots `bodies` $bodies `table` $table attr-dict-with-keyword $body_regions `:` type($stream) (`->` type($outcomes)^)?";
  let hasVerifier = 1;
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator]> {
  let summary = "the value of a region";
  let description = [{
    Verifier: none, the op around it checks the values.

    ```mlir
    kernel.yield %0 : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Kernel_DispatchOp : Kernel_GeneratedOp<"dispatch", [Kernel_TokenLocal]> {
  let summary = "copies rows to the order of their experts, times their weights if given";
  let description = [{
    out[p] = input[order[p]], times the weight of the slot whose place is p. The out
    has k times the input's rows.

    Constraints:
    * (C1) input and out have the same columns; order and place are i32 [?].
    * (C2) k > 0; weights is [?, k].
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: exact without weights; each product rounds once.

    ```mlir
    %y = kernel.dispatch %x order %o : tensor<?xi32> place %p : tensor<?xi32> outs(%d : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$order, Kernel_Buffer:$place, Optional<Kernel_Buffer>:$weights, Kernel_Buffer:$out, I64Attr:$k);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $input `order` $order `:` type($order) `place` $place `:` type($place)
    (`times` $weights^ `:` type($weights))? `outs` `(` $out `:` type($out) `)` `k` $k
    attr-dict `:` type($input) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_CombineOp : Kernel_GeneratedOp<"combine", [Kernel_TokenLocal]> {
  let summary = "sums a row's k slots, times their weights if given";
  let description = [{
    out[m] = sum over j of weights[m, j] input[place[m * k + j]], j ascending.

    Constraints:
    * (C1) input and out have the same columns; place is i32 [?].
    * (C2) k > 0; weights is [?, k].
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| < 1e-6 (1 + |out|).

    ```mlir
    %y = kernel.combine %x place %p : tensor<?xi32> times %w : tensor<?x2xf32> outs(%d : tensor<?x8xf32>) k 2 : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$place,
    Optional<Kernel_Buffer>:$weights, Kernel_Buffer:$out, I64Attr:$k);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $input `place` $place `:` type($place) (`times` $weights^ `:` type($weights))?
    `outs` `(` $out `:` type($out) `)` `k` $k attr-dict `:` type($input) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}
#endif

// The `kernel` dialect: what a machine runs. One op = one launch (ops inside a
// `launch` share one). Destination-passing: on tensors every op has a result per
// `outs`; after planning they are memrefs and there are no results.
// Activations are [rows, channels], rows = batch * tokens, a run-time size.
#ifndef MILLE_KERNEL_OPS
#define MILLE_KERNEL_OPS
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/transformer/LayerStack.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::mille::kernel";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mille::transformer::TransformerDialect",
                           "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

class Kernel_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary,
        !foreach(i, !range(words), I32EnumAttrCase<words[i], i>)> {
  let cppNamespace = "::mille::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_RowNormKind : Kernel_Enum<"RowNormKind", "statistic a row is normed by",
    ["layer", "rms", "l2"]>;
def Kernel_Pairing : Kernel_Enum<"Pairing", "which dimensions of a head turn together",
    ["half", "interleaved"]>;
def Kernel_PairingAttr : EnumAttr<Kernel_Dialect, Kernel_Pairing, "pairing">;

def Kernel_RowNormAttr : AttrDef<Kernel_Dialect, "RowNorm"> {
  let mnemonic = "row_norm";
  let summary = "norm of a whole row, without affine part";
  let description = [{
    layer: (x - mean) / sqrt(var + eps); rms: x / sqrt(mean(x^2) + eps);
    l2: x / max(|x|, eps).

    ```mlir
    #kernel.row_norm<layer, 1.0e-05>
    ```
  }];
  let parameters = (ins EnumParameter<Kernel_RowNormKind>:$kind, "::mlir::FloatAttr":$eps);
  let assemblyFormat = "`<` $kind `,` custom<Number>($eps) `>`";
}

def Kernel_Buffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def Kernel_WeightOp : Kernel_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a parameter's value, from the weights file at run time";
  let description = [{
    `value` is an expression of the transformer dialect; its symbols are
    parameters or, inside `kernel.layers`, columns of the layer table.

    Constraints:
    * (C1) the result's shape is the value's.

    ```mlir
    %w = kernel.weight #transformer.concat<@q.weight, @k.weight> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs Kernel_Buffer:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
}

def Kernel_ArenaOp : Kernel_Op<"arena", [Pure]> {
  let summary = "a buffer in the arena: `rows` rows from `offset` bytes per row";
  let description = [{
    The buffer starts at offset * padded rows bytes into the arena, where padded
    rows is the run's rows rounded up (runtime/abi.h): every size is a number of
    bytes per row, so one plan serves every batch and token count.

    Constraints:
    * (C1) offset >= 0 and a multiple of 64.

    ```mlir
    %b = kernel.arena offset 4096 rows %rows : memref<?x768xf32, strided<[784, 1]>>
    ```
  }];
  let arguments = (ins Index:$rows, I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`offset` $offset `rows` $rows attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_MatmulOp : Kernel_Op<"matmul"> {
  let summary = "out = epilogue(input * weight^T, extras...)";
  let description = [{
    weight is [accumulators * N, K], or packed in panels after planning
    ([panels, K, panel]). The region is scalar: one f32 argument per accumulator
    (columns n and N + n of the unpacked product), then one per extra; it yields
    out[m, n]. An extra's shape says how it is read: [?, N] by element, [N] or
    [1, N] by column, [?, 1] by row, [1] a scalar.

    Constraints:
    * (C1) input is [?, K], weight is [accumulators * N, K] or packed from it.
    * (C2) accumulators is 1 or 2.
    * (C3) an extra has one of the shapes above.
    * (C4) the region has accumulators + extras f32 arguments and yields one f32.
    * (C5) a result for each outs on tensors, none on memrefs.

    Accuracy: |error| <= K u sum|a b| before the epilogue, u = 2^-24; K is summed
    in order, never split.

    ```mlir
    %y = kernel.matmul %x, %w extras(%b : tensor<16xf32>) outs(%o : tensor<?x16xf32>) accumulators 1 {
    ^bb0(%acc: f32, %bias: f32):
      %0 = arith.addf %acc, %bias : f32
      kernel.yield %0 : f32
    } : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Kernel_Buffer:$weight,
    Variadic<Kernel_Buffer>:$extras, Kernel_Buffer:$out,
    DefaultValuedAttr<I64Attr, "1">:$accumulators);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $out `:` type($out) `)` `accumulators` $accumulators attr-dict-with-keyword
    $epilogue `:` type($input) `,` type($weight) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_AttentionOp : Kernel_Op<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(q k^T scale + bias | mask) v for each sequence and head";
  let description = [{
    query, key and value may be one buffer: head h of query starts at column
    query_offset + h * head_dim, and so on. Rows are grouped into sequences:
    `queries` query rows and `keys` key rows each; query i is at position
    first + i. key_bias is [?, 1], added to every score of that key (0, or
    -1e30 where a key is masked); a key at or under -1e30 has weight 0, and a row
    that sees no key is 0. rotation is [?, 2n]: cos then sin of n angles per row,
    applied to the first 2n dimensions of each query and key head. slopes[h] *
    (key position - query position) is added to scores.

    Constraints:
    * (C1) heads is a multiple of kv_heads; all sizes > 0.
    * (C2) the columns named by offsets exist; the out is [?, heads * value_dim].
    * (C3) rotation has an even number 2n of columns, 2n <= head_dim.
    * (C4) as many slopes as heads, or none.
    * (C5) key_bias is [?, 1].
    * (C6) scale is finite; softcap is finite and >= 0.
    * (C7) a result for each outs on tensors, none on memrefs.

    ```mlir
    kernel.attention %qkv, %qkv, %qkv key_bias %m : tensor<?x1xf32> queries %t keys %t first %zero outs(%o : tensor<?x8xf32>)
      heads 2 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 8, 16] scale 0.5 causal false
      : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$query, Kernel_Buffer:$key, Kernel_Buffer:$value,
    Optional<Kernel_Buffer>:$key_bias, Optional<Kernel_Buffer>:$rotation,
    Index:$queries, Index:$keys, Index:$first, Kernel_Buffer:$out,
    I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim,
    DenseI64ArrayAttr:$offsets, F64Attr:$scale, BoolAttr:$causal,
    DefaultValuedAttr<F64Attr, "0.0">:$softcap,
    DefaultValuedAttr<Kernel_PairingAttr, "::mille::kernel::Pairing::half">:$pairing,
    OptionalAttr<DenseF64ArrayAttr>:$slopes);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`key_bias` $key_bias^ `:` type($key_bias))?
    (`rotation` $rotation^ `:` type($rotation))?
    `queries` $queries `keys` $keys `first` $first
    `outs` `(` $out `:` type($out) `)`
    `heads` $heads `kv_heads` $kv_heads `head_dim` $head_dim `value_dim` $value_dim
    `offsets` $offsets `scale` $scale `causal` $causal (`softcap` $softcap^)?
    (`pairing` $pairing^)? (`slopes` custom<Numbers>($slopes)^)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_RowsOp : Kernel_Op<"rows", [AttrSizedOperandSegments]> {
  let summary = "row-wise: gathers, an optional norm, a scalar region";
  let description = [{
    Input i is read as in `matmul` ([?, N], [N], [1, N], [?, 1] or [1]); where
    gather[i] >= 0 it is a table [entries, N] read at row indices[gather[i]][m].
    With `norm`, input 0 (which must be [?, N], maybe gathered) is normed along
    the row first. The region has one f32 argument per input and yields out[m, n].

    Constraints:
    * (C1) an input has one of the shapes above; a gathered one is [entries, N].
    * (C2) gather has one entry per input, each -1 or the number of an index operand.
    * (C3) indices are i32 [?].
    * (C4) the region has one f32 argument per input and yields one f32.
    * (C5) with norm, input 0 is [?, N] or gathered.
    * (C6) a result for each outs on tensors, none on memrefs.

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

def Kernel_LaunchOp : Kernel_Op<"launch", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "row-local kernels that one task runs over the same rows";
  let description = [{
    Holds `matmul` and `rows` ops of which each reads, by rows, only what it owns
    of the ops before it: a task runs them all over its rows, so what one writes
    the next reads from cache. Not isolated. Its results are what its yield names.

    Constraints:
    * (C1) the body holds `matmul`, `rows`, their destinations, weights and
      constants only.
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
    [RecursiveMemoryEffects, LayerStack, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the layer loop: bodies, an index per layer, a table of weights";
  let description = [{
    As `transformer.layers`, but a layer may hand over several values: the stream,
    and what the next layer begins with. On memrefs each is two buffers: a body
    reads the first, writes the second, and they change places after each layer;
    the op's stream operands are (current, other) for each value and its outcome
    is in the first when the number of layers is even, else in the second.

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
                       DenseI64ArrayAttr:$bodies, ArrayAttr:$table);
  let results = (outs Variadic<AnyRankedTensor>:$outcomes);
  let regions = (region VariadicRegion<SizedRegion<1>>:$body_regions);
  let assemblyFormat = "$stream `slots` $slots `bodies` $bodies `table` $table attr-dict-with-keyword $body_regions `:` type($stream) (`->` type($outcomes)^)?";
  let hasVerifier = 1;
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator]> {
  let summary = "the value of a region";
  let description = [{
    ```mlir
    kernel.yield %0 : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===-- Prepared once per run by the runtime --------------------------------===//

def Kernel_KeyBiasOp : Kernel_Op<"key_bias"> {
  let summary = "key mask [rows] of 1 and 0 -> key bias [rows, 1] of 0 and -1e30";
  let description = [{
    ```mlir
    %b = kernel.key_bias %mask outs(%o : tensor<?x1xf32>) : tensor<?xi32> -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$mask, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$mask `outs` `(` $out `:` type($out) `)` attr-dict `:` type($mask) (`->` type($result)^)?";
}

def Kernel_RotationOp : Kernel_Op<"rotation"> {
  let summary = "positions [rows] -> factor * cos | factor * sin of position * frequency";
  let description = [{
    The out is [rows, 2n]: n cosines, then n sines, computed in double.

    Constraints:
    * (C1) the out has 2n columns, n = number of frequencies.

    ```mlir
    %r = kernel.rotation %positions frequencies [1.0, 0.01] factor 1.0 outs(%o : tensor<?x4xf32>) : tensor<?xi32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$positions, DenseF64ArrayAttr:$frequencies,
                       F64Attr:$factor, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$positions `frequencies` custom<Numbers>($frequencies) `factor` $factor `outs` `(` $out `:` type($out) `)` attr-dict `:` type($positions) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_ScheduleOp : Kernel_Op<"schedule"> {
  let summary = "step [1] -> from + (to - from) * min(step, steps) / steps, [1]";
  let description = [{
    ```mlir
    %s = kernel.schedule %step from 0.0 to 1.0 over 1000 outs(%o : tensor<1xf32>) : tensor<1xi32> -> tensor<1xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$step, F64Attr:$from, F64Attr:$to,
                       I64Attr:$steps, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$step `from` $from `to` $to `over` $steps `outs` `(` $out `:` type($out) `)` attr-dict `:` type($step) (`->` type($result)^)?";
}

def Kernel_PoolIndexOp : Kernel_Op<"pool_index"> {
  let summary = "for each sequence the row of its first, or last unmasked, token";
  let description = [{
    mask is [batch * tokens], all ones where absent; the out is i32 [batch].

    ```mlir
    %i = kernel.pool_index mask %mask : tensor<?xi32> tokens %t last true outs(%o : tensor<?xi32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Optional<Kernel_Buffer>:$mask, Index:$tokens, BoolAttr:$last, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "(`mask` $mask^ `:` type($mask))? `tokens` $tokens `last` $last `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
}

def Kernel_PoolMeanOp : Kernel_Op<"pool_mean"> {
  let summary = "mean over the unmasked tokens of each sequence";
  let description = [{
    input is [batch * tokens, N], mask [batch * tokens], all ones where absent;
    the out is [batch, N].

    ```mlir
    %p = kernel.pool_mean %x mask %m : tensor<?xi32> tokens %t outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, Optional<Kernel_Buffer>:$mask, Index:$tokens, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input (`mask` $mask^ `:` type($mask))? `tokens` $tokens `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
}

def Kernel_KeepOp : Kernel_Op<"keep"> {
  let summary = "copies rows to entry `index` (+ layer, in a body) of output `name`";
  let description = [{
    ```mlir
    kernel.keep %x as "hidden_states" index 1 : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, StrAttr:$name, I64Attr:$index);
  let assemblyFormat = "$input `as` $name `index` $index attr-dict `:` type($input)";
}
#endif

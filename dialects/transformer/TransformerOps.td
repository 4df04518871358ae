// Ops of the `transformer` dialect. Activations are f32 tensors
// [batch, tokens, channels], ids and masks i32 tensors [batch, tokens].
#ifndef MILLE_TRANSFORMER_OPS
#define MILLE_TRANSFORMER_OPS
include "dialects/transformer/TransformerTypes.td"
include "dialects/transformer/AttentionOps.td"
include "dialects/transformer/StateOps.td"
include "dialects/transformer/TokenOps.td"
include "dialects/transformer/TrainOps.td"

def Transformer_ModelOp : Transformer_Op<"model",
    [SymbolTable, Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "a model: its parameters and its entries";
  let description = [{
    Holds `transformer.parameter` ops and one `func.func` per entry. The first entry
    is the default (import makes `forward`).

    A func argument is an input with a `transformer.name`. An input that may be absent
    has a `transformer.default` ("ones", "zeros", "positions", "none"), and ids have
    `transformer.below`, their exclusive upper bound. `transformer.shape` names the
    sizes of its dimensions if these are not [batch, tokens, ...] (a decoder's tokens
    beside an encoder). An argument with the unit attribute `transformer.state` is a
    state: memory that outlives a run, see `remember`. A func result has a
    `transformer.name`.
    Discardable attributes describe the model to `inspect`.

    Constraints:
    * (C1) has at least one `func.func`.
    * (C2) every input and output has a name, and no two inputs or two outputs
      have the same.
    * (C3) in an entry, only one residual reads a scale shared by a unit, and only
      residuals of one layer read a scale shared by a layer.
    * (C4) a pre-norm stack of the first entry ends in a norm; a warning, once per
      model.
    * (C5) no parameter's value depends on the parameter itself.
    * (C6) what an entry reads as `saved` or `collected`, it has made before, of the
      same type.

    ```mlir
    transformer.model @tiny attributes {family = "native"} {
      func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"})
          -> (tensor<?x?x8xf32> {transformer.name = "last_hidden_state"}) {
        return %x : tensor<?x?x8xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Transformer_ParameterOp : Transformer_Op<"parameter",
    [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named weight and where its value comes from";
  let description = [{
    Constraints:
    * (C1) the value's shape is the declared one.
    * (C2) every extent is static and > 0.
    * (C3) dtype is a type that matmuls can read (dialects/transformer/Dtype.h);
      absent: what the model is compiled in.
    * (C4) fixed_rows is [period, first, count], which says that training changes no row r
      with first <= r mod period < first + count: they follow from the model's description.
      period divides the rows, 0 <= first, 0 < count, and first + count <= period.

    ```mlir
    transformer.parameter @h.0.q.weight : tensor<32x32xf32> =
      #transformer.transpose<#transformer.slice<#transformer.stored<"model.safetensors", "h.0.c_attn.weight", tensor<32x96xf32>>, axis = 1, offset = 0, size = 32, stride = 1>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<RankedTensorOf<[F32]>>:$type,
                       AnyAttr:$value, OptionalAttr<StrAttr>:$dtype,
                       OptionalAttr<DenseI64ArrayAttr>:$fixed_rows);
  let assemblyFormat = "$sym_name `:` $type `=` $value (`dtype` $dtype^)? (`fixed_rows` $fixed_rows^)? attr-dict";
  let hasVerifier = 1;
}

def Transformer_EmbedOp : Transformer_Op<"embed",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "scale * table_0[ids_0] + table_1[ids_1 + offset_1] + ...";
  let description = [{
    There is one table per ids operand, each [entries, channels]. `scale` multiplies
    the first only. `offsets` are added to the ids.

    Constraints:
    * (C1) as many tables and offsets as ids, at least one.
    * (C2) every table is [entries, channels] with the result's channels.
    * (C3) all ids have the result's leading shape.
    * (C4) scale is finite.

    ```mlir
    %x = transformer.embed(%ids, %positions) tables [@word, @position] offsets [0, 2] scale 1.000000e+00
      : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Transformer_Ids>:$ids,
    TypedArrayAttrBase<FlatSymbolRefAttr, "symbols">:$tables,
    DenseI64ArrayAttr:$offsets, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "`(` $ids `)` `tables` $tables `offsets` $offsets (`scale` $scale^)? attr-dict `:` functional-type($ids, $result)";
  let hasVerifier = 1;
}

def Transformer_NormOp : Transformer_Op<"norm",
    [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "norm over the last dimension";
  let description = [{
    Constraints:
    * (C1) weight and bias are [channels], or [group] of a grouped norm.
    * (C2) group divides channels.

    ```mlir
    %y = transformer.norm %x by <layer_norm, eps = 1.0e-5, affine = weight, weight = @n.weight, bias = @n.bias> : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Transformer_NormAttr:$norm);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `by` $norm attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Transformer_LinearOp : Transformer_Op<"linear",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "(input * weight^T) * scale + bias, weight [out, in]";
  let description = [{
    With `transposed` it is (input * weight) * scale, the gradient of the input of such
    a linear from that of its result: input has `out` channels, the result `in`.
    `scale` is a forward multiplier (logit scales, muP), 1 if absent. It does not
    multiply the bias. With `experts`, i32 of the input's leading shape, weight is a
    stack [entries, out, in] (bias [entries, out]), and each row uses entry
    experts[row].

    Constraints:
    * (C1) weight is [out, in], in = the input's channels and out = the result's
      (transposed: the result's and the input's); with experts [entries, out, in].
    * (C2) bias is [out]; with experts [entries, out]; transposed has none.
    * (C3) leading dimensions of input and result, and of experts, agree.
    * (C4) scale is finite.

    ```mlir
    %y = transformer.linear %x weight @w bias @b : tensor<?x?x8xf32> -> tensor<?x?x24xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Optional<Transformer_Ids>:$experts,
    FlatSymbolRefAttr:$weight,
    OptionalAttr<FlatSymbolRefAttr>:$bias, DefaultValuedAttr<F64Attr, "1.0">:$scale,
    UnitAttr:$transposed);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input (`experts` $experts^ `:` type($experts))? `weight` $weight (`bias` $bias^)? (`scale` $scale^)? (`transposed` $transposed^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_LinearByHeadOp : Transformer_Op<"linear_by_head",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "each head's channels * its own weight^T, weight [heads, out, in]";
  let description = [{
    Head h of the result is head h of the input, `in` channels, times entry h of the
    weight: heads * in channels become heads * out.

    Constraints:
    * (C1) heads > 0 divides the channels of input and result.
    * (C2) leading dimensions of input and result agree.
    * (C3) weight is [heads, out, in].

    ```mlir
    %y = transformer.linear_by_head %x weight @w heads 2 : tensor<?x?x8xf32> -> tensor<?x?x12xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, FlatSymbolRefAttr:$weight, I64Attr:$heads);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `weight` $weight `heads` $heads attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_AddOp : Transformer_Op<"add", [Pure, SameOperandsAndResultType]> {
  let summary = "left + right, element by element";
  let description = [{
    Verifier: none, its traits say all.

    ```mlir
    %y = transformer.add %a, %b : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$left, Transformer_Stream:$right);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($result)";
}

def Transformer_AffineOp : Transformer_Op<"affine",
    [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "scale * input + shift, each a constant, scalar or channel vector";
  let description = [{
    Constraints:
    * (C1) a learned scalar's parameter is [1], a learned channel's [channels].
    * (C2) a constant read from the layer table is a number there.

    ```mlir
    %y = transformer.affine %x scale <constant 2.0> shift <learned_scalar @b> : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, OptionalAttr<Transformer_ScaleAttr>:$scale,
                       OptionalAttr<Transformer_ScaleAttr>:$shift);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input (`scale` $scale^)? (`shift` $shift^)? attr-dict `:` type($result)";
}

def Transformer_ClampOp : Transformer_Op<"clamp", [Pure, SameOperandsAndResultType]> {
  let summary = "min(max(input, low), high)";
  let description = [{
    Constraints:
    * (C1) low < high, neither a NaN; either may be infinite.

    ```mlir
    %y = transformer.clamp %x low -7.0 high 7.0 : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, F64Attr:$low, F64Attr:$high);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `low` $low `high` $high attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_ActivateOp : Transformer_Op<"activate",
    [Pure, SameOperandsAndResultType]> {
  let summary = "a scalar function on every element";
  let description = [{
    Verifier: none, its traits say all.

    ```mlir
    %y = transformer.activate %x by gelu_erf : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, Transformer_ActivationWord:$function);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `by` $function attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Transformer_GateOp : Transformer_Op<"gate", [Pure, SameOperandsAndResultType]> {
  let summary = "function(gate) * (up + up_offset)";
  let description = [{
    Constraints:
    * (C1) up_offset is finite.

    ```mlir
    %y = transformer.gate %g, %u by silu : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gate, Transformer_Stream:$up,
                       Transformer_ActivationWord:$function,
                       DefaultValuedAttr<F64Attr, "0.0">:$up_offset);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$gate `,` $up `by` $function (`up_offset` $up_offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_SoftcapOp : Transformer_Op<"softcap", [Pure, SameOperandsAndResultType]> {
  let summary = "cap * tanh(input / cap)";
  let description = [{
    Constraints:
    * (C1) cap is finite and > 0.

    ```mlir
    %y = transformer.softcap %x cap 30.0 : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, F64Attr:$cap);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$input `cap` $cap attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Transformer_ResidualOp : Transformer_Op<"residual",
    [AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "y = s N_out(A r + sum_i B_i N_branch,i(F_i(N_in,i(x))))";
  let description = [{
    r is the input (tap input) or the normed input (tap normed). There is one region
    per branch: its argument is the normed branch input, and it yields the branch's
    value. Lists of norms and scales have an entry per branch; branches share a single
    in_norm. Branch scales apply after branch norms. `layer` is the number of the
    layer that the unit belongs to. `sum_as` saves the sum that out_norm reads, as `save`
    does: no other op can name it.

    Constraints:
    * (C1) at least one branch; each has one argument and yields one value, both
      of the input's type.
    * (C2) in_norm has one entry, or one per branch.
    * (C3) branch_norm and branch_scale have one entry per branch.
    * (C4) tap normed needs one shared in_norm that is not the identity.
    * (C5) a learned scalar's parameter is [1], a learned channel's [channels].
    * (C6) norm weights and biases are [channels].
    * (C7) a scale has an effect. It has none on a branch that is normed afterwards
      without a skip (skip_scale constant 0 under an out_norm).
    * (C8) layer >= 0.
    * (C9) a constant read from the layer table is a number there.
    * (C10) in `layers`, sum_as is one of its `saves`.

    ```mlir
    %y = transformer.residual %x
        out_norm <layer_norm, eps = 1.0e-5, affine = weight, weight = @n1.weight, bias = @n1.bias>
        skip_scale <constant 3.5565588200778455 = "(2*80)^(1/4)"> {
    ^bb0(%u: tensor<?x?x8xf32>):
      transformer.yield %u : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input,
    OptionalAttr<TypedArrayAttrBase<Transformer_NormAttr, "norms">>:$in_norm,
    OptionalAttr<TypedArrayAttrBase<Transformer_NormAttr, "norms">>:$branch_norm,
    OptionalAttr<Transformer_NormAttr>:$out_norm,
    DefaultValuedAttr<Transformer_TapWord, "::mille::transformer::Tap::input">:$tap,
    OptionalAttr<Transformer_ScaleAttr>:$skip_scale,
    OptionalAttr<TypedArrayAttrBase<Transformer_ScaleAttr, "scales">>:$branch_scale,
    OptionalAttr<Transformer_ScaleAttr>:$stream_scale,
    OptionalAttr<I64Attr>:$layer, OptionalAttr<StrAttr>:$sum_as);
  let results = (outs Transformer_Stream:$result);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = [{
    $input (`in_norm` $in_norm^)? (`branch_norm` $branch_norm^)?
    (`out_norm` $out_norm^)? (`tap` $tap^)? (`skip_scale` $skip_scale^)?
    (`branch_scale` $branch_scale^)? (`stream_scale` $stream_scale^)?
    (`layer` $layer^)? (`sum_as` $sum_as^)? attr-dict-with-keyword $branches `:` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Transformer_YieldOp : Transformer_Op<"yield", [Pure, Terminator]> {
  let summary = "the value of a branch or of a layer body";
  let description = [{
    Verifier: none, the op around it checks the values.

    ```mlir
    transformer.yield %x : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Transformer_KeepOp : Transformer_Op<"keep", []> {
  let summary = "keeps a point of the stream as entry `index` of an output";
  let description = [{
    The output `name` is [entries, batch, tokens, channels]. In a body of
    `layers` the index counts from layer 0: entry index + layer.

    Constraints:
    * (C1) index >= 0.

    ```mlir
    transformer.keep %x as "hidden_states" index 1 : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, StrAttr:$name, I64Attr:$index);
  let assemblyFormat = "$input `as` $name `index` $index attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Transformer_LayersOp : Transformer_Op<"layers",
    [AllTypesMatch<["input", "result"]>, LayerStack, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a stack of layers: k bodies, an index per layer, a table";
  let description = [{
    Layer l runs body `bodies[l]` on the stream. `slots[b]` names the columns of body
    b, which its ops use like parameters. `table[l]` gives the value of each column
    for layer l: a parameter's symbol, or a number (a constant scale). Layers share a
    weight by having the same symbol. With `reverse` the last layer runs first: the
    backward pass of such a stack, on the gradient of its result. `saves` names what
    bodies save, a value for each layer that runs the body.

    Constraints:
    * (C1) as many slot lists as bodies (regions), each body used by a layer.
    * (C2) bodies[l] is a region's number; bodies and table are equally long, not empty.
    * (C3) table[l] has as many entries as slots[bodies[l]], each a symbol or an f64.
    * (C4) each body takes and yields one value of the input's type.
    * (C5) all entries of a column have the same parameter type, or are all numbers.
    * (C6) saves are names, each once; a stack that runs in reverse saves nothing.

    ```mlir
    %y = transformer.layers %x slots [["layers.*.skip"]] bodies [0, 0]
        table [[1.0], [1.4]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      transformer.yield %s : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$input, ArrayAttr:$slots,
                       DenseI64ArrayAttr:$bodies, ArrayAttr:$table,
                       OptionalAttr<StrArrayAttr>:$saves, UnitAttr:$reverse);
  let results = (outs Transformer_Stream:$result);
  let regions = (region VariadicRegion<SizedRegion<1>>:$body_regions);
  let assemblyFormat = "$input (`reverse` $reverse^)? `slots` $slots `bodies` $bodies `table` $table (`saves` $saves^)? attr-dict-with-keyword $body_regions `:` type($result)";
  let hasVerifier = 1;
}
#endif

// Values of parameters as attributes: the nodes of their expressions.
#ifndef MILLE_TRANSFORMER_VALUES
#define MILLE_TRANSFORMER_VALUES
include "dialects/transformer/ParameterValue.td"
include "dialects/transformer/TransformerAttrs.td"

// A parameter's value is an expression over stored tensors: evaluated one
// parameter at a time, so memory stays bounded and folding can be undone.
// Operands are other expressions or symbols (FlatSymbolRefAttr): a parameter of
// the model or, inside `layers`, a column of the layer table.
// Shapes below are row-major; a linear's weight is [out, in].

// A node. `operands` is the initializer of its list of operands.
class Transformer_ValueAttr<string name, string mnemonic_, string operands = "{}">
    : Transformer_Attr<name, mnemonic_,
                       [DeclareAttrInterfaceMethods<ParameterValue>]> {
  let extraClassDefinition = [{
    ::llvm::SmallVector<::mlir::Attribute> $cppClass::getOperands() const {
      return }] # operands # [{;
    }
  }];
}

// Printed only where a row is written in blocks.
def Transformer_BlockParameter
    : DefaultValuedParameter<"::mille::transformer::Encoding",
                             "::mille::transformer::Encoding::f32",
                             "an encoding of blocks"> {
  let parser = Transformer_Encoding.parameterParser;
  let printer = Transformer_Encoding.parameterPrinter;
}

def Transformer_StoredAttr : Transformer_ValueAttr<"Stored", "stored"> {
  let summary = "a tensor of a safetensors or GGUF file, as stored";
  let description = [{
    Numbers are stored as the element type says. With an `encoding` each row
    (the last dimension) is a sequence of blocks, numbers of few bits that share
    a scale; the value is the f32 numbers that the blocks stand for.

    Constraints:
    * (C1) an encoding is one of blocks, and the element type is then f32.
    * (C2) the last extent is a multiple of the block's length.

    ```mlir
    #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>
    #transformer.stored<"model.gguf", "token_embd.weight", tensor<64x32xf32>, q4_0>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$name,
                        "::mlir::RankedTensorType":$type,
                        Transformer_BlockParameter:$encoding);
  let assemblyFormat = "`<` $file `,` $name `,` $type (`,` $encoding^)? `>`";
  let genVerifyDecl = 1;
}

def Transformer_DrawnAttr : Transformer_ValueAttr<"Drawn", "drawn"> {
  let summary = "initial values by recipe: reproducible from seed and stream";
  let description = [{
    fixed: every element is `mean`. normal: N(mean, std^2). uniform: mean +-
    sqrt(3) std. truncated_normal: N(mean, std^2) cut at +- cut * std.
    Element i depends on (seed, stream, i) only: neither order nor threads matter.

    Constraints:
    * (C1) mean and std are finite, std >= 0.
    * (C2) cut is finite and > 0 for truncated_normal, 0 for the others.
    * (C3) the type is an f32 tensor of static shape.

    ```mlir
    #transformer.drawn<normal, mean = 0.0, std = 0.02, seed = 1, stream = "embed.weight", tensor<64x32xf32>>
    ```
  }];
  let parameters = (ins EnumParameter<Transformer_Distribution>:$distribution,
    Transformer_F64:$mean, Transformer_F64:$std,
    DefaultValuedParameter<"F64", "F64(0.0)">:$cut, "uint64_t":$seed,
    StringRefParameter<>:$stream, "::mlir::RankedTensorType":$type);
  let assemblyFormat = [{
    `<` $distribution `,` `mean` `=` $mean `,` `std` `=` $std `,`
    (`cut` `=` $cut^ `,`)? `seed` `=` $seed `,` `stream` `=` $stream `,` $type
    `>`
  }];
  let genVerifyDecl = 1;
}

def Transformer_SliceAttr : Transformer_ValueAttr<"Slice", "slice",
    "{getValue()}"> {
  let summary = "size elements along axis from offset, every stride-th";
  let description = [{
    ```mlir
    #transformer.slice<@c_attn.weight, axis = 1, offset = 0, size = 32, stride = 1>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "int64_t":$axis,
    "int64_t":$offset, "int64_t":$size, "int64_t":$stride);
  let assemblyFormat = "`<` $value `,` `axis` `=` $axis `,` `offset` `=` $offset `,` `size` `=` $size `,` `stride` `=` $stride `>`";
}

def Transformer_TransposeAttr : Transformer_ValueAttr<"Transpose", "transpose",
    "{getValue()}"> {
  let summary = "rows and columns exchanged";
  let description = [{
    ```mlir
    #transformer.transpose<@c_fc.weight>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

def Transformer_ConcatAttr : Transformer_ValueAttr<"Concat", "concat",
    "::llvm::to_vector(getValues())"> {
  let summary = "values joined along axis 0";
  let description = [{
    ```mlir
    #transformer.concat<@q.weight, @k.weight, @v.weight>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` $values `>`";
}

def Transformer_TimesAttr : Transformer_ValueAttr<"Times", "times",
    "{getValue(), getFactor()}"> {
  let summary = "value * factor, rounded once; factor: number, or a value";
  let description = [{
    A factor that is a value of shape [rows] multiplies row by row, one of
    shape [1, columns] column by column, one of shape [1] everything.

    ```mlir
    #transformer.times<@o.weight, 5.000000e-01>
    #transformer.times<@o.weight, @gamma>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Attribute":$factor);
  let assemblyFormat = "`<` $value `,` $factor `>`";
}

def Transformer_PlusAttr : Transformer_ValueAttr<"Plus", "plus",
    "{getValue(), getTerm()}"> {
  let summary = "value + term, element by element; term: number, or a value";
  let description = [{
    A term of shape [columns] of a value of rank 2 is added to every row.

    ```mlir
    #transformer.plus<@norm.weight, 1.000000e+00>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Attribute":$term);
  let assemblyFormat = "`<` $value `,` $term `>`";
}

def Transformer_NumbersAttr : Transformer_ValueAttr<"Numbers", "numbers"> {
  let summary = "numbers that follow from the model's description";
  let description = [{
    Constraints:
    * (C1) as many numbers as the type has elements; all finite.

    ```mlir
    #transformer.numbers<[0.5, 0.25], tensor<2xf32>>
    ```
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$numbers, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` custom<Doubles>($numbers) `,` $type `>`";
  let genVerifyDecl = 1;
}

def Transformer_SinusoidAttr : Transformer_ValueAttr<"Sinusoid", "sinusoid"> {
  let summary = "fixed position table: sines, then cosines";
  let description = [{
    [positions, 2n]: row p is sin(p f_0) ... sin(p f_{n-1}), cos(p f_0) ...; f_i =
    10000^(-i / divisor). n is half the channels; divisor n (Marian) or n - 1
    (M2M-100, Whisper), finite and > 0. Row `zero` is all zeros where zero >= 0 (a
    padding row).

    ```mlir
    #transformer.sinusoid<divisor = 4.0, zero = -1, tensor<16x8xf32>>
    ```
  }];
  let parameters = (ins Transformer_F64:$divisor, "int64_t":$zero, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` `divisor` `=` $divisor `,` `zero` `=` $zero `,` $type `>`";
}

def Transformer_GatherAttr : Transformer_ValueAttr<"Gather", "gather",
    "{getValue()}"> {
  let summary = "rows of a value, in the order of indices; -1 is a row of zeros";
  let description = [{
    ```mlir
    #transformer.gather<@table, [2, 1, 0, 1, 2]>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::DenseI64ArrayAttr":$indices);
  let assemblyFormat = "`<` $value `,` $indices `>`";
}

def Transformer_RepeatAttr : Transformer_ValueAttr<"Repeat", "repeat",
    "{getValue()}"> {
  let summary = "a value's rows `count` times: each (aabb) or the whole (abab)";
  let description = [{
    ```mlir
    #transformer.repeat<@q_norm.weight, 4, each = false>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "int64_t":$count, "bool":$each);
  let assemblyFormat = "`<` $value `,` $count `,` `each` `=` $each `>`";
}

def Transformer_ReshapeAttr : Transformer_ValueAttr<"Reshape", "reshape",
    "{getValue()}"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    #transformer.reshape<@conv.weight, [8, 48]>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::DenseI64ArrayAttr":$shape);
  let assemblyFormat = "`<` $value `,` $shape `>`";
}

def Transformer_PermuteAttr : Transformer_ValueAttr<"Permute", "permute",
    "{getValue()}"> {
  let summary = "dimension i of the result is dimension order[i] of the value";
  let description = [{
    ```mlir
    #transformer.permute<@conv.weight, [0, 2, 1]>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::DenseI64ArrayAttr":$order);
  let assemblyFormat = "`<` $value `,` $order `>`";
}

def Transformer_StackAttr : Transformer_ValueAttr<"Stack", "stack",
    "::llvm::to_vector(getValues())"> {
  let summary = "values of one shape along a new first dimension (experts)";
  let description = [{
    ```mlir
    #transformer.stack<@experts.0.w, @experts.1.w>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` $values `>`";
}

def Transformer_ProductAttr : Transformer_ValueAttr<"Product", "product",
    "{getLeft(), getRight()}"> {
  let summary = "left * right^T, [m, k] and [n, k], summed in double";
  let description = [{
    ```mlir
    #transformer.product<@coords, @cpb.weight>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$left, "::mlir::Attribute":$right);
  let assemblyFormat = "`<` $left `,` $right `>`";
}

def Transformer_ApplyAttr : Transformer_ValueAttr<"Apply", "apply",
    "{getValue()}"> {
  let summary = "a scalar function on every element";
  let description = [{
    exp_min_ln100: exp(min(x, ln 100)); bfloat16: rounded to bfloat16; rsqrt: 1 / sqrt(x).

    ```mlir
    #transformer.apply<@logit_scale, exp_min_ln100>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value,
                        EnumParameter<Transformer_ValueFunction>:$function);
  let assemblyFormat = "`<` $value `,` $function `>`";
}

def Transformer_NormedAttr : Transformer_ValueAttr<"Normed", "normed",
    "{getValue(), getWeight(), getBias()}"> {
  let summary = "every row of a value normed: layer norm with weight and bias";
  let description = [{
    value is [rows, n], weight and bias [n]; eps is finite and >= 0.

    ```mlir
    #transformer.normed<@rel.weight, weight = @n.weight, bias = @n.bias, eps = 1.0e-7>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Attribute":$weight,
                        "::mlir::Attribute":$bias, Transformer_F64:$eps);
  let assemblyFormat = "`<` $value `,` `weight` `=` $weight `,` `bias` `=` $bias `,` `eps` `=` $eps `>`";
}

def Transformer_PackAttr : Transformer_ValueAttr<"Pack", "pack",
    "{getValue()}"> {
  let summary = "a linear's weight in panels, as kernels read it";
  let description = [{
    [accumulators * N, K] -> [ceil(N * accumulators / panel), K, panel], zero
    where a panel runs over; a stack [E, accumulators * N, K] gains the first
    dimension E. With two accumulators the first half of the rows
    and the second are interleaved in blocks of panel / 2, so that one panel
    holds both accumulators of panel / 2 output columns. With a group of g values
    of K lie side by side: [panels, ceil(K / g), panel * g], column j's value k at
    j * g + k % g, zero past K.

    ```mlir
    #transformer.pack<@up.weight, panel = 64, accumulators = 1>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "int64_t":$panel,
                        "int64_t":$accumulators, DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = "`<` $value `,` `panel` `=` $panel `,` `accumulators` `=` $accumulators (`,` `group` `=` $group^)? `>`";
}

def Transformer_InBlocksAttr : Transformer_ValueAttr<"InBlocks", "in_blocks",
    "{getValue()}"> {
  let summary = "the numbers of a value as blocks of an encoding hold them";
  let description = [{
    Each row (the last dimension) is cut into blocks. Rows that are stored in blocks of
    this encoding keep them. Other numbers become integer levels, each the nearest, ties to
    even, times a scale, less a least value where the encoding has these; a block with a
    number that is not finite is all NaN.

    | | levels | scale, least value |
    |---|---|---|
    | q8_0, q5_0, q4_0 | -128 to 127, -16 to 15, -8 to 7 | f16, of 32: the number of the largest magnitude over 127, -16, -8; a block that some f16 makes exact gets that one |
    | q5_1, q4_1 | 0 to 31, 0 to 15 | both f16, of 32: the range over 31 or 15, the least number |
    | q5_k, q4_k | the same | the same of 32 numbers and 0, as integers to 63 times f16 steps that 256 share |
    | q6_k | -32 to 31 | of 16: the number of the largest magnitude over -32, as an integer of 8 bits times an f16 step that 256 share |

    The last extent is a multiple of the block's length, 32 or 256.

    ```mlir
    #transformer.in_blocks<@up.weight, q8_0>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value,
                        EnumParameter<Transformer_Encoding>:$encoding);
  let assemblyFormat = "`<` $value `,` $encoding `>`";
}

def Transformer_PackBlocksAttr : Transformer_ValueAttr<"PackBlocks", "pack_blocks",
    "{getValue()}"> {
  let summary = "the bytes of `in_blocks`, in panels of 16 rows, as kernels read them";
  let description = [{
    [accumulators * N, K] -> [ceil(N / 16), K / length, bytes]: blocks of 16 rows of each
    accumulator along K; dialects/transformer/BlockForm.h says where their levels, scales
    and least values lie. Levels are lines of 64 bytes, 4 neighbours of K for 16 rows: level
    k of row j of accumulator a is byte j * 4 + k % 4 of line (k / 4) * A + a, and not
    negative: 128 is added to it (q8_0), 32 (q6_k), 16 (q5_0) or 8 (q4_0), or it is the
    number of one of 16 values (iq4_xs, iq4_nl, mxfp4). Of 4 bits those
    of k and k + 16 are the low and the high half of one byte; a fifth bit is bit k / 4 of
    that byte of line 4 A + a, two upper bits are bits 2 (k / 4 % 4) of that of line
    (4 + k / 16) A + a. Zero where a panel runs over. A stack [E, ...] gains the first
    dimension E.

    ```mlir
    #transformer.pack_blocks<@up.weight, q8_0, accumulators = 1>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value,
                        EnumParameter<Transformer_Encoding>:$encoding,
                        "int64_t":$accumulators);
  let assemblyFormat = "`<` $value `,` $encoding `,` `accumulators` `=` $accumulators `>`";
}

def Transformer_RowScalesAttr : Transformer_ValueAttr<"RowScales", "row_scales",
    "{getValue()}"> {
  let summary = "what the numbers of `quantized` are multiplied by, a number per row";
  let description = [{
    max |row| / 127 or, of e4m3, / 448, of rows along the last dimension, rounded to
    f32; 1 for a row of zeros. [..., N, K] -> [..., N].

    ```mlir
    #transformer.row_scales<@up.weight>
    #transformer.row_scales<@up.weight, e4m3>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value,
                        Transformer_WordOr<Transformer_ByteKind, "i8">:$kind);
  let assemblyFormat = "`<` $value (`,` $kind^)? `>`";
}

def Transformer_QuantizedAttr : Transformer_ValueAttr<"Quantized", "quantized",
    "{getValue()}"> {
  let summary = "every row divided by its `row_scales`, to the nearest number of a byte";
  let description = [{
    Numbers are integers from -127 to 127 or, of e4m3, floats of 4 bits from -448 to
    448, ties to even.

    ```mlir
    #transformer.quantized<@up.weight>
    #transformer.quantized<@up.weight, e4m3>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value,
                        Transformer_WordOr<Transformer_ByteKind, "i8">:$kind);
  let assemblyFormat = "`<` $value (`,` $kind^)? `>`";
}

def Transformer_RowSumsAttr : Transformer_ValueAttr<"RowSums", "row_sums",
    "{getValue()}"> {
  let summary = "the sum of every row: [..., N, K] -> [..., N, 1]";
  let description = [{
    ```mlir
    #transformer.row_sums<#transformer.quantized<@up.weight>>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

def Transformer_ColumnRmsAttr : Transformer_ValueAttr<"ColumnRms", "column_rms",
    "{getValue()}"> {
  let summary = "how large every column is, beside all of them";
  let description = [{
    The root mean square of each column over that of the whole; 1 for a column of
    zeros. [N, K] -> [1, K].

    ```mlir
    #transformer.column_rms<@down.weight>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

#endif

// Norms, scales and the values of parameters, as attributes.
#ifndef MILLE_TRANSFORMER_ATTRS
#define MILLE_TRANSFORMER_ATTRS
include "dialects/transformer/TransformerDialect.td"

class Transformer_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary,
        !foreach(i, !range(words), I32EnumAttrCase<words[i], i>)> {
  let cppNamespace = "::mille::transformer";
  let genSpecializedAttr = 0;
}

def Transformer_NormKind : Transformer_Enum<"NormKind", "how a row is normed",
    ["layer_norm", "rms_norm", "l2_norm", "identity"]>;
def Transformer_Affine : Transformer_Enum<"Affine",
    "what multiplies the normed row", ["none", "weight", "one_plus_weight"]>;
def Transformer_ScaleKind : Transformer_Enum<"ScaleKind", "what a scale is",
    ["constant", "learned_scalar", "learned_channel", "scheduled"]>;
def Transformer_Share : Transformer_Enum<"Share",
    "over what a learned scale is one parameter", ["unit", "layer", "model"]>;
def Transformer_Tap : Transformer_Enum<"Tap",
    "where a unit's skip is taken", ["input", "normed"]>;
def Transformer_Activation : Transformer_Enum<"Activation",
    "scalar function between two linears",
    ["identity", "relu", "relu2", "gelu_erf", "gelu_tanh", "quick_gelu", "silu",
     "tanh", "sigmoid"]>;
def Transformer_Pairing : Transformer_Enum<"Pairing",
    "which dimensions RoPE turns together", ["half", "interleaved"]>;
def Transformer_Mask : Transformer_Enum<"Mask",
    "which keys a query sees", ["bidirectional", "causal"]>;
def Transformer_Pool : Transformer_Enum<"Pool",
    "how tokens become one vector", ["first", "last", "mean"]>;
def Transformer_Distribution : Transformer_Enum<"Distribution",
    "what initial values are drawn from",
    ["fixed", "normal", "uniform", "truncated_normal"]>;

// A double compared by its bits, printed with the fewest digits that read back.
def Transformer_F64 : AttrOrTypeParameter<"::mille::transformer::F64", "">;

def Transformer_NormAttr : Transformer_Attr<"Norm", "norm"> {
  let summary = "one norm: kind, eps, and the parameters that follow it";
  let description = [{
    layer_norm: (x - mean) / sqrt(var + eps), biased variance; rms_norm:
    x / sqrt(mean(x^2) + eps); l2_norm: x / max(|x|, eps); identity: x.
    Then `* weight` (affine = weight), `* (1 + weight)` (one_plus_weight), and
    `+ bias` where there is one.

    Constraints:
    * (C1) eps is finite and >= 0, and > 0 for layer_norm and rms_norm.
    * (C2) a weight is named exactly when affine is not none.
    * (C3) identity has neither weight nor bias.

    ```mlir
    #transformer.norm<layer_norm, eps = 1.0e-5, affine = weight, weight = @n.weight, bias = @n.bias>
    ```
  }];
  let parameters = (ins
    EnumParameter<Transformer_NormKind>:$kind,
    Transformer_F64:$eps,
    EnumParameter<Transformer_Affine>:$affine,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$weight,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$bias);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Transformer_ScaleAttr : Transformer_Attr<"Scale", "scale"> {
  let summary = "a scale on a skip or a branch";
  let description = [{
    constant: `value`, with the depth formula it came from kept beside it, or
    `slot`, a column of the layer table, where layers differ; learned_scalar,
    learned_channel: the parameter `symbol`; scheduled: linear in the optional
    input `step` from `from` to `to` over `steps` steps, then `to`.

    Constraints:
    * (C1) value, from and to are finite.
    * (C2) learned scales name a parameter; the others do not, but for a
      constant read from the layer table.
    * (C3) a scheduled scale has steps > 0.
    * (C4) formula and value agree to 1e-12 where the formula has no free name.

    ```mlir
    #transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">
    #transformer.scale<constant @"layers.*.attn.skip_scale">
    #transformer.scale<learned_scalar @alpha, share = layer>
    #transformer.scale<learned_channel @gamma>
    #transformer.scale<scheduled from 0.0 to 1.0 over 1000>
    ```
  }];
  let parameters = (ins
    EnumParameter<Transformer_ScaleKind>:$kind,
    Transformer_F64:$value,
    OptionalParameter<"::mlir::StringAttr">:$formula,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$symbol,
    EnumParameter<Transformer_Share>:$share,
    Transformer_F64:$from,
    Transformer_F64:$to,
    "int64_t":$steps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===-- Values of parameters ------------------------------------------------===//
// A parameter's value is an expression over stored tensors: evaluated one
// parameter at a time, so memory stays bounded and folding can be undone.
// Operands are other expressions or symbols (FlatSymbolRefAttr): a parameter of
// the model or, inside `layers`, a column of the layer table.
// Shapes below are row-major; a linear's weight is [out, in].

def Transformer_StoredAttr : Transformer_Attr<"Stored", "stored"> {
  let summary = "a tensor of a safetensors file, element type as stored";
  let description = [{
    ```mlir
    #transformer.stored<"model.safetensors", "wte.weight", tensor<64x32xbf16>>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$name,
                        "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $file `,` $name `,` $type `>`";
}

def Transformer_DrawnAttr : Transformer_Attr<"Drawn", "drawn"> {
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
    Transformer_F64:$cut, "uint64_t":$seed,
    StringRefParameter<>:$stream, "::mlir::RankedTensorType":$type);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Transformer_SliceAttr : Transformer_Attr<"Slice", "slice"> {
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

def Transformer_TransposeAttr : Transformer_Attr<"Transpose", "transpose"> {
  let summary = "rows and columns exchanged";
  let description = [{
    ```mlir
    #transformer.transpose<@c_fc.weight>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

def Transformer_ConcatAttr : Transformer_Attr<"Concat", "concat"> {
  let summary = "values joined along axis 0";
  let description = [{
    ```mlir
    #transformer.concat<@q.weight, @k.weight, @v.weight>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` $values `>`";
}

def Transformer_TimesAttr : Transformer_Attr<"Times", "times"> {
  let summary = "value * factor, rounded once; factor: number, or a value";
  let description = [{
    A factor that is a value of shape [rows] multiplies row by row, one of
    shape [1] everything.

    ```mlir
    #transformer.times<@o.weight, 5.000000e-01>
    #transformer.times<@o.weight, @gamma>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Attribute":$factor);
  let assemblyFormat = "`<` $value `,` $factor `>`";
}

def Transformer_PlusAttr : Transformer_Attr<"Plus", "plus"> {
  let summary = "value + term, element by element; term: number, or a value";
  let description = [{
    ```mlir
    #transformer.plus<@norm.weight, 1.000000e+00>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Attribute":$term);
  let assemblyFormat = "`<` $value `,` $term `>`";
}

def Transformer_PackAttr : Transformer_Attr<"Pack", "pack"> {
  let summary = "a linear's weight in panels, as kernels read it";
  let description = [{
    [accumulators * N, K] -> [ceil(N * accumulators / panel), K, panel], zero
    where a panel runs over. With two accumulators the first half of the rows
    and the second are interleaved in blocks of panel / 2, so that one panel
    holds both accumulators of panel / 2 output columns.

    ```mlir
    #transformer.pack<@up.weight, panel = 64, accumulators = 1>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$value, "int64_t":$panel,
                        "int64_t":$accumulators);
  let assemblyFormat = "`<` $value `,` `panel` `=` $panel `,` `accumulators` `=` $accumulators `>`";
}
#endif

// Norms and scales as attributes, and the words of all attributes.
#ifndef MILLE_TRANSFORMER_ATTRS
#define MILLE_TRANSFORMER_ATTRS
include "dialects/transformer/TransformerDialect.td"

class Transformer_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary,
        !foreach(i, !range(words), I32EnumAttrCase<words[i], i>)> {
  let cppNamespace = "::mille::transformer";
  let genSpecializedAttr = 0;
  // Its message says what the word is for.
  let parameterParser = "::mlir::FieldParser<" # cppType # ">::parse($_parser)";
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
     "tanh", "sigmoid", "softplus", "exp"]>;
def Transformer_Pairing : Transformer_Enum<"Pairing",
    "which dimensions RoPE turns together", ["half", "interleaved"]>;
def Transformer_Mask : Transformer_Enum<"Mask",
    "which keys a query sees", ["bidirectional", "causal"]>;
def Transformer_Pool : Transformer_Enum<"Pool",
    "how tokens become one vector", ["first", "last", "mean", "first_id", "highest_id"]>;
def Transformer_Resize : Transformer_Enum<"Resize",
    "how a table of positions becomes one of another grid",
    ["bicubic", "bicubic_antialiased"]>;
def Transformer_Move : Transformer_Enum<"Move",
    "where an image's tokens go", ["into_windows", "out_of_windows", "merge"]>;
def Transformer_LengthKind : Transformer_Enum<"LengthKind",
    "what of a query's position or keys scales its scores",
    ["log_keys", "log_position", "log_floor"]>;
def Transformer_RouterScore : Transformer_Enum<"RouterScore",
    "how router logits become scores", ["softmax", "sigmoid"]>;
def Transformer_GroupScore : Transformer_Enum<"GroupScore",
    "how a group of experts is scored", ["max", "sum_top2"]>;
def Transformer_ValueFunction : Transformer_Enum<"ValueFunction",
    "scalar function on a parameter's elements",
    ["relu", "gelu_erf", "sigmoid", "tanh", "exp", "exp_min_ln100", "negate",
     "sqrt", "rsqrt", "bfloat16"]>;
def Transformer_Encoding : Transformer_Enum<"Encoding",
    "how the numbers of a stored row are written",
    ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "boolean",
     "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "mxfp4",
     "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs"]>;
def Transformer_ByteKind : Transformer_Enum<"ByteKind",
    "the numbers that a byte stands for", ["i8", "e4m3"]>;
def Transformer_Distribution : Transformer_Enum<"Distribution",
    "what initial values are drawn from",
    ["fixed", "normal", "uniform", "truncated_normal"]>;

// A word of `key = word`, which is not printed where it is `other`.
class Transformer_WordOr<EnumAttrInfo info, string other>
    : DefaultValuedParameter<info.cppType, info.cppType # "::" # other,
                             info.summary> {
  let parser = info.parameterParser;
  let printer = info.parameterPrinter;
}

// A double compared by its bits, printed with the fewest digits that read back.
def Transformer_F64 : AttrOrTypeParameter<"::mille::transformer::F64", "">;

def Transformer_NormAttr : Transformer_Attr<"Norm", "norm"> {
  let summary = "one norm: kind, eps, and the parameters that follow it";
  let description = [{
    layer_norm: (x - mean) / sqrt(var + eps), biased variance; rms_norm:
    x / sqrt(mean(x^2) + eps); l2_norm: x / max(|x|, eps); identity: x.
    Then `* weight` (affine = weight), `* (1 + weight)` (one_plus_weight), and
    `+ bias` where there is one. `group` > 0 norms each `group` channels by
    themselves (a head's, group = head_dim); weight and bias are then [group],
    shared by the groups, or [channels]. Below f32, too, all of it is computed in
    f32, and the result is rounded once, whether the model's own code rounds
    before the weight (Llama, T5), after it (Gemma, OLMo 2), or both.

    Constraints:
    * (C1) eps is finite and >= 0, and > 0 for layer_norm and rms_norm.
    * (C2) a weight is named exactly when affine is not none.
    * (C3) identity has neither weight nor bias.
    * (C4) group >= 0.

    ```mlir
    #transformer.norm<layer_norm, eps = 1.0e-5, affine = weight, weight = @n.weight, bias = @n.bias>
    ```
  }];
  let parameters = (ins
    EnumParameter<Transformer_NormKind>:$kind,
    DefaultValuedParameter<"F64", "F64(0.0)">:$eps,
    Transformer_WordOr<Transformer_Affine, "none">:$affine,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$weight,
    OptionalParameter<"::mlir::FlatSymbolRefAttr">:$bias,
    DefaultValuedParameter<"int64_t", "0">:$group);
  let builders = [AttrBuilder<(ins "NormKind":$kind, "F64":$eps, "Affine":$affine,
      "::mlir::FlatSymbolRefAttr":$weight, "::mlir::FlatSymbolRefAttr":$bias), [{
    return $_get($_ctxt, kind, eps, affine, weight, bias, 0);
  }]>];
  let assemblyFormat = "`<` $kind (`,` struct($eps, $affine, $weight, $bias, $group)^)? `>`";
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

def Transformer_LengthScaleAttr : Transformer_Attr<"LengthScale", "length_scale"> {
  let summary = "a factor on a query's scores that follows its position or keys";
  let description = [{
    log_keys: log(max(n, floor)) / log(base), n = the keys that the query sees
    (RoFormerV2's entropy-invariant softmax); log_position: max(1, log(i + 1) /
    log(base)), i = its token (Qwen-1); log_floor: 1 + beta log(1 + floor((p +
    offset) / period)), p = its position id (Llama 4, Ministral 3).

    Constraints:
    * (C1) base is finite and > 1 for log_keys and log_position; floor >= 1.
    * (C2) beta is finite and period > 0 for log_floor.
    * (C3) what is no part of a kind is not given.

    ```mlir
    #transformer.length_scale<log_keys, base = 512.0, floor = 16.0>
    #transformer.length_scale<log_floor, beta = 0.1, period = 8192, offset = 1>
    ```
  }];
  let parameters = (ins EnumParameter<Transformer_LengthKind>:$kind,
    DefaultValuedParameter<"F64", "F64(0.0)">:$base,
    DefaultValuedParameter<"F64", "F64(1.0)">:$floor,
    DefaultValuedParameter<"F64", "F64(0.0)">:$beta,
    DefaultValuedParameter<"int64_t", "0">:$period,
    DefaultValuedParameter<"int64_t", "0">:$offset);
  let assemblyFormat = "`<` $kind (`,` struct($base, $floor, $beta, $period, $offset)^)? `>`";
  let genVerifyDecl = 1;
}

def Transformer_LongContextAttr : Transformer_Attr<"LongContext", "long_context"> {
  let summary = "RoPE frequencies of runs longer than `after` tokens";
  let description = [{
    The length is the run's largest position + 1. Beyond `after`, `frequencies`
    take the place of the rotation's own (longrope); or, where there are none,
    frequency i of n is divided by s^(i / (n - 1)), s = stretch * length / after
    - (stretch - 1) (dynamic NTK).

    Constraints:
    * (C1) after > 0.
    * (C2) frequencies are finite; without them stretch is finite and >= 1.

    ```mlir
    #transformer.long_context<after = 8, stretch = 2.0>
    #transformer.long_context<after = 16, frequencies = [1.0, 0.01]>
    ```
  }];
  let parameters = (ins "int64_t":$after,
                        DefaultValuedParameter<"F64", "F64(1.0)">:$stretch,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$frequencies);
  let assemblyFormat = "`<` struct($after, $stretch, custom<Doubles>($frequencies)) `>`";
  let genVerifyDecl = 1;
}

#endif

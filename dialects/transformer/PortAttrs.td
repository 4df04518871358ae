// What an entry's inputs, outputs and states say of themselves, as attributes.
#ifndef MILLE_TRANSFORMER_PORT_ATTRS
#define MILLE_TRANSFORMER_PORT_ATTRS
include "dialects/transformer/ValueAttrs.td"

def Transformer_ShapeAttr : Transformer_Attr<"Shape", "shape"> {
  let summary = "the shape of an input, output or state, with sizes by name";
  let description = [{
    An extent is a number, or the name of a size that each run chooses: `batch`,
    `tokens`, `decoder_tokens`, ...

    Constraints:
    * (C1) a number is >= 0; a name is letters, digits and `_`, no digit first.

    ```mlir
    #transformer.shape<batch, tokens, 768>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$extents);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mille::ShapeExtent>":$shape)>];
  let extraClassDeclaration = [{
    ::mille::Shape getShape() const;
    // Whether an extent is the size of this name.
    bool has(::llvm::StringRef size) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Transformer_PartAttr : Transformer_Attr<"Part", "part"> {
  let summary = "tokens of a stage of an image, or of its windows";
  let description = [{
    `tokens` names a size of the run: each * (height / side[0]) * (width / side[1]), both
    rounded up. A stage of Swin has a token for each `side` pixels; a window has `each`
    tokens and `side` pixels.

    Constraints:
    * (C1) side is two numbers and each one, all > 0 and below 2^31.
    * (C2) tokens is a name: letters, digits and `_`, no digit first.

    ```mlir
    #transformer.part<tokens = "windowed_tokens", side = [28, 28], each = 49>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$tokens, ArrayRefParameter<"int64_t">:$side,
    "int64_t":$each);
  let assemblyFormat = "`<` `tokens` `=` $tokens `,` `side` `=` `[` $side `]` `,` `each` `=` $each `>`";
  let extraClassDeclaration = [{
    int64_t countTokens(int64_t height, int64_t width) const {
      return getEach() * ((height + getSide()[0] - 1) / getSide()[0]) *
             ((width + getSide()[1] - 1) / getSide()[1]);
    }
  }];
  let genVerifyDecl = 1;
}

def Transformer_GridAttr : Transformer_Attr<"Grid", "grid"> {
  let summary = "the patches of an image whose sides are sizes of the run";
  let description = [{
    Belongs to an input [batch, channels, height, width], whose last two extents are
    sizes. A further size of the run follows from them: `tokens` is prefix + (height /
    patch[0]) * (width / patch[1]), rounded down. `own` is the image that the model was
    trained with. A side is a multiple of its patch where the own one is; else the rows
    or columns that make no whole patch are left out. `parts` are further sizes that
    follow; `least` is the smallest image, a patch where it is absent.

    Constraints:
    * (C1) patch and own are two numbers each, 0 < patch <= own; prefix >= 0; all are below
      2^31.
    * (C2) tokens is a name: letters, digits and `_`, no digit first.
    * (C3) parts go with an own image of whole patches and without a prefix; their names
      differ from each other and from tokens.
    * (C4) least is absent, or two numbers from patch to own.

    ```mlir
    #transformer.grid<tokens = "image_tokens", patch = [16, 16], own = [224, 224], prefix = 5>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$tokens, ArrayRefParameter<"int64_t">:$patch,
    ArrayRefParameter<"int64_t">:$own, "int64_t":$prefix,
    OptionalArrayRefParameter<"PartAttr">:$parts, OptionalArrayRefParameter<"int64_t">:$least);
  let assemblyFormat = [{
    `<` `tokens` `=` $tokens `,` `patch` `=` `[` $patch `]` `,` `own` `=` `[` $own `]` `,`
    `prefix` `=` $prefix (`,` `parts` `=` `[` $parts^ `]`)? (`,` `least` `=` `[` $least^ `]`)?
    `>`
  }];
  let extraClassDeclaration = [{
    // What a side is a multiple of; axis 0 is the height.
    int64_t getMultiple(unsigned axis) const {
      return getOwn()[axis] % getPatch()[axis] ? 1 : getPatch()[axis];
    }
    int64_t countTokens(int64_t height, int64_t width) const {
      return getPrefix() + height / getPatch()[0] * (width / getPatch()[1]);
    }
    // The smallest side.
    int64_t getLeastOf(unsigned axis) const {
      return getLeast().empty() ? getPatch()[axis] : getLeast()[axis];
    }
    // The name of the size that is `each` tokens for `side` pixels; "" for none.
    llvm::StringRef getTokensOf(llvm::ArrayRef<int64_t> side, int64_t each) const;
  }];
  let genVerifyDecl = 1;
}
#endif

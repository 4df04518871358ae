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
#endif

// What the files of kernel ops share: the dialect, types and attributes.
#ifndef MILLE_KERNEL_TYPES
#define MILLE_KERNEL_TYPES
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelEnums.td"
include "dialects/transformer/TransformerTypes.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::mille::kernel";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mille::transformer::TransformerDialect",
                           "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_BiasByAttr : EnumAttr<Kernel_Dialect, Kernel_BiasBy, "bias_by">;

def Kernel_RowNormAttr : AttrDef<Kernel_Dialect, "RowNorm"> {
  let mnemonic = "row_norm";
  let summary = "norm of a whole row, without affine part";
  let description = [{
    layer: (x - mean) / sqrt(var + eps); rms: x / sqrt(mean(x^2) + eps);
    l2: x / max(|x|, eps). `group` > 0: each `group` columns by themselves.

    ```mlir
    #kernel.row_norm<layer, 1.0e-05>
    ```
  }];
  let parameters = (ins EnumParameter<Kernel_RowNormKind>:$kind, "::mlir::FloatAttr":$eps,
                        DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` $kind `,` custom<Number>($eps) (`,` `group` `=` $group^)? `>`";
}

// Attributes of the transformer dialect that kernels keep as they are.
class Kernel_FromTransformer<string name>
    : Attr<CPred<"::llvm::isa<::mille::transformer::" # name # "Attr>($_self)">,
           "transformer " # name> {
  let storageType = "::mille::transformer::" # name # "Attr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
}
def Kernel_LengthScale : Kernel_FromTransformer<"LengthScale">;
def Kernel_LongContext : Kernel_FromTransformer<"LongContext">;

def Kernel_Buffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

// Buffers of one form, on tensors and on memrefs.
class Kernel_Form<string words, int rank, code elements, code also = "true">
    : Type<And<[Kernel_Buffer.predicate, CPred<[{
        ::llvm::cast<::mlir::ShapedType>($_self).getRank() == }] # rank>,
        CPred<"::llvm::cast<::mlir::ShapedType>($_self).getElementType()." #
              elements>,
        CPred<also>]>, words>;
def Kernel_Integers : Kernel_Form<"i32 [rows]", 1, "isSignlessInteger(32)">;
def Kernel_FloatRows : Kernel_Form<"f32 [rows, columns]", 2, "isF32()",
    "::llvm::cast<::mlir::ShapedType>($_self).getDimSize(1) > 0">;
def Kernel_FloatColumn : Kernel_Form<"f32 [rows, 1]", 2, "isF32()",
    "::llvm::cast<::mlir::ShapedType>($_self).getDimSize(1) == 1">;
#endif

// The definitions that all files of kernel ops use: the dialect, types,
// attributes.
#ifndef MILLE_KERNEL_TYPES
#define MILLE_KERNEL_TYPES
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/KernelEnums.td"
include "dialects/kernel/OpInterfaces.td"
include "dialects/transformer/TransformerTypes.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::mille::kernel";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mille::transformer::TransformerDialect",
                           "mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

// An op that writes its `destinations`, a MutableOperandRange. On tensors it is
// pure, and each result has as many rows as its destination.
class Kernel_DestinationOp<string mnemonic, list<Trait> traits, string destinations>
    : Kernel_Op<mnemonic, traits # [DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<Kernel_RowSource>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return }] # destinations # [{; }
  }];
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getRowsLike(unsigned result) {
      return getDpsInits()[result];
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      destinationEffects(*this, effects);
    }
  }];
}
class Kernel_GeneratedOp<string mnemonic, list<Trait> traits = [],
                         string destinations = "getOutMutable()">
    : Kernel_DestinationOp<mnemonic, traits # [Kernel_Generated], destinations>;
class Kernel_PreparedOp<string mnemonic, list<Trait> traits = [],
                        string destinations = "getOutMutable()">
    : Kernel_DestinationOp<mnemonic, traits # [Kernel_Prepared], destinations>;

// An op that writes no operand but an output of the entry, which it names.
class Kernel_OutputOp<string mnemonic, list<Trait> traits = []>
    : Kernel_Op<mnemonic, traits # [Kernel_Prepared, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, 0);
    }
  }];
  let extraClassDefinition = [{
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      destinationEffects(*this, effects);
      effects.emplace_back(::mlir::MemoryEffects::Write::get());
    }
  }];
}

def Kernel_BiasByAttr : EnumAttr<Kernel_Dialect, Kernel_BiasBy, "bias_by">;
def Kernel_StatePanelsAttr : EnumAttr<Kernel_Dialect, Kernel_StatePanels, "state_panels">;

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
  let parameters = (ins EnumParameter<Kernel_RowNormKind>:$kind, Transformer_F64:$eps,
                        DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` $kind `,` $eps (`,` `group` `=` $group^)? `>`";
}

// Attributes of the transformer dialect that kernel ops use unchanged.
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

// Types of buffers of one form, as tensors and as memrefs.
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

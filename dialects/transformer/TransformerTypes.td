// What the files of ops share: types, and enum attributes as bare words.
#ifndef MILLE_TRANSFORMER_TYPES
#define MILLE_TRANSFORMER_TYPES
include "dialects/transformer/PortAttrs.td"
include "dialects/transformer/LayerStack.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic, traits>;

// [..., channels]: two dimensions or more.
def Transformer_Stream : Type<
    And<[RankedTensorOf<[F32]>.predicate,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 2">]>,
    "f32 tensor of rank 2 or more", "::mlir::RankedTensorType">;
def Transformer_Ids : RankedTensorOf<[I32]>;

// An enum attribute printed as a bare word.
class Transformer_Word<EnumAttrInfo info>
    : EnumAttr<Transformer_Dialect, info, !tolower(info.className)>;
def Transformer_TapWord : Transformer_Word<Transformer_Tap>;
def Transformer_ActivationWord : Transformer_Word<Transformer_Activation>;
def Transformer_PairingWord : Transformer_Word<Transformer_Pairing>;
def Transformer_MaskWord : Transformer_Word<Transformer_Mask>;
def Transformer_PoolWord : Transformer_Word<Transformer_Pool>;
def Transformer_ResizeWord : Transformer_Word<Transformer_Resize>;
def Transformer_MoveWord : Transformer_Word<Transformer_Move>;
def Transformer_RouterScoreWord : Transformer_Word<Transformer_RouterScore>;
def Transformer_GroupScoreWord : Transformer_Word<Transformer_GroupScore>;
def Transformer_EncodingWord : Transformer_Word<Transformer_Encoding>;
def Transformer_Symbol : OptionalAttr<FlatSymbolRefAttr>;
def Transformer_Bias : RankedTensorOf<[F32]>;
#endif

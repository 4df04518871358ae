// The `transformer` dialect: what a model says. Placement, scales and norms are
// attributes; nothing here knows a target, a file or a pass.
#ifndef MILLE_TRANSFORMER_DIALECT
#define MILLE_TRANSFORMER_DIALECT
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::mille::transformer";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["mlir::func::FuncDialect"];
  // Verifiers run after every pass; what they warn of is said once a context.
  let extraClassDeclaration = [{
    bool isFirstWarning(::llvm::StringRef of);
  private:
    std::set<std::string> warned;
    std::mutex guard;
  }];
}

class Transformer_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Transformer_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}
#endif

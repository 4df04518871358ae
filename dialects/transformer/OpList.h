// The ops of a dialect as a list of types: a switch over it that forgets one
// does not compile. Must not be kept by hand: ODS generates the lists.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mille {

template <typename... Ops> struct OpList {
  // Calls `function` with the op as its own class, or `otherwise` with an op
  // that is not in the list.
  template <typename Result, typename Function, typename Otherwise>
  static Result visit(mlir::Operation *op, Function &&function,
                      Otherwise &&otherwise) {
    return llvm::TypeSwitch<mlir::Operation *, Result>(op)
        .template Case<Ops...>(function)
        .Default(otherwise);
  }
};

namespace transformer {

using Ops = OpList<
#define GET_OP_LIST
#include "dialects/transformer/TransformerOps.cpp.inc"
    >;

} // namespace transformer
} // namespace mille

// The closed list of boundaries that fusion can remove.
// Must not say how.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace mille::boundary {

inline constexpr llvm::StringLiteral biasActivation = "bias-activation",
                                     qkv = "qkv", gateUp = "gate-up",
                                     rope = "rope",
                                     softmaxScale = "softmax-scale",
                                     residual = "residual",
                                     addNorm = "add-norm",
                                     embedNorm = "embed-norm";

// In the order of the report's pages.
inline constexpr llvm::StringRef all[] = {
    biasActivation, qkv,      gateUp,  rope,
    softmaxScale,   residual, addNorm, embedNorm};

} // namespace mille::boundary

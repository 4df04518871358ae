// The closed list of boundaries that fusion can remove, and of what keeps one
// though the fused kernel would compute the same: no kernel of ours does it.
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

namespace mille::missing {

inline constexpr llvm::StringLiteral
    lastLayer = "the last layer makes the sum, and not every layer begins with "
                "this norm",
    layerBefore = "the layer before makes the sum, and not every layer begins "
                  "with this norm",
    outside = "the value is made outside the layer",
    inLoop =
        "the norm is in the layer loop, and not every layer begins with it",
    inLaunch = "the sum over experts cannot be in a launch",
    between = "a kernel stands between a projection and the attention",
    otherReader = "a projection has another reader",
    allHeads = "the norms are over all heads of query or key",
    noEpilogue = "the sum over experts gathers its rows, it has no epilogue",
    noMaker = "no matmul or row kernel makes a branch's value",
    turnedRead = "another kernel than attention reads what is turned";

inline constexpr llvm::StringRef all[] = {
    lastLayer,   layerBefore, outside,    inLoop,  inLaunch,  between,
    otherReader, allHeads,    noEpilogue, noMaker, turnedRead};

} // namespace mille::missing

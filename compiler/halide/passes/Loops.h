// Loops of a lowered program. Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// Whether a loop is over a variable of the pipeline, or over a part of its
// range.
inline bool isOver(const Halide::Internal::For *loop,
                   const std::string &variable) {
  using Halide::Internal::ends_with;
  return ends_with(loop->name, "." + variable) ||
         ends_with(loop->name, "." + variable + ".rebased");
}

// A loop of the same kind, with another name, range and body.
inline Halide::Internal::Stmt loopLike(const Halide::Internal::For *loop,
                                       const std::string &name,
                                       const Halide::Expr &min,
                                       const Halide::Expr &extent,
                                       const Halide::Internal::Stmt &body) {
  return Halide::Internal::For::make(name, min, extent, loop->for_type,
                                     loop->partition_policy, loop->device_api,
                                     body);
}

} // namespace mille

// Finds what a decoder reads of an encoder, and makes the entry that remembers
// it. Must not change `forward`.
#pragma once
#include "compiler/entries/DeriveParts.h"
#include "compiler/entries/EntryStates.h"

namespace mille::entries {

// The name of the entry that encodes and remembers.
constexpr llvm::StringLiteral sourceName = "source";

// Whether an attention's keys and values are computed of `source` alone.
bool readsSource(transformer::AttendOp attend, mlir::Value source);

// The reason why what an attention reads of `source` cannot be remembered;
// empty if it can.
std::string whyNotSource(transformer::AttendOp attend, mlir::Value source);

// Adds the entry `source`: the outputs of the encoder `encode` of `forward`,
// whose output `cut` the decoder reads; the keys and values that the decoder's
// layers make of it are remembered.
mlir::func::FuncOp deriveSource(mlir::func::FuncOp forward,
                                const EntryPart &encode, unsigned cut);

// Lets a decoder, a slice of `forward` whose input `source` is the encoder's
// output, read what `source` remembered. Its tokens become those of the run.
void recallSource(mlir::func::FuncOp decoder, mlir::BlockArgument source);

} // namespace mille::entries

// A table of GGUF's architectures: how the keys of each become those of a
// family of families/, and how its tensors differ from the family's. No other
// file may name an architecture.
#pragma once
#include "compiler/import/families/Families.h"
#include "compiler/import/gguf/Words.h"

namespace mille::import {

// How tensors differ from those of the family's own files.
enum Trait : unsigned {
  // Rows of queries and keys are stored pair by pair although RoPE pairs the
  // halves of a head: row i + r * (head / 2) is stored at 2 i + r.
  pairedRows = 1,
  // The family's norms multiply by 1 + weight, and the converter added the 1.
  offsetNorms = 2,
  // Gate and up of experts are two tensors, even if the family's files fuse
  // them.
  apartExperts = 4,
  // Attention is not causal.
  bidirectional = 8
};

struct Architecture {
  llvm::StringRef name;
  const Family *family;
  llvm::StringRef model; // the class of the model that was converted
  llvm::ArrayRef<KeyWord> usual, words;
  // Keys of the config that are true if the files hold a tensor.
  llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> flags;
  void (*further)(Words &words); // adds keys whose values need arithmetic
  unsigned traits = 0;
  // Of several architectures with one name, the first that fits is chosen.
  bool (*fits)(Words &words) = nullptr;
  llvm::ArrayRef<TensorName> tensors = {}; // before the usual ones

  bool has(Trait trait) const { return traits & trait; }
};

// The architecture that `general.architecture` names. Null after an error,
// which lists all.
const Architecture *architectureOf(llvm::StringRef name, Words &words);

// Adds rope_scaling and partial_rotary_factor (RopeWords.cpp). `more`: members
// of the object for YaRN that no key holds.
void sayRope(Words &words, llvm::StringRef more = "");
// Adds the part of a head that turns.
void sayPart(Words &words);

// Names of tensors that all architectures share (Names.cpp).
llvm::ArrayRef<TensorName> ggufTensors();

} // namespace mille::import

// What a GGUF of each architecture says in the words of a family of families/,
// and how its tensors differ from the family's own. A table: no other file
// names an architecture.
#pragma once
#include "compiler/import/families/Families.h"
#include "compiler/import/gguf/Words.h"

namespace mille::import {

// How files differ from the family's own.
enum Trait : unsigned {
  // Rows of queries and keys are stored pair by pair, though RoPE turns halves
  // of heads together: row i + r * (head / 2) is at 2 i + r.
  pairedRows = 1,
  // 1 was added to weights of norms that count from 1.
  offsetNorms = 2,
  // Gate and up of experts are stored apart, whatever the family's files do.
  apartExperts = 4,
  // Tokens see those after them.
  bidirectional = 8
};

struct Architecture {
  llvm::StringRef name;
  const Family *family;
  llvm::StringRef model; // the class that the file was converted from
  llvm::ArrayRef<KeyWord> usual, words;
  // Words that are true where the files hold a tensor.
  llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> flags;
  void (*further)(Words &words); // words that take arithmetic
  unsigned traits = 0;
  // Of several of one name: the first that fits.
  bool (*fits)(Words &words) = nullptr;
  llvm::ArrayRef<TensorName> tensors = {}; // before the usual ones

  bool has(Trait trait) const { return traits & trait; }
};

// What `general.architecture` names; null after an error that lists them.
const Architecture *architectureOf(llvm::StringRef name, Words &words);

// rope_scaling, partial_rotary_factor: RopeWords.cpp. `more`: members of a
// YaRN's object that no key says.
void sayRope(Words &words, llvm::StringRef more = "");
// The part of a head that turns.
void sayPart(Words &words);

// Names that all architectures share: Names.cpp.
llvm::ArrayRef<TensorName> ggufTensors();

} // namespace mille::import

// The two large values of a tokenizer.json, apart from its tree: hundreds of
// thousands of tokens and merges, which json::parse would make a tree of.
// Must not know what a merge means.
#pragma once
#include "compiler/json/Json.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mille {

// `rest` is the text without what `vocab` and `merges` of `model` hold; every
// line break of theirs stays, so that positions behind them are right.
struct Sections {
  struct Section {
    llvm::StringRef text; // with its brackets; empty: absent, or no list
    json::Position at;
  };
  std::string rest;
  Section vocab, merges;
};
Sections cutSections(llvm::StringRef text);

// One token with its id (objects) or its score (arrays); one merge.
struct SectionEntry {
  std::string first, second; // second: of merges that are pairs
  bool pair = false;
  double number = 0;
  json::Position at;
};

// Calls `each` with every entry of `{"text": 1, ...}`, `[["text", -1.5], ...]`,
// `["a b", ...]` or `[["a", "b"], ...]`. False after an error, which is
// reported, and where `each` gives false.
bool readSection(const Sections::Section &section, llvm::StringRef path,
                 mlir::MLIRContext &context,
                 llvm::function_ref<bool(SectionEntry &)> each);

} // namespace mille

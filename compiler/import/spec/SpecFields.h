// An object of a native spec read by its table entry: kinds, words and plain
// defaults come from SpecKeys, so reader, page and schema cannot differ.
#pragma once
#include "compiler/import/Fields.h"
#include "compiler/import/spec/SpecKeys.h"

namespace mille::import {

class SpecFields : public Fields {
public:
  // `what` names it in messages: "a unit", "qk_norm".
  SpecFields(const json::Document &document, const json::Value &object,
             llvm::StringRef name, llvm::StringRef what, Problems &problems,
             mlir::MLIRContext &context);

  // Getters of Fields; the default is the table's where it is a number or word,
  // else `absent`, else the key is required.
  Extent whole(llvm::StringRef key, std::optional<int64_t> absent = {},
               int64_t most = largestExtent);
  double real(llvm::StringRef key, std::optional<double> absent = {});
  int64_t count(llvm::StringRef key); // from 0
  bool truth(llvm::StringRef key, bool absent = false);
  // The number of the word among the table's.
  size_t choice(llvm::StringRef key);
  // The word's number, or nothing where the key is absent.
  std::optional<size_t> chosen(llvm::StringRef key);
  // The words that a key may have.
  llvm::SmallVector<llvm::StringRef> words(llvm::StringRef key);
  // Every entry of a list of numbers; empty where absent, or after an error.
  std::vector<double> numbers(llvm::StringRef key);
  std::vector<int64_t> wholes(llvm::StringRef key);
  // The object under a key, as the table's `of` names it.
  std::optional<SpecFields> inner(llvm::StringRef key);
  // Any object by another table entry, here for its problems and place.
  SpecFields as(const json::Value &object, llvm::StringRef name,
                llvm::StringRef what);

  Problems &problems;

private:
  const SpecKey &entry(llvm::StringRef key) { return specKey(table, key); }
  const SpecObject &table;
  mlir::MLIRContext &context;
};

} // namespace mille::import

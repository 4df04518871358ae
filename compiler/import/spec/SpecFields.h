// Reads an object of a native spec by its table entry: kinds, words and plain
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

  // Like the getters of Fields. The default is the table's if that is a number
  // or a word, else `absent`, else the key is required.
  Extent whole(llvm::StringRef key, std::optional<int64_t> absent = {},
               int64_t most = largestExtent);
  double real(llvm::StringRef key, std::optional<double> absent = {});
  int64_t count(llvm::StringRef key); // from 0
  bool truth(llvm::StringRef key, bool absent = false);
  // The index of the word in the table's list.
  size_t choice(llvm::StringRef key);
  // The same, or nothing if the key is absent.
  std::optional<size_t> chosen(llvm::StringRef key);
  // The words that a key may have.
  llvm::SmallVector<llvm::StringRef> words(llvm::StringRef key);
  // The entries of a list of numbers; empty if absent or after an error.
  std::vector<double> numbers(llvm::StringRef key);
  std::vector<int64_t> wholes(llvm::StringRef key);
  // The object under a key, to be read by the table entry that `of` names.
  std::optional<SpecFields> inner(llvm::StringRef key);
  // The same object, to be read by another table entry.
  SpecFields as(const json::Value &object, llvm::StringRef name,
                llvm::StringRef what);

  Problems &problems;

private:
  const SpecKey &entry(llvm::StringRef key) { return specKey(table, key); }
  const SpecObject &table;
  mlir::MLIRContext &context;
};

} // namespace mille::import

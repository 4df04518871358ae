// Reads a JSON object key by key. Each getter states the key's kind and default
// and remembers the key, so that the keys nobody read can be reported.
#pragma once
#include "compiler/import/ModelSpec.h"
#include "compiler/import/Problems.h"
#include "compiler/json/Json.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mille::import {

// More than this does not fit what counts columns at run time.
constexpr int64_t largestExtent = (int64_t(1) << 31) - 1;

class Fields {
public:
  // `what` names the object in messages: "a unit", "rope".
  Fields(const json::Document &document, const json::Value &object,
         llvm::StringRef what, Problems &problems, mlir::MLIRContext &context);

  // The value of `key`; null if absent or null. The key counts as read.
  const json::Value *take(llvm::StringRef key);
  bool has(llvm::StringRef key) { return take(key) != nullptr; }
  // Whether the key is there, even as null.
  bool given(llvm::StringRef key) { return asked(key), members.count(key); }

  // A whole number from 1. An absent key without a default is an error.
  Extent extent(llvm::StringRef key, std::optional<int64_t> absent = {},
                int64_t most = largestExtent);
  double number(llvm::StringRef key, std::optional<double> absent = {});
  double positive(llvm::StringRef key, std::optional<double> absent = {});
  int64_t integer(llvm::StringRef key, int64_t absent);
  bool flag(llvm::StringRef key, bool absent);
  std::string text(llvm::StringRef key, llvm::StringRef absent);
  // The index of the string among `words`. An absent key without a default is
  // an error.
  size_t word(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> words,
              std::optional<size_t> absent = {});
  // The object or list under a key; null if absent or after an error.
  const json::Value *object(llvm::StringRef key);
  const json::Value *list(llvm::StringRef key);
  // Accepts only these values, written as describe() prints them.
  void mustBe(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> values);
  void ignore(llvm::StringRef key) { known.insert({key, false}); }
  // The keys that were asked for and not only ignored.
  std::vector<llvm::StringRef> keysThatMatter() const;
  void ignoreRest();

  // Reports every key that nobody read: an error, or a note for a config.
  void refuseRest();
  void noteRest();

  Problems::Problem &error(llvm::StringRef key, const llvm::Twine &text);
  mlir::LocationAttr at(llvm::StringRef key); // of the value, else the object
  mlir::LocationAttr at(const json::Value &value);
  mlir::LocationAttr at() { return at(self); }
  const json::Document &file() { return document; }

private:
  void asked(llvm::StringRef key);
  void wrongKind(llvm::StringRef key, const json::Value &value,
                 llvm::StringRef wanted);
  void missing(llvm::StringRef key);

  const json::Document &document;
  const json::Value &self;
  std::string what;
  Problems &problems;
  mlir::MLIRContext &context;
  llvm::StringMap<const json::Member *> members;
  // Whether a key matters, or is ignored. Its keys are literals.
  llvm::MapVector<llvm::StringRef, bool> known;
};

} // namespace mille::import

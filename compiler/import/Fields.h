// One JSON object read key by key: each getter says the key's kind and default,
// and remembers it, so that what was never asked for is unknown.
#pragma once
#include "compiler/import/ModelSpec.h"
#include "compiler/import/Problems.h"
#include "compiler/json/Json.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mille::import {

constexpr int64_t largestExtent = int64_t(1) << 31;

class Fields {
public:
  // `what` names the object in messages: "a unit", "rope".
  Fields(const json::Document &document, const json::Value &object,
         llvm::StringRef what, Problems &problems, mlir::MLIRContext &context);

  // The value of `key`, which is known from now on; null when absent or null.
  const json::Value *take(llvm::StringRef key);
  bool has(llvm::StringRef key) { return take(key) != nullptr; }
  // Whether the key is there, even as null.
  bool given(llvm::StringRef key) { return asked(key), members.count(key); }

  // A whole number from 1; absent without a default: an error.
  Extent extent(llvm::StringRef key, std::optional<int64_t> absent = {},
                int64_t most = largestExtent);
  double number(llvm::StringRef key, std::optional<double> absent = {});
  double positive(llvm::StringRef key, std::optional<double> absent = {});
  int64_t integer(llvm::StringRef key, int64_t absent);
  bool flag(llvm::StringRef key, bool absent);
  std::string text(llvm::StringRef key, llvm::StringRef absent);
  // The index of the string among `words`; absent without a default: an error.
  size_t word(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> words,
              std::optional<size_t> absent = {});
  // The object or list under a key; null when absent, or after an error.
  const json::Value *object(llvm::StringRef key);
  const json::Value *list(llvm::StringRef key);
  // Only these values are done (as describe() prints them); others, an error.
  void mustBe(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> values);
  void ignore(llvm::StringRef key) { asked(key); }
  void ignoreRest();

  // Every key that nothing asked for: an error, or for a config a note.
  void refuseRest();
  void noteRest();

  Problems::Problem &error(llvm::StringRef key, const llvm::Twine &text);
  mlir::LocationAttr at(llvm::StringRef key); // the value, else the object
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
  llvm::MapVector<llvm::StringRef, bool> known; // keys are literals
};

} // namespace mille::import

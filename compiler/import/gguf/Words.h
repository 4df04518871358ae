// Builds a config.json from the keys of a GGUF file. Remembers the GGUF key of
// each config key, and which GGUF keys nobody read.
#pragma once
#include "compiler/import/StoredTensors.h"
#include "compiler/json/Json.h"
#include "compiler/weights/Gguf.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mille::import {

// A key of the config, and the GGUF key that holds its value (without the
// architecture's name in front). `absent` is the value if the GGUF key is
// absent: JSON, or one of these two.
struct KeyWord {
  llvm::StringRef word, key;
  llvm::StringRef absent = required;
  static constexpr llvm::StringLiteral required = "";
  static constexpr llvm::StringLiteral unsaid = "?";
};

class Words {
public:
  Words(const Gguf &file, StoredTensors &tensors, llvm::StringRef architecture,
        Problems &problems, mlir::MLIRContext &context);

  const Gguf &file;
  StoredTensors &tensors;

  // The values of the architecture's keys, which then count as read. A value of
  // another kind, or a list in place of a number, is an error.
  bool has(llvm::StringRef key);
  int64_t integer(llvm::StringRef key, int64_t absent = 0);
  double number(llvm::StringRef key, double absent = 0);
  void ignore(llvm::StringRef key) { known.insert(whole(key)); }
  std::string whole(llvm::StringRef key) const {
    return (architecture + "." + key).str();
  }
  bool holds(llvm::StringRef tensor) { return tensors.find(tensor); }

  void say(llvm::StringRef word, const llvm::Twine &json,
           llvm::StringRef key = "");
  void say(const KeyWord &keyWord);
  void error(const llvm::Twine &text) { problems.error(at, text); }
  void note(const llvm::Twine &text) { problems.note(at, text); }

  // RoPE's factor for each pair, from a tensor; all must be above 0.
  std::vector<double> factors(llvm::StringRef tensor);

  // The size of a head: attention.key_length, else the width divided by heads.
  int64_t headSize();

  // The config; null after an error.
  std::unique_ptr<json::Document> config(mlir::MLIRContext &context) const;
  // The keys that nobody read.
  void noteRest();
  // Adds to problems that name config keys a note with the GGUF keys.
  void explain() const;

private:
  const GgufKey *scalar(llvm::StringRef key);

  std::string architecture;
  Problems &problems;
  mlir::LocationAttr at;
  struct Said {
    std::string json, key;
  };
  std::map<std::string, Said> words;
  llvm::StringSet<> known;
};

// A double as JSON, with as many digits as it takes to read back the same.
std::string jsonNumber(double number);

} // namespace mille::import

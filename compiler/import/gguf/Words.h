// The words of a config.json, said from the keys of a GGUF file. Remembers
// which key each word came from, and which keys were never asked for.
#pragma once
#include "compiler/import/StoredTensors.h"
#include "compiler/json/Json.h"
#include "compiler/weights/Gguf.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mille::import {

// A word and the key that says it, without the architecture's name before it.
// `absent` is what the word is without the key: JSON, or one of these two.
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

  // Keys of the architecture, known from now on. A number that is none, or a
  // list where one value is meant, is an error.
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

  // Factors of RoPE's pairs, more than 0, of a tensor that is used so.
  std::vector<double> factors(llvm::StringRef tensor);

  // Size of a head: attention.key_length, or the width by the heads.
  int64_t headSize();

  // The config; null after an error.
  std::unique_ptr<json::Document> config(mlir::MLIRContext &context) const;
  // Keys that nothing asked for.
  void noteRest();
  // Notes beside problems that name words: which keys say them.
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

// A double as JSON, with the digits that read back.
std::string jsonNumber(double number);

} // namespace mille::import

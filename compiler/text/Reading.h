// A tokenizer.json on its way to a vocabulary: values of the tree with the
// errors that they deserve. Must not know what a value means.
#pragma once
#include "compiler/json/Json.h"
#include "compiler/text/Vocabulary.h"
#include "llvm/ADT/StringMap.h"

namespace mille {

struct TokenizerReading {
  const json::Document &document;
  mlir::MLIRContext &context;
  Vocabulary &vocabulary;
  llvm::StringMap<uint32_t> ids; // of the model's tokens and of added ones

  // Reports, and gives false.
  bool fail(json::Position at, const llvm::Twine &text) const {
    mlir::emitError(document.locate(at, context)) << text;
    return false;
  }
  bool must(const json::Value &value, llvm::StringRef key,
            const llvm::Twine &what) const {
    return fail(value.at, "'" + key + "' is " + value.describe() +
                              " but must be " + what);
  }
  // Null where the key is absent or null.
  static const json::Value *get(const json::Value &object,
                                llvm::StringRef key) {
    const json::Member *member = object.find(key);
    return member && member->value.kind != json::Kind::null ? &member->value
                                                            : nullptr;
  }
  // Each leaves `into` as it is where the key is absent or null.
  bool string(const json::Value &object, llvm::StringRef key,
              std::string &into) const;
  bool boolean(const json::Value &object, llvm::StringRef key,
               bool &into) const;
  bool whole(const json::Value &object, llvm::StringRef key, int64_t least,
             int64_t most, int64_t &into) const;
  // A word as the number that goes with it.
  struct Word {
    llvm::StringLiteral word;
    uint32_t number;
  };
  bool oneOf(const json::Value &object, llvm::StringRef key,
             llvm::ArrayRef<Word> words, uint32_t &into) const;
  bool idOf(const json::Value &at, llvm::StringRef token, uint32_t &id) const;
};

// What a part of a tokenizer.json can be: the name in its "type", and who reads
// it.
struct PartType {
  llvm::StringLiteral name;
  bool (*read)(TokenizerReading &reading, const json::Value &value);
};
// Reads a part by its type. `what`, in errors, names the part: "decoder". They
// list the types in the order of the table.
bool readPart(TokenizerReading &reading, const json::Value &value,
              llvm::StringRef what, llvm::ArrayRef<PartType> types);
// Reads each part of the list that a Sequence has under `key`.
bool readSequence(TokenizerReading &reading, const json::Value &sequence,
                  llvm::StringRef key,
                  bool (*read)(TokenizerReading &, const json::Value &));

// The parts of a tokenizer.json, in the order in which they must be read.
bool readModel(TokenizerReading &reading, const struct Sections &sections);
bool readAddedTokens(TokenizerReading &reading);
bool readNormalizers(TokenizerReading &reading, const json::Value &value);
bool readSplits(TokenizerReading &reading, const json::Value &value);
bool readEnds(TokenizerReading &reading, const json::Value &value);
bool readDecoders(TokenizerReading &reading, const json::Value &value);

// A pattern {"String": ...} or {"Regex": ...}: as a regex of PCRE2, and where
// it is a string, `literal`.
struct ReadPattern {
  std::string regex, literal;
  bool isLiteral = false;
};
bool readMetaspace(const TokenizerReading &reading, const json::Value &value,
                   TextStep &step);
bool readPattern(const TokenizerReading &reading, const json::Value &object,
                 ReadPattern &into);

} // namespace mille

// Validators for the values of options, with error messages in the project's
// style.
#pragma once
#include "compiler/import/ImageSize.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace mille {

// A whole number from `least` to `most`.
CLI::Validator numberFrom(int64_t least, int64_t most);
// Any number from `least` to `most`, or one above 0.
CLI::Validator realFrom(int64_t least, int64_t most);
CLI::Validator realAboveZero(int64_t most);
// Bytes: a whole number from 1, or one with K, M or G (1024, ...) behind it.
// The text becomes the number.
CLI::Validator byteCount();
// One of `words`; the nearest is suggested.
CLI::Validator oneOf(std::vector<std::string> words);
// An instruction set; `run` also accepts "reference", `compile` also "host".
CLI::Validator target(bool forCompile);
// A file, "none", or "random:SEED".
CLI::Validator weightsSource();
// A size of an image, or `word` where that is not empty.
CLI::Validator imageSize(const std::string &word);
// The text of a DtypeChoice.
CLI::Validator dtypeChoice();

// "224" or "480x640", height first.
std::optional<ImageSize> imageSizeIn(llvm::StringRef text);
std::vector<std::string> wordsOf(llvm::ArrayRef<llvm::StringRef> names);

} // namespace mille

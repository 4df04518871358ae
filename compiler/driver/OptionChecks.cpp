// Checks the values of options, and explains what is wrong with them.
// Must not know the commands.
#include "compiler/driver/OptionChecks.h"

#include "compiler/kernels/Targets.h"
#include "dialects/transformer/Dtype.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;
using llvm::StringRef;

// Refuses any text but a whole number from `least` to `most`.
CLI::Validator mille::numberFrom(int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        int64_t number;
        if (StringRef(text).getAsInteger(10, number) || number < least ||
            number > most)
          return "is '" + text + "' but must be a number from " +
                 std::to_string(least) + " to " + std::to_string(most);
        return {};
      },
      "");
}

// NaN is no number.
static CLI::Validator realThat(const std::string &words,
                               std::function<bool(double)> fits) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        double number;
        if (StringRef(text).getAsDouble(number) || !fits(number))
          return "is '" + text + "' but must be a number " + words;
        return {};
      },
      "");
}
CLI::Validator mille::realFrom(int64_t least, int64_t most) {
  return realThat("from " + std::to_string(least) + " to " +
                      std::to_string(most),
                  [=](double x) { return x >= least && x <= most; });
}
CLI::Validator mille::realAboveZero(int64_t most) {
  return realThat("above 0, at most " + std::to_string(most),
                  [=](double x) { return x > 0 && x <= most; });
}

CLI::Validator mille::byteCount() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        StringRef digits = text;
        int64_t number = 0;
        unsigned shift = digits.consume_back("K")   ? 10
                         : digits.consume_back("M") ? 20
                         : digits.consume_back("G") ? 30
                                                    : 0;
        if (digits.getAsInteger(10, number) || number < 1 ||
            number > INT64_MAX >> shift)
          return "is '" + text +
                 "' but must be a number of bytes, or of K, M or G of them";
        text = std::to_string(number << shift);
        return {};
      },
      "");
}

// Refuses any text but one of `words`, and suggests the nearest.
static std::string notAmong(llvm::ArrayRef<std::string> words, StringRef text) {
  std::string message =
      "is '" + text.str() + "' but must be one of " + llvm::join(words, ", ");
  for (const std::string &word : words)
    if (text.edit_distance(word) <= 2)
      return message + "\ndid you mean '" + word + "'?";
  return message;
}

CLI::Validator mille::oneOf(std::vector<std::string> words) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        return llvm::is_contained(words, text) ? "" : notAmong(words, text);
      },
      "");
}

std::vector<std::string> mille::wordsOf(llvm::ArrayRef<StringRef> names) {
  return {names.begin(), names.end()};
}

CLI::Validator mille::target(bool forCompile) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        if (forCompile && text == "reference")
          return "is 'reference' but the reference runs without a package\n"
                 "mille run MODEL --target=reference";
        std::vector<std::string> words = targetNames();
        words.insert(words.begin(), forCompile ? "host" : "reference");
        return oneOf(words)(text);
      },
      "");
}

CLI::Validator mille::weightsSource() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        StringRef seed = text;
        uint64_t number;
        if (seed.consume_front("random:") && seed.getAsInteger(10, number))
          return "is '" + text + "' but the seed must be a whole number";
        return {};
      },
      "");
}

// "224" or "480x640", height first.
std::optional<ImageSize> mille::imageSizeIn(StringRef text) {
  auto [height, width] = text.split('x');
  ImageSize size;
  constexpr int64_t most = 1 << 16;
  if (height.getAsInteger(10, size.height) || size.height < 1 ||
      size.height > most)
    return std::nullopt;
  size.width = size.height;
  if (text.contains('x') && (width.getAsInteger(10, size.width) ||
                             size.width < 1 || size.width > most))
    return std::nullopt;
  return size;
}

CLI::Validator mille::imageSize(const std::string &word) {
  return CLI::Validator(
      [word](std::string &text) -> std::string {
        if (imageSizeIn(text) || (!word.empty() && text == word))
          return {};
        return "is '" + text +
               "' but must be pixels, 224, or height x width, 480x640" +
               (word.empty() ? "" : ", or " + word);
      },
      "");
}

CLI::Validator mille::dtypeChoice() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        std::string why;
        if (DtypeChoice::parse(text, why))
          return {};
        const StringRef usual = StringRef(text).split(',').first;
        return dtypeNamed(usual) ? "is '" + text + "' but must be " + why
                                 : notAmong(wordsOf(dtypeNames()), usual);
      },
      "");
}

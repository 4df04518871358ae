// Copies the values of keys to a config. Must not know an architecture.
#include "compiler/import/gguf/Words.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

std::string mille::import::jsonNumber(double number) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

Words::Words(const Gguf &file, StoredTensors &tensors, StringRef architecture,
             Problems &problems, mlir::MLIRContext &context)
    : file(file), tensors(tensors), architecture(architecture.str()),
      problems(problems),
      at(mlir::FileLineColLoc::get(&context, file.path(), 0, 0)) {}

// A number or a boolean that JSON can hold.
const GgufKey *Words::scalar(StringRef key) {
  ignore(key);
  const GgufKey *found = file.key(whole(key));
  if (!found)
    return nullptr;
  std::optional<double> number = file.number(found->name);
  const bool isFlag = found->type == GgufType::boolean;
  if (isFlag || (number && std::isfinite(*number)))
    return found;
  error(escaped(found->name) + " is " + file.describe(*found) +
        " but must be one number, and finite");
  return nullptr;
}

bool Words::has(StringRef key) {
  ignore(key);
  return file.key(whole(key));
}

int64_t Words::integer(StringRef key, int64_t absent) {
  const GgufKey *found = scalar(key);
  if (!found)
    return absent;
  std::optional<int64_t> whole = file.integer(found->name);
  if (whole && *whole >= -largestExtent && *whole <= largestExtent)
    return *whole;
  error(escaped(found->name) + " is " + file.describe(*found) +
        " but must be a whole number of at most " + Twine(largestExtent));
  return absent;
}

double Words::number(StringRef key, double absent) {
  const GgufKey *found = scalar(key);
  return found ? file.number(found->name).value_or(absent) : absent;
}

void Words::say(StringRef word, const Twine &json, StringRef key) {
  words[word.str()] = {json.str(), key.empty() ? "" : whole(key)};
}

void Words::say(const KeyWord &k) {
  if (!has(k.key)) {
    if (k.absent == KeyWord::required)
      error("the file has no key " + whole(k.key));
    else if (k.absent != KeyWord::unsaid)
      say(k.word, k.absent);
    return;
  }
  if (const GgufKey *found = scalar(k.key))
    say(k.word, file.describe(*found), k.key);
}

std::vector<double> Words::factors(StringRef tensor) {
  constexpr int64_t most = 1 << 16;
  std::vector<double> factors;
  StoredTensors::Entry *entry = tensors.find(tensor);
  if (!entry)
    return factors;
  entry->used = true;
  if (const int64_t count = entry->tensor->elements(); count > most) {
    error("tensor '" + tensor + "' has " + Twine(count) +
          " factors but at most " + Twine(most) + " are read");
    return factors;
  }
  factors.resize(entry->tensor->elements());
  entry->tensor->read(0, llvm::MutableArrayRef<double>(factors));
  for (double factor : factors)
    if (!(factor > 0 && std::isfinite(factor))) {
      error("tensor '" + tensor + "' has the factor " + jsonNumber(factor) +
            " but factors are more than 0, and finite");
      return {};
    }
  return factors;
}

int64_t Words::headSize() {
  const int64_t heads = integer("attention.head_count");
  const int64_t shared = heads > 0 ? integer("embedding_length") / heads : 0;
  return std::max<int64_t>(1, integer("attention.key_length", shared));
}

std::unique_ptr<json::Document>
Words::config(mlir::MLIRContext &context) const {
  std::string text = "{";
  for (const auto &[word, said] : words)
    text += (text.size() > 1 ? ", \"" : "\"") + word + "\": " + said.json;
  auto document = json::parse(text + "}", file.path(), context);
  if (!document)
    return nullptr;
  // A place in the made text is not a place in the user's file.
  std::vector<json::Value *> all{&document->root};
  for (size_t i = 0; i < all.size(); ++i) {
    json::Value &value = *all[i];
    value.at = {0, 0};
    for (json::Value &item : value.items)
      all.push_back(&item);
    for (json::Member &member : value.members) {
      member.at = {0, 0};
      all.push_back(&member.value);
    }
  }
  return document;
}

void Words::noteRest() {
  size_t told = 0;
  for (const GgufKey &key : file.keys()) {
    if (!key.name.starts_with(architecture + ".") || known.contains(key.name))
      continue;
    // Nothing of it: no experts, no window.
    if (file.number(key.name).value_or(1) == 0 ||
        !file.flag(key.name).value_or(true))
      continue;
    if (++told <= 8)
      note("key '" + escaped(key.name) + "' is " + file.describe(key) +
           " but Mille does not know it and leaves it out");
  }
  if (told > 8)
    note(Twine(told - 8) + " more keys are left out");
}

static bool names(StringRef text, StringRef word) {
  for (size_t from = 0; (from = text.find(word, from)) != StringRef::npos;
       from += word.size()) {
    auto inWord = [&](size_t place) {
      return place < text.size() && (llvm::isAlnum(text[place]) ||
                                     text[place] == '_' || text[place] == '.');
    };
    if ((from == 0 || !inWord(from - 1)) && !inWord(from + word.size()))
      return true;
  }
  return false;
}

void Words::explain() const {
  problems.forEachError([&](Problems::Problem &problem) {
    for (const auto &[word, said] : words)
      if (!said.key.empty() && names(problem.text, word))
        problem.note(at, word + " is " + said.json + " by the key " + said.key);
  });
}

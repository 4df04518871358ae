// Checks the kinds of values, for all parts of a tokenizer.json.
// Must not return a value of another kind.
#include "compiler/text/Reading.h"

#include "compiler/text/Regex.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;
using llvm::StringRef;

bool TokenizerReading::string(const json::Value &object, StringRef key,
                              std::string &into) const {
  const json::Value *value = get(object, key);
  if (!value)
    return true;
  if (value->kind != json::Kind::string)
    return must(*value, key, "a string");
  into = value->text;
  return true;
}

bool TokenizerReading::boolean(const json::Value &object, StringRef key,
                               bool &into) const {
  const json::Value *value = get(object, key);
  if (!value)
    return true;
  if (value->kind != json::Kind::boolean)
    return must(*value, key, "true or false");
  into = value->boolean;
  return true;
}

bool TokenizerReading::whole(const json::Value &object, StringRef key,
                             int64_t least, int64_t most, int64_t &into) const {
  const json::Value *value = get(object, key);
  if (!value)
    return true;
  if (!value->whole || value->integer < least || value->integer > most)
    return must(*value, key,
                "a whole number from " + llvm::Twine(least) + " to " +
                    llvm::Twine(most));
  into = value->integer;
  return true;
}

// The names that a table has, as an error lists them.
template <typename Each>
static std::string listed(llvm::ArrayRef<Each> table,
                          llvm::StringLiteral Each::*name) {
  return llvm::join(
      llvm::map_range(table,
                      [&](const Each &each) { return StringRef(each.*name); }),
      ", ");
}

bool TokenizerReading::oneOf(const json::Value &object, StringRef key,
                             llvm::ArrayRef<Word> words, uint32_t &into) const {
  const json::Value *value = get(object, key);
  if (!value)
    return true;
  for (const Word &each : words)
    if (value->kind == json::Kind::string && each.word == value->text) {
      into = each.number;
      return true;
    }
  return must(*value, key, "one of " + listed(words, &Word::word));
}

bool TokenizerReading::idOf(const json::Value &at, StringRef token,
                            uint32_t &id) const {
  auto found = ids.find(token);
  if (found == ids.end())
    return fail(at.at, "'" + token + "' is no token of the vocabulary");
  id = found->second;
  return true;
}

bool mille::readPart(TokenizerReading &reading, const json::Value &value,
                     StringRef what, llvm::ArrayRef<PartType> types) {
  if (value.kind != json::Kind::object)
    return reading.fail(value.at, "the " + what + " is " + value.describe() +
                                      " but must be an object");
  const json::Value *type = TokenizerReading::get(value, "type");
  if (!type || type->kind != json::Kind::string || type->text.empty())
    return reading.fail(value.at, "the " + what + " has no 'type'");
  for (const PartType &each : types)
    if (each.name == type->text)
      return each.read(reading, value);
  return reading.fail(value.at, what + " is '" + type->text +
                                    "' but must be one of " +
                                    listed(types, &PartType::name));
}

bool mille::readSequence(TokenizerReading &reading, const json::Value &sequence,
                         StringRef key,
                         bool (*read)(TokenizerReading &,
                                      const json::Value &)) {
  const json::Value *list = TokenizerReading::get(sequence, key);
  if (!list || list->kind != json::Kind::array)
    return reading.fail(sequence.at, "key '" + key + "' must be a list");
  return llvm::all_of(list->items, [&](const json::Value &each) {
    return read(reading, each);
  });
}

bool mille::readPattern(const TokenizerReading &reading,
                        const json::Value &object, ReadPattern &into) {
  const json::Value *pattern = TokenizerReading::get(object, "pattern");
  if (!pattern)
    return reading.fail(object.at, "key 'pattern' is missing");
  const json::Value *literal = TokenizerReading::get(*pattern, "String");
  const json::Value *regex = TokenizerReading::get(*pattern, "Regex");
  const json::Value *given = literal ? literal : regex;
  if (!given || given->kind != json::Kind::string || given->text.empty())
    return reading.must(*pattern, "pattern",
                        "{\"String\": TEXT} or {\"Regex\": PATTERN}");
  into.isLiteral = literal != nullptr;
  if (literal) {
    into.literal = literal->text;
    into.regex = escapeRegex(literal->text);
    return true;
  }
  std::string why;
  return translateRegex(regex->text, into.regex, why) ||
         reading.fail(regex->at, why);
}

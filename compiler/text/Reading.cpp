// Checks the kinds of values, for all parts of a tokenizer.json.
// Must not return a value of another kind.
#include "compiler/text/Reading.h"

#include "compiler/text/Regex.h"

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

StringRef TokenizerReading::typeOf(const json::Value &value,
                                   StringRef what) const {
  if (value.kind != json::Kind::object) {
    fail(value.at, what + " is " + value.describe() + " but must be an object");
    return "";
  }
  const json::Value *type = get(value, "type");
  if (!type || type->kind != json::Kind::string || type->text.empty()) {
    fail(value.at, what + " has no 'type'");
    return "";
  }
  return type->text;
}

bool TokenizerReading::idOf(const json::Value &at, StringRef token,
                            uint32_t &id) const {
  auto found = ids.find(token);
  if (found == ids.end())
    return fail(at.at, "'" + token + "' is no token of the vocabulary");
  id = found->second;
  return true;
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

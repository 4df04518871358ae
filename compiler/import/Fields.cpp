// Reads the keys of a JSON object by kind. After an error a getter returns a
// value with which the remaining keys can still be checked.
#include "compiler/import/Fields.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

Fields::Fields(const json::Document &document, const json::Value &object,
               StringRef what, Problems &problems, mlir::MLIRContext &context)
    : document(document), self(object), what(what.str()), problems(problems),
      context(context) {
  if (object.kind != json::Kind::object)
    problems.error(at(object), what + " is " + object.describe() +
                                   " but must be an object");
  for (const json::Member &member : object.members)
    members[member.key] = &member;
}

void Fields::asked(StringRef key) { known[key] = true; }

std::vector<StringRef> Fields::keysThatMatter() const {
  std::vector<StringRef> keys;
  for (auto &[key, matters] : known)
    if (matters)
      keys.push_back(key);
  return keys;
}

const json::Value *Fields::take(StringRef key) {
  asked(key);
  const json::Member *member = members.lookup(key);
  return member && member->value.kind != json::Kind::null ? &member->value
                                                          : nullptr;
}

mlir::LocationAttr Fields::at(const json::Value &value) {
  return document.locate(value.at, context);
}

mlir::LocationAttr Fields::at(StringRef key) {
  const json::Member *member = members.lookup(key);
  return member ? at(member->value) : at();
}

Problems::Problem &Fields::error(StringRef key, const Twine &text) {
  return problems.error(at(key), text);
}

void Fields::wrongKind(StringRef key, const json::Value &value,
                       StringRef wanted) {
  error(key, key + " is " + value.describe() + " but must be " + wanted);
}

void Fields::missing(StringRef key) {
  problems.error(at(), what + " has no " + key);
}

Extent Fields::extent(StringRef key, std::optional<int64_t> absent,
                      int64_t most) {
  Extent extent{1, key.str(), at(key)};
  const json::Value *value = take(key);
  if (!value) {
    if (!absent)
      missing(key);
    extent.value = absent.value_or(1);
    return extent;
  }
  if (!value->whole || value->integer < 1)
    wrongKind(key, *value, "a whole number from 1");
  else if (value->integer > most)
    error(key, key + " is " + value->describe() + " but at most " +
                   Twine(most) + " is done");
  else
    extent.value = value->integer;
  return extent;
}

double Fields::number(StringRef key, std::optional<double> absent) {
  const json::Value *value = take(key);
  if (!value) {
    if (!absent)
      missing(key);
    return absent.value_or(1);
  }
  if (value->kind != json::Kind::number) {
    wrongKind(key, *value, "a number");
    return absent.value_or(1);
  }
  return value->number;
}

double Fields::positive(StringRef key, std::optional<double> absent) {
  double value = number(key, absent);
  if (value > 0)
    return value;
  if (const json::Value *given = take(key);
      given && given->kind == json::Kind::number)
    wrongKind(key, *given, "more than 0");
  return value == 0 && absent && *absent == 0 ? 0 : 1;
}

int64_t Fields::integer(StringRef key, int64_t absent) {
  const json::Value *value = take(key);
  if (!value)
    return absent;
  if (!value->whole) {
    wrongKind(key, *value, "a whole number");
    return absent;
  }
  return value->integer;
}

bool Fields::flag(StringRef key, bool absent) {
  const json::Value *value = take(key);
  if (!value)
    return absent;
  if (value->kind != json::Kind::boolean) {
    wrongKind(key, *value, "true or false");
    return absent;
  }
  return value->boolean;
}

std::string Fields::text(StringRef key, StringRef absent) {
  const json::Value *value = take(key);
  if (!value)
    return absent.str();
  if (value->kind != json::Kind::string) {
    wrongKind(key, *value, "a string");
    return absent.str();
  }
  return value->text;
}

size_t Fields::word(StringRef key, llvm::ArrayRef<StringRef> words,
                    std::optional<size_t> absent) {
  const json::Value *value = take(key);
  if (!value) {
    if (!absent)
      missing(key);
    return absent.value_or(0);
  }
  for (size_t i = 0; i < words.size(); ++i)
    if (value->kind == json::Kind::string && words[i] == value->text)
      return i;
  std::string choice;
  for (size_t i = 0; i < words.size(); ++i)
    choice += (i == 0                  ? ""
               : i + 1 == words.size() ? " or "
                                       : ", ") +
              ("\"" + words[i] + "\"").str();
  Problems::Problem &problem =
      error(key, key + " is " + value->describe() + " but must be " + choice);
  if (value->kind == json::Kind::string)
    if (auto near = json::nearest(value->text, words))
      problem.help("did you mean \"" + *near + "\"?");
  return absent.value_or(0);
}

const json::Value *Fields::object(StringRef key) {
  const json::Value *value = take(key);
  if (value && value->kind != json::Kind::object) {
    wrongKind(key, *value, "an object");
    return nullptr;
  }
  return value;
}

const json::Value *Fields::list(StringRef key) {
  const json::Value *value = take(key);
  if (value && value->kind != json::Kind::array) {
    wrongKind(key, *value, "a list");
    return nullptr;
  }
  return value;
}

void Fields::mustBe(StringRef key, llvm::ArrayRef<StringRef> values) {
  const json::Value *value = take(key);
  if (!value)
    return;
  std::string given = value->describe(), choice;
  for (StringRef done : values) {
    if (given == done)
      return;
    choice += (choice.empty() ? "" : " or ") + done.str();
  }
  error(key, key + " is " + given + " but Mille does only " + choice);
}

void Fields::ignoreRest() {
  for (const json::Member &member : self.members)
    asked(member.key);
}

void Fields::refuseRest() {
  for (const json::Member &member : self.members) {
    if (known.count(member.key))
      continue;
    std::vector<StringRef> words;
    for (auto &[key, _] : known)
      words.push_back(key);
    Problems::Problem &problem =
        problems.error(document.locate(member.at, context),
                       "key '" + member.key + "' of " + what + " is unknown");
    if (auto near = json::nearest(member.key, words))
      problem.help("did you mean '" + *near + "'?");
  }
}

void Fields::noteRest() {
  for (const json::Member &member : self.members)
    if (!known.count(member.key))
      problems.note(document.locate(member.at, context),
                    "key '" + member.key + "' is " + member.value.describe() +
                        " but Mille does not know it and leaves it out");
}

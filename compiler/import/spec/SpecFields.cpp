// Reads keys as their table entries say.
#include "compiler/import/spec/SpecFields.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

SpecFields::SpecFields(const json::Document &document,
                       const json::Value &object, StringRef name,
                       StringRef what, Problems &problems,
                       mlir::MLIRContext &context)
    : Fields(document, object, what, problems, context), problems(problems),
      table(specObject(name)), context(context) {}

Extent SpecFields::whole(StringRef key, std::optional<int64_t> absent,
                         int64_t most) {
  int64_t usual;
  if (!absent && !entry(key).absent.getAsInteger(10, usual))
    absent = usual;
  return extent(entry(key).key, absent, most);
}

double SpecFields::real(StringRef key, std::optional<double> absent) {
  const SpecKey &known = entry(key);
  double usual;
  if (!absent && !known.absent.getAsDouble(usual))
    absent = usual;
  return known.kind == KeyKind::positive ? positive(known.key, absent)
                                         : number(known.key, absent);
}

int64_t SpecFields::count(StringRef key) {
  const SpecKey &known = entry(key);
  int64_t usual = 0;
  known.absent.getAsInteger(10, usual);
  int64_t value = integer(known.key, usual);
  if (value >= 0)
    return value;
  error(key, key + " is " + Twine(value) + " but must be from 0");
  return usual;
}

bool SpecFields::truth(StringRef key, bool absent) {
  const SpecKey &known = entry(key);
  return flag(known.key, known.absent == "true"    ? true
                         : known.absent == "false" ? false
                                                   : absent);
}

llvm::SmallVector<StringRef> SpecFields::words(StringRef key) {
  llvm::SmallVector<StringRef> words;
  StringRef list = entry(key).of;
  if (entry(key).kind == KeyKind::wordOrObject)
    list = list.split(' ').first;
  list.split(words, '|');
  return words;
}

size_t SpecFields::choice(StringRef key) {
  auto list = words(key);
  std::optional<size_t> absent;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] == entry(key).absent)
      absent = i;
  return word(entry(key).key, list, absent);
}

std::optional<size_t> SpecFields::chosen(StringRef key) {
  if (!has(entry(key).key))
    return std::nullopt;
  return word(entry(key).key, words(key));
}

std::vector<double> SpecFields::numbers(StringRef key) {
  std::vector<double> all;
  const json::Value *items = list(entry(key).key);
  if (!items)
    return all;
  for (const json::Value &item : items->items) {
    if (item.kind != json::Kind::number)
      problems.error(at(item), "an entry of " + key + " is " + item.describe() +
                                   " but must be a number");
    all.push_back(item.kind == json::Kind::number ? item.number : 1);
  }
  return all;
}

std::vector<int64_t> SpecFields::wholes(StringRef key) {
  std::vector<int64_t> all;
  const json::Value *items = list(entry(key).key);
  if (!items)
    return all;
  for (const json::Value &item : items->items) {
    bool good = item.whole && item.integer >= 0;
    if (!good)
      problems.error(at(item), "an entry of " + key + " is " + item.describe() +
                                   " but must be a whole number from 0");
    all.push_back(good ? item.integer : 0);
  }
  return all;
}

std::optional<SpecFields> SpecFields::inner(StringRef key) {
  const SpecKey &known = entry(key);
  const json::Value *value = object(known.key);
  if (!value)
    return std::nullopt;
  StringRef name = known.kind == KeyKind::wordOrObject
                       ? known.of.split(' ').second
                       : known.of;
  return as(*value, name, known.key);
}

SpecFields SpecFields::as(const json::Value &object, StringRef name,
                          StringRef what) {
  return SpecFields(file(), object, name, what, problems, context);
}

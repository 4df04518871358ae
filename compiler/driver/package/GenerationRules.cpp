// Reads what generation_config.json, or a config.json without one, says of how
// a decoder continues. Must not run a model.
#include "compiler/driver/package/GenerationRules.h"

#include "compiler/json/Json.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cmath>

using namespace mille;
using llvm::StringRef;

namespace {

class Reader {
public:
  Reader(const json::Document &file, mlir::MLIRContext &context,
         GenerationRules &rules)
      : file(file), context(context), rules(rules) {}

  Status run() {
    rules.start = idOf("decoder_start_token_id");
    if (!rules.start)
      rules.start = idOf("bos_token_id");
    rules.first = idOf("forced_bos_token_id");
    rules.last = idOf("forced_eos_token_id");
    rules.ends = idsOf("eos_token_id");
    rules.banned = idsOf("suppress_tokens");
    rules.bannedFirst = idsOf("begin_suppress_tokens");
    banWords();
    // It counts the id that the decoder begins with.
    rules.least = std::max<int64_t>(whole("min_length", 0, 1 << 20, 0) - 1, 0);
    rules.least = std::max(rules.least, whole("min_new_tokens", 0, 1 << 20, 0));
    rules.noRepeat = whole("no_repeat_ngram_size", 0, 1 << 20, 0);
    rules.beams = std::min(whole("num_beams", 1, 1 << 20, 1), mostBeams);
    readPenalty();
    readStop();
    warnOfOthers();
    return wrong ? Status::input : Status::done;
  }

private:
  // The value of a key that is there and not null.
  const json::Value *find(StringRef key) const {
    const json::Member *member = file.root.find(key);
    return member && member->value.kind != json::Kind::null ? &member->value
                                                            : nullptr;
  }
  void refuse(const json::Value &value, StringRef key, StringRef must) {
    wrong = true;
    mlir::emitError(file.locate(value.at, context))
        << key << " is " << value.describe() << " but must be " << must;
  }
  static bool isId(const json::Value &value) {
    return value.kind == json::Kind::number && value.whole &&
           value.integer >= 0 && value.integer <= INT32_MAX;
  }

  std::vector<int32_t> idsOf(StringRef key) {
    const json::Value *value = find(key);
    std::vector<int32_t> ids;
    if (!value)
      return ids;
    const bool isList = value->kind == json::Kind::array;
    for (const json::Value &one :
         isList ? llvm::ArrayRef(value->items) : llvm::ArrayRef(*value))
      if (isId(one))
        ids.push_back(int32_t(one.integer));
      else if (!isList || one.kind != json::Kind::number || one.integer != -1)
        refuse(one, key, "an id or a list of ids"); // -1: no id
    return ids;
  }
  std::optional<int64_t> idOf(StringRef key) {
    std::vector<int32_t> ids = idsOf(key);
    return ids.empty() ? std::nullopt : std::optional<int64_t>(ids.front());
  }
  int64_t whole(StringRef key, int64_t least, int64_t most, int64_t usual) {
    const json::Value *value = find(key);
    if (!value)
      return usual;
    if (value->kind == json::Kind::number && value->whole &&
        value->integer >= least && value->integer <= most)
      return value->integer;
    refuse(*value, key,
           "a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
    return usual;
  }

  // bad_words_ids: lists of ids that do not come in a row.
  void banWords() {
    const json::Value *words = find("bad_words_ids");
    for (const json::Value &word :
         words ? llvm::ArrayRef(words->items) : llvm::ArrayRef<json::Value>())
      if (word.items.size() == 1 && isId(word.items[0]))
        rules.banned.push_back(int32_t(word.items[0].integer));
      else
        warn(word, "a word of bad_words_ids is " + word.describe());
  }
  void readPenalty() {
    const json::Value *value = find("length_penalty");
    if (!value)
      return;
    if (value->kind == json::Kind::number && std::isfinite(value->number))
      rules.lengthPenalty = value->number;
    else
      refuse(*value, "length_penalty", "a number");
  }
  void readStop() {
    const json::Value *value = find("early_stopping");
    if (!value)
      return;
    if (value->kind == json::Kind::boolean)
      rules.stop = value->boolean ? "early" : "likely";
    else if (value->kind == json::Kind::string && value->text == "never")
      rules.stop = "never";
    else
      refuse(*value, "early_stopping", "true, false or 'never'");
  }

  void warn(const json::Value &value, const std::string &what) {
    mlir::emitWarning(file.locate(value.at, context))
        << what << ", which mille generate does not follow";
  }
  void warnOfOthers() {
    // What these are where they change nothing.
    const std::pair<StringRef, double> others[] = {
        {"repetition_penalty", 1},           {"diversity_penalty", 0},
        {"encoder_repetition_penalty", 1},   {"num_beam_groups", 1},
        {"encoder_no_repeat_ngram_size", 0},
    };
    for (auto [key, none] : others)
      if (const json::Value *value = find(key); value && value->number != none)
        warn(*value, (key + " is ").str() + value->describe());
  }

  const json::Document &file;
  mlir::MLIRContext &context;
  GenerationRules &rules;
  bool wrong = false;
};

void writeIds(llvm::json::OStream &json, StringRef key,
              llvm::ArrayRef<int32_t> ids) {
  if (!ids.empty())
    json.attributeArray(key, [&] {
      for (int32_t id : ids)
        json.value(id);
    });
}

std::optional<int64_t> wholeIn(const json::Value &object, StringRef key) {
  const json::Member *member = object.find(key);
  return member ? std::optional(member->value.integer) : std::nullopt;
}

std::vector<int32_t> idsIn(const json::Value &object, StringRef key) {
  std::vector<int32_t> ids;
  if (const json::Member *member = object.find(key))
    for (const json::Value &id : member->value.items)
      ids.push_back(int32_t(id.integer));
  return ids;
}

} // namespace

Status mille::readGenerationRules(StringRef folder, mlir::MLIRContext &context,
                                  std::optional<GenerationRules> &rules) {
  for (const char *name : {"/generation_config.json", "/config.json"}) {
    const std::string path = (folder + name).str();
    if (!llvm::sys::fs::exists(path))
      continue;
    std::unique_ptr<json::Document> file = json::parseFile(path, context);
    if (!file)
      return Status::input;
    return Reader(*file, context, rules.emplace()).run();
  }
  return Status::done;
}

void mille::writeRules(llvm::json::OStream &json,
                       const GenerationRules &rules) {
  auto maybe = [&](StringRef key, std::optional<int64_t> id) {
    if (id)
      json.attribute(key, *id);
  };
  maybe("start", rules.start);
  maybe("first", rules.first);
  maybe("last", rules.last);
  writeIds(json, "ends", rules.ends);
  writeIds(json, "banned", rules.banned);
  writeIds(json, "banned_first", rules.bannedFirst);
  json.attribute("least", rules.least);
  json.attribute("no_repeat", rules.noRepeat);
  json.attribute("beams", rules.beams);
  json.attribute("length_penalty", rules.lengthPenalty);
  json.attribute("stop", rules.stop);
}

GenerationRules mille::rulesIn(const json::Value &object) {
  GenerationRules rules;
  rules.start = wholeIn(object, "start");
  rules.first = wholeIn(object, "first");
  rules.last = wholeIn(object, "last");
  rules.ends = idsIn(object, "ends");
  rules.banned = idsIn(object, "banned");
  rules.bannedFirst = idsIn(object, "banned_first");
  rules.least = wholeIn(object, "least").value_or(0);
  rules.noRepeat = wholeIn(object, "no_repeat").value_or(0);
  rules.beams = wholeIn(object, "beams").value_or(1);
  rules.lengthPenalty = object.find("length_penalty")->value.number;
  rules.stop = object.find("stop")->value.text;
  return rules;
}

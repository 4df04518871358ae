// Reads the model of a tokenizer.json (tokens, scores and merges) and the added
// tokens. Must refuse a vocabulary whose ids contradict each other.
#include "compiler/text/Reading.h"
#include "compiler/text/Sections.h"

#include <cmath>

using namespace mille;
using llvm::StringRef;

namespace {

class ModelReader {
public:
  ModelReader(TokenizerReading &reading, const json::Value &model,
              const Sections &sections)
      : reading(reading), vocabulary(reading.vocabulary), model(model),
        sections(sections) {}

  bool run();

private:
  bool tokens(bool scored);
  bool token(const SectionEntry &entry, int64_t id);
  bool merges();
  bool merge(SectionEntry &entry);
  bool unknownByName();
  bool unknownById();
  bool flags();
  bool flag(StringRef key, uint32_t flag, bool value = false);

  StringRef path() const { return reading.document.path; }

  TokenizerReading &reading;
  Vocabulary &vocabulary;
  const json::Value &model;
  const Sections &sections;
};

bool ModelReader::token(const SectionEntry &entry, int64_t id) {
  if (id < 0 || id >= text::mostTokens)
    return reading.fail(entry.at, "the id of '" + entry.first + "' is " +
                                      llvm::Twine(id) +
                                      " but must be from 0 to " +
                                      llvm::Twine(text::mostTokens - 1));
  if (size_t(id) >= vocabulary.tokens.size())
    vocabulary.tokens.resize(id + 1);
  VocabularyToken &token = vocabulary.tokens[id];
  if (token.present)
    return reading.fail(entry.at, "id " + llvm::Twine(id) + " is both '" +
                                      token.text + "' and '" + entry.first +
                                      "'");
  // Of a text with two ids the later one counts, as in `tokenizers`.
  auto [found, fresh] = reading.ids.try_emplace(entry.first, uint32_t(id));
  if (!fresh) {
    vocabulary.tokens[found->second].reachable = false;
    found->second = uint32_t(id);
  }
  token.text = entry.first;
  token.score = entry.number;
  token.present = token.reachable = true;
  return true;
}

bool ModelReader::tokens(bool scored) {
  if (sections.vocab.text.empty() ||
      sections.vocab.text.front() != (scored ? '[' : '{'))
    return reading.fail(model.at, scored ? "key 'vocab' must be a list of "
                                           "tokens with their scores"
                                         : "key 'vocab' must be an object of "
                                           "tokens with their ids");
  int64_t next = 0;
  return readSection(
      sections.vocab, path(), reading.context, [&](SectionEntry &entry) {
        if (scored)
          return (entry.pair && entry.second.empty()) ||
                         reading.fail(entry.at, "a token must be a text with "
                                                "its score")
                     ? token(entry, next++)
                     : false;
        if (entry.number != std::trunc(entry.number))
          return reading.fail(entry.at, "the id of '" + entry.first +
                                            "' is no whole number");
        if (std::abs(entry.number) > 0x1p53)
          return reading.fail(entry.at, "the id of '" + entry.first +
                                            "' has more than 53 bits but must "
                                            "be from 0 to " +
                                            llvm::Twine(text::mostTokens - 1));
        SectionEntry plain = entry;
        plain.number = 0;
        return token(plain, int64_t(entry.number));
      });
}

// A merge is "a b" or a pair; an earlier one has a lower rank.
bool ModelReader::merge(SectionEntry &entry) {
  if (!entry.pair) {
    auto [left, right] = StringRef(entry.first).split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return reading.fail(entry.at,
                          "merge '" + entry.first + "' must be two tokens");
    entry.second = right.str();
    entry.first = left.str();
  }
  StringRef tail = entry.second;
  tail.consume_front(vocabulary.continues);
  std::string whole = entry.first + tail.str();
  text::Merge merge{0, 0, 0, uint32_t(vocabulary.merges.size())};
  uint32_t *const ids[] = {&merge.left, &merge.right, &merge.result};
  const std::string *const texts[] = {&entry.first, &entry.second, &whole};
  for (int i = 0; i < 3; ++i) {
    auto found = reading.ids.find(*texts[i]);
    if (found == reading.ids.end())
      return reading.fail(entry.at,
                          "a merge has '" + *texts[i] + "', which is no token");
    *ids[i] = found->second;
  }
  vocabulary.merges.push_back(merge);
  return true;
}

bool ModelReader::merges() {
  if (sections.merges.text.empty() || sections.merges.text.front() != '[')
    return reading.fail(model.at, "key 'merges' must be a list");
  return readSection(sections.merges, path(), reading.context,
                     [&](SectionEntry &entry) { return merge(entry); });
}

bool ModelReader::unknownByName() {
  const json::Value *name = TokenizerReading::get(model, "unk_token");
  if (!name)
    return true;
  if (name->kind != json::Kind::string)
    return reading.must(*name, "unk_token", "a string");
  return reading.idOf(*name, name->text, vocabulary.role[text::unknownRole]);
}

bool ModelReader::unknownById() {
  int64_t id = -1;
  if (!reading.whole(model, "unk_id", 0, int64_t(vocabulary.tokens.size()) - 1,
                     id))
    return false;
  if (id >= 0)
    vocabulary.role[text::unknownRole] = uint32_t(id);
  return true;
}

bool ModelReader::flag(StringRef key, uint32_t flag, bool value) {
  if (!reading.boolean(model, key, value))
    return false;
  vocabulary.flags |= value ? flag : 0;
  return true;
}

bool ModelReader::flags() {
  const json::Value *dropout = TokenizerReading::get(model, "dropout");
  if (dropout && dropout->number != 0)
    return reading.must(*dropout, "dropout", "null: ids must not be random");
  return reading.string(model, "continuing_subword_prefix",
                        vocabulary.continues) &&
         reading.string(model, "end_of_word_suffix", vocabulary.endsWord) &&
         flag("byte_fallback", text::byteFallback) &&
         flag("fuse_unk", text::fuseUnknown) &&
         flag("ignore_merges", text::wholeWordFirst);
}

bool ModelReader::run() {
  const json::Value *named = TokenizerReading::get(model, "type");
  StringRef type = named ? StringRef(named->text) : StringRef();
  if (type.empty()) // older files have no type; what they hold tells
    type = !sections.merges.text.empty()            ? "BPE"
           : TokenizerReading::get(model, "unk_id") ? "Unigram"
           : TokenizerReading::get(model, "max_input_chars_per_word")
               ? "WordPiece"
               : "none";
  if (type == "BPE")
    return flags() && tokens(false) && merges() && unknownByName();
  if (type == "Unigram") {
    vocabulary.model = text::unigramModel;
    return flag("byte_fallback", text::byteFallback) &&
           flag("fuse_unk", text::fuseUnknown, true) && tokens(true) &&
           unknownById();
  }
  if (type == "WordPiece") {
    int64_t most = 100;
    vocabulary.model = text::wordPieceModel;
    vocabulary.continues = "##";
    if (!reading.whole(model, "max_input_chars_per_word", 0, 1 << 20, most))
      return false;
    vocabulary.longestWord = uint32_t(most);
    if (!reading.string(model, "continuing_subword_prefix",
                        vocabulary.continues) ||
        !tokens(false) || !unknownByName())
      return false;
    return vocabulary.role[text::unknownRole] != text::none ||
           reading.fail(model.at, "key 'unk_token' is missing");
  }
  return reading.fail(named ? named->at : model.at,
                      "model is '" + type +
                          "' but must be one of BPE, Unigram, WordPiece");
}

} // namespace

bool mille::readModel(TokenizerReading &reading, const Sections &sections) {
  const json::Value *model =
      TokenizerReading::get(reading.document.root, "model");
  if (!model || model->kind != json::Kind::object)
    return reading.fail(reading.document.root.at,
                        "key 'model' must be an object");
  return ModelReader(reading, *model, sections).run();
}

static bool addedToken(TokenizerReading &reading, const json::Value &value) {
  AddedToken token;
  int64_t id = -1;
  bool special = false, left = false, right = false, word = false;
  if (!reading.string(value, "content", token.text) ||
      !reading.whole(value, "id", 0, text::mostTokens - 1, id) ||
      !reading.boolean(value, "special", special) ||
      !reading.boolean(value, "lstrip", left) ||
      !reading.boolean(value, "rstrip", right) ||
      !reading.boolean(value, "single_word", word))
    return false;
  bool normalized = !special;
  if (!reading.boolean(value, "normalized", normalized))
    return false;
  if (id < 0)
    return reading.fail(value.at, "an added token has no 'id'");
  if (token.text.empty()) // `tokenizers` adds none either
    return true;
  Vocabulary &vocabulary = reading.vocabulary;
  if (size_t(id) >= vocabulary.tokens.size())
    vocabulary.tokens.resize(id + 1);
  VocabularyToken &entry = vocabulary.tokens[id];
  if (entry.present && entry.text != token.text)
    return reading.fail(value.at, "added token '" + token.text + "' has id " +
                                      llvm::Twine(id) + ", which is '" +
                                      entry.text + "'");
  auto [found, fresh] = reading.ids.try_emplace(token.text, uint32_t(id));
  if (!fresh && found->second != uint32_t(id))
    return reading.fail(value.at, "added token '" + token.text + "' has id " +
                                      llvm::Twine(id) + " and id " +
                                      llvm::Twine(found->second));
  entry.text = token.text;
  entry.present = true;
  entry.special = special;
  token.id = uint32_t(id);
  token.flags = (special ? text::addedSpecial : 0) |
                (left ? text::eatsLeft : 0) | (right ? text::eatsRight : 0) |
                (word ? text::singleWord : 0) |
                (normalized ? text::normalized : 0);
  vocabulary.added.push_back(std::move(token));
  return true;
}

bool mille::readAddedTokens(TokenizerReading &reading) {
  const json::Value *list =
      TokenizerReading::get(reading.document.root, "added_tokens");
  if (!list)
    return true;
  if (list->kind != json::Kind::array)
    return reading.must(*list, "added_tokens", "a list");
  for (const json::Value &value : list->items)
    if (value.kind != json::Kind::object)
      return reading.must(value, "added_tokens", "a list of objects");
    else if (!addedToken(reading, value))
      return false;
  return true;
}

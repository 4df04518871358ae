// Reads the models of GGUF files: byte-level BPE, SentencePiece BPE, unigrams
// and WordPiece. Must not know the layout of a GGUF file.
#include "compiler/text/Gguf.h"
#include "compiler/text/Regex.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

using namespace mille;

namespace {

enum Type : int32_t { // a file may hold any other number
  normalType = 1,
  unknownType,
  controlType,
  userType,
  unusedType,
  byteType
};

const char space[] = "\xe2\x96\x81"; // represents a space in tokens

class GgufReader {
public:
  GgufReader(const GgufTokenizer &from, Vocabulary &into, std::string &why)
      : from(from), into(into), why(why) {}

  bool run();

private:
  bool fail(const std::string &text) {
    why = text;
    return false;
  }
  bool flag(const char *name, bool otherwise) const {
    auto found = from.flags.find(name);
    return found == from.flags.end() ? otherwise : found->second;
  }
  Type typeOf(size_t id) const {
    return from.tokenTypes.empty() ? normalType : Type(from.tokenTypes[id]);
  }
  bool check();
  void tokens();
  bool roles();
  void ends(bool bos, bool eos);
  bool byteLevelBpe();
  bool merges();
  bool sentencePieceBpe();
  void mergesOfScores();
  bool unigrams();
  bool wordPieces();
  void step(std::vector<TextStep> &list, uint32_t kind, uint32_t number = 0,
            std::string first = "", std::string second = "") {
    list.push_back({kind, number, 0, std::move(first), std::move(second)});
  }

  const GgufTokenizer &from;
  Vocabulary &into;
  std::string &why;
  std::unordered_map<std::string, uint32_t> ids;
};

bool GgufReader::check() {
  size_t count = from.tokens.size();
  auto mismatch = [&](const char *name, size_t size) {
    return fail("tokenizer.ggml." + std::string(name) + " has " +
                std::to_string(size) + " entries but tokenizer.ggml.tokens " +
                std::to_string(count));
  };
  if (count == 0 || count > text::mostTokens)
    return fail("tokenizer.ggml.tokens has " + std::to_string(count) +
                " entries but must have from 1 to " +
                std::to_string(text::mostTokens));
  if (!from.tokenTypes.empty() && from.tokenTypes.size() != count)
    return mismatch("token_type", from.tokenTypes.size());
  if (!from.scores.empty() && from.scores.size() != count)
    return mismatch("scores", from.scores.size());
  for (float score : from.scores)
    if (!std::isfinite(score))
      return fail("tokenizer.ggml.scores holds what is no number");
  return true;
}

// If a text has two ids, the later one counts, as in llama.cpp.
void GgufReader::tokens() {
  into.tokens.resize(from.tokens.size());
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    VocabularyToken &token = into.tokens[id];
    Type type = typeOf(id);
    token.text = from.tokens[id];
    token.score = from.scores.empty() ? 0 : double(from.scores[id]);
    token.present = true;
    token.reachable = type != unusedType;
    token.special = type == controlType || type == unknownType;
    auto [found, fresh] = ids.try_emplace(token.text, uint32_t(id));
    if (!fresh) {
      into.tokens[found->second].reachable = false;
      found->second = uint32_t(id);
    }
    if ((type == controlType || type == userType || type == unknownType) &&
        !token.text.empty())
      into.added.push_back(
          {uint32_t(id), token.text, token.special ? text::addedSpecial : 0u});
  }
}

bool GgufReader::roles() {
  const std::pair<const char *, text::Role> names[] = {
      {"bos_token_id", text::bosRole},
      {"eos_token_id", text::eosRole},
      {"unknown_token_id", text::unknownRole},
      {"padding_token_id", text::paddingRole},
      {"seperator_token_id", text::separatorRole}, // as GGUF spells it
      {"cls_token_id", text::classRole},
      {"mask_token_id", text::maskRole},
      {"eot_token_id", text::endOfTurnRole}};
  for (auto [name, role] : names) {
    auto found = from.ids.find(name);
    if (found == from.ids.end())
      continue;
    if (found->second < 0 || size_t(found->second) >= from.tokens.size())
      return fail("tokenizer.ggml." + std::string(name) + " is " +
                  std::to_string(found->second) + " but there are " +
                  std::to_string(from.tokens.size()) + " tokens");
    into.role[role] = uint32_t(found->second);
  }
  auto textOf = [&](text::Role role) {
    return into.role[role] == text::none ? "" : from.tokens[into.role[role]];
  };
  into.bosText = textOf(text::bosRole);
  into.eosText = textOf(text::eosRole);
  return true;
}

void GgufReader::ends(bool bos, bool eos) {
  if (flag("add_bos_token", bos) && into.role[text::bosRole] != text::none)
    into.firstIds.push_back(into.role[text::bosRole]);
  if (flag("add_eos_token", eos) && into.role[text::eosRole] != text::none)
    into.lastIds.push_back(into.role[text::eosRole]);
}

bool GgufReader::merges() {
  for (const std::string &merge : from.merges) {
    // A token may begin with a space's letter, never with a space.
    size_t cut = merge.find(' ', 1);
    std::string left = merge.substr(0, cut);
    std::string right = cut == std::string::npos ? "" : merge.substr(cut + 1);
    auto one = ids.find(left), other = ids.find(right);
    auto whole = ids.find(left + right);
    if (one == ids.end() || other == ids.end() || whole == ids.end())
      return fail("merge '" + merge +
                  "' of tokenizer.ggml.merges has what is "
                  "no token");
    into.merges.push_back({one->second, other->second, whole->second,
                           uint32_t(into.merges.size())});
  }
  return true;
}

bool GgufReader::byteLevelBpe() {
  const GgufSplit *split = findGgufSplit(from.pre);
  if (!split)
    return fail("tokenizer.ggml.pre is '" + from.pre + "' but must be one of " +
                ggufSplitNames());
  for (const char *pattern : split->patterns) {
    if (!pattern)
      continue;
    std::string regex;
    if (!translateRegex(pattern, regex, why))
      return false;
    step(into.splits, text::splitStep, text::isolated, regex);
  }
  into.flags |= text::byteLevel;
  into.flags |= split->wholeWordFirst ? text::wholeWordFirst : 0;
  step(into.decoders, text::decodeBytesStep);
  ends(split->beginsWithBos, false);
  return merges();
}

// SentencePiece merges the pair whose merged token has the highest score, for
// any cut of a token into two. Equal scores get equal ranks.
void GgufReader::mergesOfScores() {
  std::vector<float> scores(from.scores);
  std::sort(scores.begin(), scores.end(), std::greater<float>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    const std::string &whole = from.tokens[id];
    if (!into.tokens[id].reachable || typeOf(id) == byteType)
      continue;
    uint32_t rank =
        uint32_t(std::lower_bound(scores.begin(), scores.end(), from.scores[id],
                                  std::greater<float>()) -
                 scores.begin());
    for (size_t cut = 1; cut < whole.size(); ++cut) {
      if ((uint8_t(whole[cut]) & 0xc0) == 0x80)
        continue;
      auto left = ids.find(whole.substr(0, cut));
      auto right = ids.find(whole.substr(cut));
      if (left != ids.end() && right != ids.end())
        into.merges.push_back(
            {left->second, right->second, uint32_t(id), rank});
    }
  }
}

bool GgufReader::sentencePieceBpe() {
  if (from.scores.empty())
    return fail("tokenizer.ggml.scores is missing");
  bool prefix = flag("add_space_prefix", true);
  into.flags |= text::byteFallback | text::fuseUnknown;
  mergesOfScores();
  if (prefix)
    step(into.normalizers, text::prependStep, 0, space);
  step(into.normalizers, text::replaceStep, 0, " ", space);
  step(into.decoders, text::decodeReplaceStep, 0, space, " ");
  step(into.decoders, text::decodeFallbackStep);
  step(into.decoders, text::decodeFuseStep);
  if (prefix)
    step(into.decoders, text::decodeStripStep, 1, " ");
  ends(true, false);
  return true;
}

bool GgufReader::unigrams() {
  if (from.scores.empty())
    return fail("tokenizer.ggml.scores is missing");
  into.model = text::unigramModel;
  into.flags |= text::fuseUnknown;
  // Only what SentencePiece calls normal or user-defined is found in texts.
  for (size_t id = 0; id < from.tokens.size(); ++id)
    if (typeOf(id) != normalType && typeOf(id) != userType)
      into.tokens[id].reachable = false;
  if (!from.precompiledCharsmap.empty())
    step(into.normalizers, text::charsmapStep, 0, from.precompiledCharsmap);
  if (flag("remove_extra_whitespaces", false)) {
    step(into.normalizers, text::stripStep, 3);
    step(into.normalizers, text::replaceAllStep, 0, " {2,}", " ");
  }
  step(into.splits, text::metaspaceStep,
       flag("add_space_prefix", true) ? text::always : text::never, space);
  step(into.decoders, text::decodeMetaspaceStep,
       flag("add_space_prefix", true) ? text::always : text::never, space);
  ends(false, true);
  return true;
}

// GGUF has the mark of a space before what begins a word, and nothing before
// what continues one; ## says it the other way round.
bool GgufReader::wordPieces() {
  into.model = text::wordPieceModel;
  into.continues = "##";
  into.longestWord = 100;
  for (size_t id = 0; id < into.tokens.size(); ++id) {
    VocabularyToken &token = into.tokens[id];
    if (typeOf(id) == controlType || typeOf(id) == unknownType)
      continue;
    if (token.text.compare(0, 3, space) == 0)
      token.text = token.text.substr(3);
    else
      token.text = "##" + token.text;
  }
  if (into.role[text::unknownRole] == text::none)
    return fail("tokenizer.ggml.unknown_token_id is missing");
  step(into.normalizers, text::bertStep, 15);
  std::string white, points, error;
  translateRegex("\\s", white, error);
  translateRegex("[\\p{P}!-\\/:-@\\[-`{-~]", points, error);
  step(into.splits, text::splitStep, text::removed, white);
  step(into.splits, text::splitStep, text::isolated, points);
  step(into.decoders, text::decodePiecesStep, 1, "##");
  const text::Role first = into.role[text::classRole] != text::none
                               ? text::classRole
                               : text::bosRole;
  if (flag("add_bos_token", true) && into.role[first] != text::none)
    into.firstIds.push_back(into.role[first]);
  if (flag("add_eos_token", true) &&
      into.role[text::separatorRole] != text::none)
    into.lastIds.push_back(into.role[text::separatorRole]);
  return true;
}

bool GgufReader::run() {
  if (!check())
    return false;
  tokens();
  into.chatTemplate = from.chatTemplate;
  if (!roles())
    return false;
  if (from.model == "gpt2")
    return byteLevelBpe();
  if (from.model == "llama")
    return sentencePieceBpe();
  if (from.model == "t5")
    return unigrams();
  if (from.model == "bert")
    return wordPieces();
  return fail("tokenizer.ggml.model is '" + from.model +
              "' but must be one of gpt2, llama, t5, bert");
}

} // namespace

bool mille::readGgufTokenizer(const GgufTokenizer &gguf, Vocabulary &vocabulary,
                              std::string &why) {
  return GgufReader(gguf, vocabulary, why).run();
}

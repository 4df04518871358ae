// Writes a vocabulary as NAME.tokens.
// Must not check it: opening the file does.
#include "compiler/text/Vocabulary.h"

#include <cstring>
#include <map>

using namespace mille;

namespace {

class Writer {
public:
  explicit Writer(const Vocabulary &vocabulary) : from(vocabulary) {
    std::memset(&header, 0, sizeof header);
    bytes.assign(sizeof header, 0);
  }
  std::string write();

private:
  text::Span string(const std::string &text) {
    auto [found, fresh] = known.try_emplace(text, strings.size());
    if (fresh)
      strings += text;
    return {found->second, text.size()};
  }
  void part(text::Part which, const void *data, size_t size) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    header.part[which] = {bytes.size(), size};
    bytes.append(static_cast<const char *>(data), size);
  }
  template <typename T>
  void part(text::Part which, const std::vector<T> &list) {
    part(which, list.data(), list.size() * sizeof(T));
  }
  void tokens();
  void steps();

  const Vocabulary &from;
  text::Header header;
  std::string bytes, strings;
  std::map<std::string, uint64_t> known;
};

// Tokens of a byte-level vocabulary are written as their bytes. A token with a
// letter that represents no byte is written as it is, and no text becomes it.
void Writer::tokens() {
  std::vector<uint32_t> ends;
  std::vector<uint8_t> kinds;
  std::vector<double> scores;
  std::string all;
  for (const VocabularyToken &token : from.tokens) {
    std::string own = token.text;
    bool reachable = token.reachable && !own.empty();
    if (from.flags & text::byteLevel) {
      std::string spelled;
      if (bytesOfLetters(token.text, spelled))
        own = spelled;
      else
        reachable = false;
    }
    all += own;
    ends.push_back(uint32_t(all.size()));
    kinds.push_back((token.present ? text::present : 0) |
                    (token.present && reachable ? text::reachable : 0) |
                    (token.special ? text::special : 0));
    scores.push_back(token.score);
  }
  part(text::tokenEnds, ends);
  part(text::tokenBytes, all.data(), all.size());
  part(text::tokenKinds, kinds);
  if (from.model == text::unigramModel)
    part(text::tokenScores, scores);
}

void Writer::steps() {
  std::vector<text::Step> steps;
  for (const auto *list : {&from.normalizers, &from.splits, &from.decoders})
    for (const TextStep &step : *list)
      steps.push_back({step.kind, step.number, step.other, 0,
                       string(step.first), string(step.second)});
  part(text::stepTable, steps);
  std::vector<text::Added> added;
  for (const AddedToken &token : from.added)
    added.push_back({token.id, token.flags, string(token.text)});
  part(text::addedTable, added);
}

std::string Writer::write() {
  std::memcpy(header.magic, text::fileMagic, sizeof header.magic);
  header.version = text::fileVersion;
  header.model = from.model;
  header.flags = from.flags;
  header.tokens = uint32_t(from.tokens.size());
  header.longestWord = from.longestWord;
  std::memcpy(header.role, from.role.data(), sizeof header.role);
  tokens();
  part(text::mergeTable, from.merges);
  steps();
  part(text::firstIds, from.firstIds);
  part(text::lastIds, from.lastIds);
  header.continues = string(from.continues);
  header.endsWord = string(from.endsWord);
  header.chatTemplate = string(from.chatTemplate);
  header.bosText = string(from.bosText);
  header.eosText = string(from.eosText);
  part(text::strings, strings.data(), strings.size());
  header.fileBytes = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  header.hash = text::hashOf(
      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

// GPT-2's alphabet: printable bytes represent themselves, and all others have
// letters from U+0100 on.
std::map<uint32_t, uint8_t> alphabet() {
  std::map<uint32_t, uint8_t> byteOf;
  uint32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
                  byte >= 174;
    byteOf[prints ? byte : next++] = uint8_t(byte);
  }
  return byteOf;
}

} // namespace

std::string mille::writeTokens(const Vocabulary &vocabulary) {
  return Writer(vocabulary).write();
}

bool mille::bytesOfLetters(const std::string &letters, std::string &bytes) {
  static const std::map<uint32_t, uint8_t> byteOf = alphabet();
  bytes.clear();
  for (size_t i = 0; i < letters.size(); ++i) {
    uint8_t lead = uint8_t(letters[i]);
    uint32_t code = lead;
    if (lead >= 0x80) { // every letter of the alphabet has two bytes at most
      if ((lead & 0xe0) != 0xc0 || i + 1 == letters.size())
        return false;
      code = uint32_t(lead & 0x1f) << 6 | (uint8_t(letters[++i]) & 0x3f);
    }
    auto found = byteOf.find(code);
    if (found == byteOf.end())
      return false;
    bytes += char(found->second);
  }
  return true;
}

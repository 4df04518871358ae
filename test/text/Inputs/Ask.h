// What programs share that damage a NAME.tokens: they open it whether its hash
// is right or not, and ask it everything.
#pragma once
#include "text/Layout.h"
#include "text/mille_text.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Makes the file's size and hash right.
inline void rehash(std::string &bytes) {
  using mille::text::Header;
  if (bytes.size() < sizeof(Header))
    return;
  const uint64_t nothing = 0, size = bytes.size();
  std::memcpy(bytes.data() + offsetof(Header, fileBytes), &size, 8);
  std::memcpy(bytes.data() + offsetof(Header, hash), &nothing, 8);
  uint64_t hash = mille::text::hashOf(
      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  std::memcpy(bytes.data() + offsetof(Header, hash), &hash, 8);
}

struct Answers {
  unsigned long questions = 0, chats = 0;
};

// An answer that contradicts another one, or nobody said why there is none.
inline void demand(bool truth) {
  if (!truth)
    std::abort();
}
inline bool answered(mille_text_status status) {
  demand(!status || *mille_text_message());
  return !status;
}

inline void askStream(const mille_text *text, int flags,
                      const std::vector<int32_t> &ids) {
  mille_text_stream *stream = nullptr;
  const char *bytes = nullptr;
  size_t size = 0;
  if (!answered(mille_text_stream_create(text, flags, &stream)))
    return;
  for (int32_t id : ids)
    if (answered(mille_text_stream_push(stream, id, &bytes, &size)) && size)
      demand(bytes != nullptr);
  answered(mille_text_stream_finish(stream, &bytes, &size));
  mille_text_stream_close(stream);
}

// The text of ids, in memory of exactly its size.
inline bool askDecode(const mille_text *text, int flags,
                      const std::vector<int32_t> &ids) {
  size_t size = 0, again = 0;
  if (!answered(mille_text_decode(text, ids.data(), ids.size(), flags, nullptr,
                                  0, &size)))
    return false;
  std::vector<char> exact(size);
  demand(!mille_text_decode(text, ids.data(), ids.size(), flags, exact.data(),
                            size, &again));
  demand(again == size);
  return true;
}

// The ids of a text, which are the vocabulary's, and their text.
inline bool askEncode(const mille_text *text, int flags,
                      const std::string &hard) {
  size_t count = 0, again = 0;
  if (!answered(mille_text_encode(text, hard.data(), hard.size(), flags,
                                  nullptr, 0, &count)))
    return false;
  std::vector<int32_t> ids(count);
  demand(!mille_text_encode(text, hard.data(), hard.size(), flags, ids.data(),
                            count, &again));
  demand(again == count);
  const char *bytes = nullptr;
  size_t size = 0;
  for (int32_t id : ids)
    demand(!mille_text_token(text, id, &bytes, &size, nullptr));
  demand(askDecode(text, flags & MILLE_TEXT_SPECIAL, ids));
  askStream(text, flags & MILLE_TEXT_SPECIAL, ids);
  return true;
}

// Conversations, with what their format needs and without.
inline bool askChats(const mille_text *text, const std::string &hard) {
  const mille_text_turn turns[] = {{"system", hard.data(), hard.size()},
                                   {"user", hard.data(), hard.size()},
                                   {"assistant", "", 0},
                                   {"user", " \n", 2}};
  bool any = false;
  for (size_t first : {0, 1})
    for (const char *date : {"2026-11-24", (const char *)nullptr}) {
      size_t size = 0, again = 0;
      if (!answered(mille_text_chat(text, turns + first, 4 - first, date != 0,
                                    date, nullptr, 0, &size)))
        continue;
      std::vector<char> exact(size);
      demand(!mille_text_chat(text, turns + first, 4 - first, date != 0, date,
                              exact.data(), size, &again));
      demand(again == size);
      any = true;
    }
  return any;
}

// A file that opens must answer every call; any answer will do that does not
// contradict another.
inline void ask(const mille_text *text, Answers &answers) {
  const std::string hard =
      "It's a  test\n<s>\xe4\xb8\xad\xf0\x9f\x98\x80 e\xcc\x81 "
      "123 \xff [MASK] <|im_start|>";
  for (int flags = 0; flags < 4; ++flags)
    answers.questions += askEncode(text, flags, hard);
  size_t all = 0;
  demand(!mille_text_count(text, &all));
  for (size_t id = 0; id < all; id += 7) {
    const std::vector<int32_t> ids = {int32_t(id), int32_t(all - 1 - id), 1};
    answers.questions += askDecode(text, id & 1, ids);
    askStream(text, id & 1, ids);
  }
  for (const char *role : {"bos", "unknown", "end_of_turn"}) {
    int32_t id = 0;
    const char *bytes = nullptr;
    size_t size = 0;
    if (answered(mille_text_role(text, role, &id)))
      mille_text_token(text, id, &bytes, &size, nullptr);
  }
  answers.chats += askChats(text, hard);
}

// Opens these bytes and asks; false if they are refused.
inline bool openAndAsk(const std::string &bytes, Answers &answers) {
  // The memory has exactly this size, so that a read of one byte more is found.
  char *exact = static_cast<char *>(std::malloc(bytes.size() + 1));
  std::memcpy(exact + 1, bytes.data(), bytes.size());
  mille_text *text = nullptr;
  const bool opened =
      answered(mille_text_open_bytes(exact + 1, bytes.size(), &text));
  if (opened)
    ask(text, answers);
  mille_text_close(text);
  std::free(exact);
  return opened;
}

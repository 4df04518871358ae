// Cuts a NAME.tokens at every length, changes every byte of it, corrects the
// hash, opens it, and calls all functions if it opens: hostile FILE STRIDE.
// Must not crash; a sanitizer finds other faults.
#include "text/Layout.h"
#include "text/mille_text.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using mille::text::Header;

static unsigned long opened, refused, questions, chats;

static void rehash(std::string &bytes) {
  if (bytes.size() < sizeof(Header))
    return;
  const uint64_t nothing = 0, size = bytes.size();
  std::memcpy(bytes.data() + offsetof(Header, fileBytes), &size, 8);
  std::memcpy(bytes.data() + offsetof(Header, hash), &nothing, 8);
  uint64_t hash = mille::text::hashOf(
      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  std::memcpy(bytes.data() + offsetof(Header, hash), &hash, 8);
}

// A file that opens must answer every call; any answer will do.
static void ask(const mille_text *text) {
  const char hard[] = "It's a  test\n<s>\xe4\xb8\xad\xf0\x9f\x98\x80 e\xcc\x81 "
                      "123 \xff [MASK] <|im_start|>";
  int32_t ids[256];
  char bytes[1024];
  size_t count = 0, size = 0, all = 0;
  for (int flags = 0; flags < 4; ++flags)
    questions += !mille_text_encode(text, hard, sizeof hard - 1, flags, ids,
                                    256, &count);
  mille_text_count(text, &all);
  for (size_t id = 0; id < all; id += 7) {
    int32_t one[3] = {int32_t(id), int32_t(all - 1 - id), 1};
    questions +=
        !mille_text_decode(text, one, 3, id & 1, bytes, sizeof bytes, &size);
  }
  mille_text_turn turn = {"user", hard, sizeof hard - 1};
  chats += !mille_text_chat(text, &turn, 1, 1, "2026-11-24", bytes,
                            sizeof bytes, &size);
}

static void open(const std::string &bytes) {
  // The memory has exactly this size, so that a read of one byte more is found.
  char *exact = static_cast<char *>(std::malloc(bytes.size() + 1));
  std::memcpy(exact + 1, bytes.data(), bytes.size());
  mille_text *text = nullptr;
  if (mille_text_open_bytes(exact + 1, bytes.size(), &text)) {
    ++refused;
    if (!*mille_text_message())
      std::abort(); // nobody said why
  } else {
    ++opened;
    ask(text);
  }
  mille_text_close(text);
  std::free(exact);
}

int main(int argc, char **argv) {
  std::FILE *file = argc == 3 ? std::fopen(argv[1], "rb") : nullptr;
  if (!file)
    return 2;
  const size_t stride = std::strtoul(argv[2], nullptr, 10);
  std::string all;
  for (int c; (c = std::fgetc(file)) != EOF;)
    all += char(c);
  std::fclose(file);
  for (size_t size = 0; size < all.size(); ++size)
    open(all.substr(0, size));
  if (opened)
    return 1; // a beginning is no file
  std::printf("%zu beginnings are refused\n", all.size());
  for (size_t at = 0; at < all.size(); at += stride) {
    std::string changed = all;
    changed[at] ^= char(1 << at % 8);
    open(changed);
  }
  if (opened)
    return 1; // the hash tells
  std::printf("every changed byte is refused\n");
  for (size_t size = sizeof(Header); size < all.size(); size += stride) {
    std::string cut = all.substr(0, size);
    rehash(cut);
    open(cut);
  }
  for (size_t at = 0; at < all.size(); at += at < 2048 ? 1 : stride)
    for (char mask : {char(1 << at % 8), char(0xff)}) {
      std::string changed = all;
      changed[at] ^= mask;
      rehash(changed);
      open(changed);
    }
  std::printf("with the hash made right: %s, %s, %s\n",
              opened ? "some open" : "none opens",
              refused > all.size() ? "some do not" : "all open",
              questions ? "what opens answers" : "nothing answers");
  std::printf("%s conversation is rendered\n", chats ? "a" : "no");
  return 0;
}

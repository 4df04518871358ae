// Cuts a NAME.tokens at every length, changes every byte of it, corrects the
// hash, opens it, and calls all functions if it opens: hostile FILE STRIDE.
// Must not crash; a sanitizer finds other faults.
#include "Ask.h"

#include <cstdio>

static unsigned long opened, refused;
static Answers answers;

static void open(const std::string &bytes) {
  ++(openAndAsk(bytes, answers) ? opened : refused);
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
  for (size_t size = sizeof(mille::text::Header); size < all.size();
       size += stride) {
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
              answers.questions ? "what opens answers" : "nothing answers");
  std::printf("%s conversation is rendered\n", answers.chats ? "a" : "no");
  return 0;
}

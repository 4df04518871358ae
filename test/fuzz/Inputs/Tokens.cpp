// Reads bytes as a NAME.tokens whose size and hash are right: it is refused, or
// gives ids of texts, texts of ids and conversations.
#include "Taken.h"
#include "test/text/Inputs/Ask.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Taken taken;
  static Answers answers;
  std::string bytes(reinterpret_cast<const char *>(data), size);
  rehash(bytes);
  taken.count += openAndAsk(bytes, answers);
  return 0;
}

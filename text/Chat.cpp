#include "text/Chat.h"
namespace mille::text {
const ChatFormat *recognizeChat(View) { return nullptr; }
} // namespace mille::text
#include "text/Message.h"
mille_text_status mille_text_chat_format(const mille_text *, const char **) {
  return MILLE_TEXT_UNSUPPORTED;
}
mille_text_status mille_text_chat(const mille_text *, const mille_text_turn *,
                                  size_t, int, const char *, char *, size_t,
                                  size_t *) {
  return MILLE_TEXT_UNSUPPORTED;
}

/* A chat in the terminal: nothing but a package's header and archive, the text
 * room, and libc. A line is a turn; the model sees the conversation so far, of
 * which only what is new is computed. chat WEIGHTS TOKENS [CONTEXT] */
#include "chat.h"
#include "mille_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { mostTurns = 64, mostBytes = 1 << 16, mostTokens = 256 };

typedef struct {
  mille_text *text;
  mille_session *session;
  float *hidden, *logits;
  int64_t vocabulary;
  int32_t *ids; /* that the session's states hold */
  int32_t held, context;
} Chat;

static void fail(const char *status, const char *message) {
  fprintf(stderr, "%s: %s\n", status, message);
  exit(1);
}
static void check(mille_status status, const char *message) {
  if (status != MILLE_OK)
    fail(mille_status_name(status), message);
}
static void checkText(mille_text_status status) {
  if (status != MILLE_TEXT_OK)
    fail(mille_text_status_name(status), mille_text_message());
}
static void *room(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory)
    fail("out of memory", "malloc");
  return memory;
}

/* Puts ids behind those that the states hold. */
static void append(Chat *chat, const int32_t *ids, int32_t count) {
  if (count > chat->context - chat->held)
    fail("too large", "the conversation is longer than the context");
  for (int32_t piece; count > 0; count -= piece, ids += piece) {
    piece = count < mostTokens ? count : mostTokens;
    check(chat_run_next(chat->session, 1, piece, ids, NULL, &chat->held,
                        chat->hidden, chat->logits),
          mille_session_message(chat->session));
    memmove(chat->ids + chat->held, ids, piece * sizeof *ids);
    chat->held += piece;
  }
}

static int32_t likeliest(const Chat *chat) {
  int32_t best = 0;
  for (int32_t id = 1; id < chat->vocabulary; ++id)
    if (chat->logits[id] > chat->logits[best])
      best = id;
  return best;
}

static int isEnd(const Chat *chat, int32_t id) {
  int32_t end;
  return (mille_text_role(chat->text, "eos", &end) == MILLE_TEXT_OK &&
          id == end) ||
         (mille_text_role(chat->text, "end_of_turn", &end) == MILLE_TEXT_OK &&
          id == end);
}

/* Feeds the conversation from where it differs from what the states hold. */
static void feed(Chat *chat, const mille_text_turn *turns, size_t count) {
  static char bytes[mostBytes * 4];
  static int32_t ids[mostBytes * 4];
  size_t size, tokens;
  checkText(mille_text_chat(chat->text, turns, count, 1, NULL, bytes,
                            sizeof bytes, &size));
  if (size > sizeof bytes)
    fail("too large", "the conversation has too many bytes");
  checkText(mille_text_encode(chat->text, bytes, size, MILLE_TEXT_SPECIAL, ids,
                              sizeof ids / sizeof *ids, &tokens));
  int32_t same = 0;
  while (same < chat->held && same + 1 < (int32_t)tokens &&
         chat->ids[same] == ids[same])
    ++same;
  chat->held = same; /* what the states hold behind it is forgotten */
  append(chat, ids + same, (int32_t)tokens - same);
}

/* Prints the answer as it comes, in whole characters. */
static size_t answer(Chat *chat, char *into, size_t most) {
  mille_text_stream *stream;
  size_t written = 0, size;
  const char *bytes;
  checkText(mille_text_stream_create(chat->text, MILLE_TEXT_PLAIN, &stream));
  for (int n = 0; n < mostTokens && chat->held < chat->context; ++n) {
    int32_t id = likeliest(chat);
    if (isEnd(chat, id))
      break;
    checkText(mille_text_stream_push(stream, id, &bytes, &size));
    if (size > most - written)
      break;
    memcpy(into + written, bytes, size);
    written += size;
    fwrite(bytes, 1, size, stdout);
    fflush(stdout);
    append(chat, &id, 1);
  }
  mille_text_stream_close(stream);
  putchar('\n');
  return written;
}

static void talk(Chat *chat) {
  static char said[mostBytes];
  static mille_text_turn turns[mostTurns];
  size_t count = 0, used = 0;
  while (count + 1 < mostTurns && used + 1 < sizeof said &&
         fgets(said + used, (int)(sizeof said - used), stdin)) {
    size_t size = strcspn(said + used, "\n");
    turns[count++] = (mille_text_turn){"user", said + used, size};
    used += size;
    feed(chat, turns, count);
    size = answer(chat, said + used, sizeof said - used);
    turns[count++] = (mille_text_turn){"assistant", said + used, size};
    used += size;
  }
}

int main(int argc, char **argv) {
  char message[512];
  Chat chat = {0};
  mille_package *package;
  mille_tensor logits, hidden;
  size_t next;
  if (argc < 3)
    fail("usage", "chat WEIGHTS TOKENS [CONTEXT]");
  chat.context = argc > 3 ? atoi(argv[3]) : 2048;
  checkText(mille_text_open(argv[2], &chat.text));
  check(mille_package_open(chat_model(), argv[1], NULL, &package, message,
                           sizeof message),
        message);
  check(mille_package_find_entry(package, "next", &next),
        mille_package_message(package));
  check(mille_package_entry_output(package, next, 0, &hidden),
        mille_package_message(package));
  check(mille_package_entry_output(package, next, 1, &logits),
        mille_package_message(package));

  /* All memory is allocated here. */
  const mille_size most[] = {
      {"batch", 1}, {"tokens", mostTokens}, {"context", chat.context}};
  check(mille_session_create_for(package, most, 3, 0, &chat.session),
        mille_package_message(package));
  chat.vocabulary = logits.shape[1];
  chat.logits = room(sizeof(float) * logits.shape[1]);
  chat.hidden = room(sizeof(float) * hidden.shape[1]);
  chat.ids = room(sizeof(int32_t) * chat.context);
  talk(&chat);

  mille_session_close(chat.session);
  mille_package_close(package);
  mille_text_close(chat.text);
  free(chat.logits);
  free(chat.hidden);
  free(chat.ids);
  return 0;
}

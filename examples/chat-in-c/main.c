/* A chat in the terminal: nothing but a package's header and archive, the rooms
 * text and generation, and libc. A line is a turn; the model sees the
 * conversation so far, of which only what is new is computed.
 * chat WEIGHTS TOKENS [CONTEXT [TEMPERATURE]] */
#include "chat.h"
#include "mille_generation.h"
#include "mille_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { mostTurns = 64, mostBytes = 1 << 16, mostTokens = 256 };

typedef struct {
  mille_text *text;
  mille_generation *generation;
  mille_sampling sampling;
  int64_t sequence; /* holds the conversation */
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
static void checkChat(const Chat *chat, mille_status status) {
  check(status, mille_generation_message(chat->generation));
}

static int isEnd(const Chat *chat, int32_t id) {
  int32_t end;
  return (mille_text_role(chat->text, "eos", &end) == MILLE_TEXT_OK &&
          id == end) ||
         (mille_text_role(chat->text, "end_of_turn", &end) == MILLE_TEXT_OK &&
          id == end);
}

/* The sequence holds the conversation: what it holds of it already stays. */
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
  checkChat(chat, mille_sequence_follow(chat->generation, chat->sequence, ids,
                                        tokens, NULL));
}

/* Prints the answer as it comes, in whole characters. */
static size_t answer(Chat *chat, char *into, size_t most) {
  mille_text_stream *stream;
  size_t written = 0, size;
  const char *bytes;
  checkText(mille_text_stream_create(chat->text, MILLE_TEXT_PLAIN, &stream));
  for (int n = 0; n < mostTokens; ++n) {
    int32_t id;
    checkChat(chat, mille_generation_decode(chat->generation));
    checkChat(chat, mille_sequence_sample(chat->generation, chat->sequence,
                                          &chat->sampling, &id));
    if (isEnd(chat, id))
      break;
    checkText(mille_text_stream_push(stream, id, &bytes, &size));
    if (size > most - written)
      break;
    memcpy(into + written, bytes, size);
    written += size;
    fwrite(bytes, 1, size, stdout);
    fflush(stdout);
    if (mille_sequence_append(chat->generation, chat->sequence, &id, 1))
      break; /* the context is full */
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
  const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  const mille_sampling sampling = MILLE_SAMPLING_INIT;
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  char message[512];
  Chat chat = {0};
  mille_package *package;
  if (argc < 3)
    fail("usage", "chat WEIGHTS TOKENS [CONTEXT [TEMPERATURE]]");
  checkText(mille_text_open(argv[2], &chat.text));
  check(mille_package_open(chat_model(), argv[1], NULL, &package, message,
                           sizeof message),
        message);
  /* All memory is allocated here. */
  options.context = argc > 3 ? atoi(argv[3]) : 2048;
  check(mille_generation_create(&runtime, package, &options, &chat.generation,
                                message, sizeof message),
        message);
  checkChat(&chat, mille_sequence_open(chat.generation, &chat.sequence));
  chat.sampling = sampling;
  chat.sampling.temperature = argc > 4 ? atof(argv[4]) : 0;
  talk(&chat);

  mille_generation_close(chat.generation);
  mille_package_close(package);
  mille_text_close(chat.text);
  return 0;
}

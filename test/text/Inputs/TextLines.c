/* Answers questions about a NAME.tokens, a line each, through the C API alone:
 *   encode FLAGS HEX           ids
 *   decode FLAGS IDS           hex
 *   stream FLAGS IDS           hex of each step, then of the end
 *   chat ANSWER DATE ROLE=HEX  hex; DATE may be -
 *   format                     the chat format's name
 * An error is `! STATUS: MESSAGE`. text-lines FILE < QUESTIONS */
#include "text/mille_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *line;
static size_t line_room;

/* In place; the size. */
static size_t from_hex(char *text) {
  size_t size = strlen(text) / 2, i;
  for (i = 0; i < size; ++i) {
    char pair[3] = {text[i * 2], text[i * 2 + 1], 0};
    text[i] = (char)strtol(pair, 0, 16);
  }
  return size;
}

static void print_hex(const char *bytes, size_t size) {
  size_t i;
  for (i = 0; i < size; ++i)
    printf("%02x", (unsigned char)bytes[i]);
}

static void answer(mille_text_status status) {
  if (status)
    printf("! %s: %s", mille_text_status_name(status), mille_text_message());
  printf("\n");
}

/* Twice: the first call says how much room the second one needs. */
static mille_text_status encode(const mille_text *text, int flags, char *hex) {
  size_t size = from_hex(hex), count = 0, i;
  int32_t *ids;
  mille_text_status status =
      mille_text_encode(text, hex, size, flags, 0, 0, &count);
  if (status)
    return status;
  ids = malloc((count + 1) * sizeof *ids);
  status = mille_text_encode(text, hex, size, flags, ids, count, &count);
  for (i = 0; !status && i < count; ++i)
    printf(i ? ",%d" : "%d", (int)ids[i]);
  free(ids);
  return status;
}

static size_t read_ids(char *list, int32_t **ids) {
  size_t count = 0;
  char *word;
  *ids = malloc((strlen(list) + 1) * sizeof **ids);
  for (word = strtok(list, ","); word; word = strtok(0, ","))
    (*ids)[count++] = (int32_t)strtol(word, 0, 10);
  return count;
}

static mille_text_status decode(const mille_text *text, int flags, char *list) {
  int32_t *ids;
  size_t count = read_ids(list, &ids), size = 0;
  char *bytes = 0;
  mille_text_status status =
      mille_text_decode(text, ids, count, flags, 0, 0, &size);
  if (!status) {
    bytes = malloc(size + 1);
    status = mille_text_decode(text, ids, count, flags, bytes, size, &size);
  }
  if (!status)
    print_hex(bytes, size);
  free(bytes);
  free(ids);
  return status;
}

static mille_text_status stream(const mille_text *text, int flags, char *list) {
  int32_t *ids;
  size_t count = read_ids(list, &ids), size = 0, i;
  const char *bytes;
  mille_text_stream *one = 0;
  mille_text_status status = mille_text_stream_create(text, flags, &one);
  for (i = 0; !status && i < count; ++i) {
    status = mille_text_stream_push(one, ids[i], &bytes, &size);
    print_hex(bytes, size);
    printf("|");
  }
  if (!status)
    status = mille_text_stream_finish(one, &bytes, &size);
  if (!status)
    print_hex(bytes, size);
  mille_text_stream_close(one);
  free(ids);
  return status;
}

static mille_text_status chat(const mille_text *text, int wants_answer,
                              char *rest) {
  mille_text_turn turns[64];
  size_t count = 0, size = 0;
  char *bytes = 0, *date = strtok(rest, " "), *word;
  mille_text_status status;
  while ((word = strtok(0, " ")) && count < 64) {
    char *hex = strchr(word, '=');
    *hex++ = 0;
    turns[count].role = word;
    turns[count].bytes = hex;
    turns[count++].size = from_hex(hex);
  }
  if (date && !strcmp(date, "-"))
    date = 0;
  status = mille_text_chat(text, turns, count, wants_answer, date, 0, 0, &size);
  if (!status) {
    bytes = malloc(size + 1);
    status = mille_text_chat(text, turns, count, wants_answer, date, bytes,
                             size, &size);
  }
  if (!status)
    print_hex(bytes, size);
  free(bytes);
  return status;
}

static mille_text_status format(const mille_text *text) {
  const char *name = "";
  mille_text_status status = mille_text_chat_format(text, &name);
  if (!status)
    printf("%s", name);
  return status;
}

static void question(const mille_text *text) {
  char *what = line, *rest = strchr(line, ' ');
  int flags = 0;
  if (rest) {
    *rest++ = 0;
    flags = (int)strtol(rest, &rest, 10);
    rest += *rest == ' ';
  }
  if (!strcmp(what, "encode"))
    answer(encode(text, flags, rest));
  else if (!strcmp(what, "decode"))
    answer(decode(text, flags, rest));
  else if (!strcmp(what, "stream"))
    answer(stream(text, flags, rest));
  else if (!strcmp(what, "chat"))
    answer(chat(text, flags, rest));
  else
    answer(format(text));
}

int main(int argc, char **argv) {
  mille_text *text = 0;
  mille_text_status status = mille_text_open(argc > 1 ? argv[1] : "", &text);
  if (status) {
    answer(status);
    return 1;
  }
  line_room = 64 << 20;
  line = malloc(line_room);
  while (line && fgets(line, (int)line_room, stdin)) {
    line[strcspn(line, "\n")] = 0;
    question(text);
  }
  free(line);
  mille_text_close(text);
  return 0;
}

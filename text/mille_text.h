/* Mille's text room: ids from text and text from ids, for one vocabulary. The
 * only public header of libmille_text. C99 and C++.
 *
 * No function exits, aborts, throws or prints. A mille_text is a NAME.tokens in
 * memory: it never changes once it is open, so any number of threads may call
 * anything on it but close. A stream takes one call at a time. Texts are bytes
 * with a length; what is no UTF-8 in them counts as U+FFFD, one for each
 * maximal part of a character, as Python's errors="replace" does. */
#ifndef MILLE_TEXT_H
#define MILLE_TEXT_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct mille_text mille_text;
typedef struct mille_text_stream mille_text_stream;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The result of a call, and what the caller does next. */
typedef enum mille_text_status {
  MILLE_TEXT_OK = 0,
  /* An argument breaks the rules of this header: correct the calling code. */
  MILLE_TEXT_INVALID_ARGUMENT = 1,
  /* An id that the vocabulary lacks, or a role that the chat format lacks:
   * correct the data. */
  MILLE_TEXT_INVALID_INPUT = 2,
  /* A text of more than a gigabyte: cut it. */
  MILLE_TEXT_TOO_LARGE = 3,
  /* Memory was refused: release something. */
  MILLE_TEXT_OUT_OF_MEMORY = 4,
  /* The file cannot be read: look at the path and its permissions. */
  MILLE_TEXT_FILE_ERROR = 5,
  /* The file is damaged, or newer than this library: write it again. */
  MILLE_TEXT_BAD_FILE = 6,
  /* The vocabulary has no such thing: no chat template, one of an unknown
   * format, no token of that name or for a character of a text. Or its pattern
   * cannot be matched, as it moves back or takes too many steps. */
  MILLE_TEXT_UNSUPPORTED = 7
} mille_text_status;

/* "ok", "invalid argument", ...; never null. */
const char *mille_text_status_name(mille_text_status status);

/* The message of the last call that failed in the calling thread: a sentence
 * with names and values; "" if none has. */
const char *mille_text_message(void);

/* Opens NAME.tokens: reads it whole, compares its hash and checks every length
 * in it. The file is not used afterwards. On failure *text is null. */
mille_text_status mille_text_open(const char *path, mille_text **text);
/* The same of bytes in memory, which are copied. */
mille_text_status mille_text_open_bytes(const void *bytes, size_t size,
                                        mille_text **text);
/* `text` may be null. Its streams must be closed before. */
void mille_text_close(mille_text *text);

/* ---- Encode and decode --------------------------------------------------- */

enum {
  MILLE_TEXT_PLAIN = 0,
  /* encode: special tokens that stand in the text are tokens; without, they
   * are text like any other. decode: special tokens are written; without,
   * they are left out. */
  MILLE_TEXT_SPECIAL = 1 << 0,
  /* encode: also the tokens that the vocabulary puts before and after a text
   * (bos, eos, [CLS], [SEP]). */
  MILLE_TEXT_ENDS = 1 << 1
};

/* Writes up to `room` ids; *count says how many the text has. */
mille_text_status mille_text_encode(const mille_text *text, const char *bytes,
                                    size_t size, int flags, int32_t *ids,
                                    size_t room, size_t *count);

/* How many ids MILLE_TEXT_ENDS puts before and after a text, for who cuts what
 * is between them. */
mille_text_status mille_text_ends(const mille_text *text, size_t *before,
                                  size_t *after);

/* Writes up to `room` bytes of UTF-8, without a zero at the end; *size says how
 * many there are. */
mille_text_status mille_text_decode(const mille_text *text, const int32_t *ids,
                                    size_t count, int flags, char *bytes,
                                    size_t room, size_t *size);

/* A stream decodes ids one at a time, as a model gives them, and never splits a
 * character: bytes wait until their character is whole. All of it together is
 * what decode gives, but for vocabularies with byte tokens, where decode
 * replaces a whole run of byte tokens as soon as one byte of it is wrong. */
mille_text_status mille_text_stream_create(const mille_text *text, int flags,
                                           mille_text_stream **stream);
/* *bytes live until the next call on this stream; *size may be 0. */
mille_text_status mille_text_stream_push(mille_text_stream *stream, int32_t id,
                                         const char **bytes, size_t *size);
/* What still waits, as U+FFFD; the stream then begins anew. */
mille_text_status mille_text_stream_finish(mille_text_stream *stream,
                                           const char **bytes, size_t *size);
void mille_text_stream_close(mille_text_stream *stream);

/* ---- The vocabulary ------------------------------------------------------ */

/* One more than the largest id. */
mille_text_status mille_text_count(const mille_text *text, size_t *count);

/* A token's bytes, which live as long as `text`: of byte-level vocabularies the
 * bytes that it stands for, of others its text as the vocabulary has it.
 * `special` may be null. MILLE_TEXT_INVALID_INPUT: no token has this id. */
mille_text_status mille_text_token(const mille_text *text, int32_t id,
                                   const char **bytes, size_t *size,
                                   int *special);

/* The id of an added token or, where no added token has this text, of the token
 * with these bytes. MILLE_TEXT_INVALID_INPUT: there is none. */
mille_text_status mille_text_id(const mille_text *text, const char *bytes,
                                size_t size, int32_t *id);

/* The id of a role: "bos", "eos", "unknown", "padding", "separator", "class",
 * "mask", "end_of_turn". MILLE_TEXT_UNSUPPORTED: the vocabulary has none. */
mille_text_status mille_text_role(const mille_text *text, const char *role,
                                  int32_t *id);

/* ---- Chat ---------------------------------------------------------------- */

typedef struct mille_text_turn {
  const char *role; /* "system", "user" or "assistant" */
  const char *bytes;
  size_t size;
} mille_text_turn;

/* The file's chat template; *size is 0 where it has none. */
mille_text_status mille_text_template(const mille_text *text,
                                      const char **bytes, size_t *size);

/* The name of the format that the template was recognised as ("chatml"). */
mille_text_status mille_text_chat_format(const mille_text *text,
                                         const char **name);

/* Writes up to `room` bytes of a conversation in that format; *size says how
 * many there are. answer, not 0: what makes the model answer stands at the end.
 * date: "2026-11-24", for formats that say today's date; may be null, which is
 * an error where the format needs it. Encode the result with
 * MILLE_TEXT_SPECIAL alone: the ends are in it. */
mille_text_status mille_text_chat(const mille_text *text,
                                  const mille_text_turn *turns, size_t count,
                                  int answer, const char *date, char *bytes,
                                  size_t room, size_t *size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

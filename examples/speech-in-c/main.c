/* Speech to text in the terminal: Whisper by a package's header and archive,
 * the rooms text and generation, and libc. A sound is read in windows of the
 * model's length (30 s); the text of each is printed as it comes.
 * speech WEIGHTS TOKENS FILE.wav [MARKS] */
#include "whisper.h" /* has the text of mille.h: before the rooms */

#include "logmel.h"
#include "mille_generation.h"
#include "mille_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  float *samples;
  size_t count;
} Sound;

typedef struct {
  mille_text *text;
  mille_generation *generation;
  int64_t sequence;
  int32_t begin[16], end; /* what the decoder begins with; the last id */
  size_t beginCount;
  int bins, frames; /* of the encoder's input */
} Speech;

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
static void checkSpeech(const Speech *speech, mille_status status) {
  check(status, mille_generation_message(speech->generation));
}
static void *allocate(size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory)
    fail("out of memory", "a sound does not fit");
  return memory;
}

static uint32_t number(const unsigned char *bytes, int count) {
  uint32_t value = 0;
  while (count--)
    value = value << 8 | bytes[count];
  return value;
}

/* The samples of a WAV file of one channel, 16 bits, 16000 a second. */
static Sound soundOf(const char *path) {
  unsigned char head[12], chunk[8], format[16] = {0};
  FILE *file = fopen(path, "rb");
  if (!file)
    fail("file error", path);
  if (fread(head, 1, 12, file) != 12 || memcmp(head, "RIFF", 4) ||
      memcmp(head + 8, "WAVE", 4))
    fail(path, "is not a WAV file");
  for (;;) {
    if (fread(chunk, 1, 8, file) != 8)
      fail(path, "has no samples");
    const uint32_t size = number(chunk + 4, 4);
    if (!memcmp(chunk, "data", 4))
      break;
    const size_t known = memcmp(chunk, "fmt ", 4) ? 0
                         : size < sizeof format   ? size
                                                  : sizeof format;
    if (fread(format, 1, known, file) != known ||
        fseek(file, (long)(size - known + size % 2), SEEK_CUR))
      fail(path, "is cut off");
  }
  if (number(format, 2) != 1 || number(format + 2, 2) != 1 ||
      number(format + 4, 4) != logmelRate || number(format + 14, 2) != 16)
    fail(path, "must have one channel of 16 bits, 16000 samples a second");
  const size_t most = number(chunk + 4, 4) / 2;
  unsigned char *bytes = allocate(most * 2);
  Sound sound = {allocate(most * sizeof(float)), 0};
  sound.count = fread(bytes, 2, most, file);
  for (size_t i = 0; i < sound.count; ++i)
    sound.samples[i] = (float)(int16_t)number(bytes + 2 * i, 2) / 32768;
  free(bytes);
  fclose(file);
  return sound;
}

/* The next id. The marks of Whisper's vocabulary are behind its end: none of
 * these is text. */
static int32_t next(Speech *speech) {
  const float *logits;
  size_t count;
  int32_t best = 0;
  checkSpeech(speech, mille_generation_decode(speech->generation));
  checkSpeech(speech, mille_sequence_logits(speech->generation,
                                            speech->sequence, &logits, &count));
  for (int32_t id = 1; id <= speech->end && (size_t)id < count; ++id)
    if (logits[id] > logits[best])
      best = id;
  return best;
}

/* Prints the text of one window as it comes, in whole characters. */
static void transcribe(Speech *speech, const float *mels) {
  mille_text_stream *stream;
  const char *bytes;
  size_t size;
  checkSpeech(speech, mille_sequence_source_values(
                          speech->generation, speech->sequence, mels,
                          (size_t)speech->bins * (size_t)speech->frames));
  checkSpeech(speech,
              mille_sequence_append(speech->generation, speech->sequence,
                                    speech->begin, speech->beginCount));
  checkText(mille_text_stream_create(speech->text, MILLE_TEXT_PLAIN, &stream));
  for (;;) {
    const int32_t id = next(speech);
    if (id == speech->end)
      break;
    checkText(mille_text_stream_push(stream, id, &bytes, &size));
    fwrite(bytes, 1, size, stdout);
    fflush(stdout);
    if (mille_sequence_append(speech->generation, speech->sequence, &id, 1))
      break; /* the context is full */
  }
  mille_text_stream_close(stream);
}

/* The most tokens that the decoder takes. */
static int64_t mostTokens(mille_package *package) {
  const char *name;
  int64_t most;
  for (size_t i = 0; !mille_package_size(package, i, &name, &most); ++i)
    if (!strcmp(name, "decoder_tokens"))
      return most;
  fail("the model", "has no decoder beside its encoder");
  return 0;
}

/* Opens the generation: all memory of the model is allocated here. */
static void prepare(Speech *speech, mille_package *package, const char *marks) {
  const mille_generation_runtime runtime = MILLE_GENERATION_RUNTIME;
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  const size_t room = sizeof speech->begin / sizeof *speech->begin;
  char message[512];
  mille_tensor mels;
  check(mille_package_input(package, 0, &mels), "the model has no input");
  if (mels.rank != 3)
    fail("the model", "does not take [batch, bins, frames]");
  speech->bins = (int)mels.shape[1];
  speech->frames = (int)mels.shape[2];
  checkText(mille_text_encode(speech->text, marks, strlen(marks),
                              MILLE_TEXT_SPECIAL, speech->begin, room,
                              &speech->beginCount));
  if (speech->beginCount > room)
    fail(marks, "are too many tokens");
  checkText(mille_text_role(speech->text, "eos", &speech->end));
  options.context = mostTokens(package);
  check(mille_generation_create(&runtime, package, &options,
                                &speech->generation, message, sizeof message),
        message);
  checkSpeech(speech,
              mille_sequence_open(speech->generation, &speech->sequence));
}

/* Transcribes the sound, a window after the other. */
static void hear(Speech *speech, Sound sound) {
  const size_t window = (size_t)speech->frames * logmelHop;
  float *mels =
      allocate(sizeof(float) * (size_t)speech->bins * (size_t)speech->frames);
  for (size_t first = 0; first < sound.count; first += window) {
    const size_t left = sound.count - first;
    if (logmel(sound.samples + first, left < window ? left : window,
               speech->bins, speech->frames, mels))
      fail("out of memory", "the spectrum does not fit");
    transcribe(speech, mels);
  }
  putchar('\n');
  free(mels);
}

int main(int argc, char **argv) {
  Speech speech = {0};
  mille_package *package;
  char message[512];
  if (argc < 4)
    fail("usage", "speech WEIGHTS TOKENS FILE.wav [MARKS]");
  const Sound sound = soundOf(argv[3]);
  checkText(mille_text_open(argv[2], &speech.text));
  check(mille_package_open(whisper_model(), argv[1], NULL, &package, message,
                           sizeof message),
        message);
  prepare(&speech, package,
          argc > 4 ? argv[4] : "<|startoftranscript|><|notimestamps|>");
  hear(&speech, sound);

  mille_generation_close(speech.generation);
  mille_package_close(package);
  mille_text_close(speech.text);
  free(sound.samples);
  return 0;
}

/* Sizes of a run: which a model has, what errors say of them, and what
 * generated code sees. */
#include "FakeModel.h"

#include <string.h>

enum { fixed = 11, slots = 3, positionsBelow = 6 };
static mille_run seen;
static int64_t seenSizes[3];
static int32_t lastPositions[64];

static int32_t forward(mille_run *run) {
  seen = *run;
  memcpy(seenSizes, run->sizes, sizeof seenSizes);
  int64_t rows = run->batch * run->sizes[2];
  if (rows > 0 && rows <= 64)
    memcpy(lastPositions, run->inputs[2], 4 * rows);
  /* All that the arena should hold may be written. */
  memset(run->arena, 0x5a, run->padded_rows * 128);
  for (int64_t i = 0; i < run->batch * run->batch; ++i)
    run->outputs[0][i] = (float)i;
  return 0;
}

static const mille_isa isa = {"any", 0};
static const mille_tensor_info inputs[4] = {
    {"ids", MILLE_I32, 2, {-1, -2}, MILLE_REQUIRED, 0, 9},
    {"decoder_ids", MILLE_I32, 2, {-1, -3}, MILLE_REQUIRED, 0, 9},
    {"decoder_positions",
     MILLE_I32,
     2,
     {-1, -3},
     MILLE_DEFAULT_POSITIONS,
     0,
     positionsBelow},
    {"pixels", MILLE_F32, 4, {-1, 2, 3, 4}, MILLE_REQUIRED, 0, 0}};
static const mille_tensor_info output = {
    "similarity", MILLE_F32, 2, {-1, -1}, 0, 0, 0};
static int32_t ids[1000];
static float pixels[1000], numbers[64];
static const void *given[4] = {ids, ids, NULL, pixels};
static float *outputs[1] = {numbers};
static mille_package *package;
static char weights[128];

static const mille_size_info sizeInfos[3] = {
    {"batch", 0}, {"tokens", 8}, {"decoder_tokens", 7}};
static const mille_entry entry = {.name = "forward",
                                  .forward = forward,
                                  .input_count = 4,
                                  .output_count = 1,
                                  .inputs = inputs,
                                  .outputs = &output,
                                  .arena_bytes_per_row = 128,
                                  .fixed_tokens = fixed,
                                  .slots = slots};

static mille_model modelOf(const char *name) {
  mille_weights_header header = {
      {0}, MILLE_WEIGHTS_VERSION, 0, sizeof weights, 0, 120, 0, 128, ""};
  memcpy(header.magic, MILLE_WEIGHTS_MAGIC, 8);
  strcpy(header.model, name);
  memcpy(weights, &header, sizeof header);
  mille_model model = {.abi_version = MILLE_ABI_VERSION,
                       .isa_count = 1,
                       .entry_count = 1,
                       .size_count = 3,
                       .name = name,
                       .isas = &isa,
                       .entries = &entry,
                       .sizes = sizeInfos,
                       .token_size = 1,
                       .weights_bytes = sizeof weights,
                       .weights = weights};
  model.table_hash = fake_table_hash(weights);
  return model;
}

static void open(const mille_model *model) {
  char message[512];
  mille_status status =
      mille_package_open(model, NULL, NULL, &package, message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
}

static mille_size list[3] = {{"batch"}, {"tokens"}, {"decoder_tokens"}};

#define SIZES(b, t, d)                                                         \
  list[0].value = b;                                                           \
  list[1].value = t;                                                           \
  list[2].value = d
#define CREATE(b, t, d, status, part)                                          \
  SIZES(b, t, d);                                                              \
  EXPECT(mille_session_create_for(package, list, 3, 2, &session), status,      \
         mille_package_message(package), part)
#define RUN(b, t, d, status, part)                                             \
  SIZES(b, t, d);                                                              \
  EXPECT(mille_session_run_for(session, list, 3, given, outputs), status,      \
         status == MILLE_OK ? "" : mille_session_message(session), part)

static void refusals(void) {
  mille_session *session;
  CREATE(0, 5, 5, MILLE_INVALID_ARGUMENT,
         "max_batch is 0 but must be at least 1");
  CREATE(1, 0, 5, MILLE_INVALID_ARGUMENT, "max_tokens is 0 but must");
  CREATE(1, 5, 0, MILLE_INVALID_ARGUMENT, "max_decoder_tokens is 0 but must");
  CREATE(1, 9, 5, MILLE_TOO_LARGE,
         "max_tokens is 9 but model sizes takes at most 8");
  CREATE(1, 5, 8, MILLE_TOO_LARGE,
         "max_decoder_tokens is 8 but model sizes takes at most 7");
  CREATE(
      INT64_MAX, 5, 5, MILLE_TOO_LARGE,
      "a session of batch 9223372036854775807, tokens 5, decoder_tokens 5 is "
      "more than memory or");
  /* Slots are counted in 32 bits, too. */
  CREATE(INT32_MAX / fixed / slots, 5, 5, MILLE_TOO_LARGE, "more than memory");
  CHECK(session == NULL);
  EXPECT(mille_session_create_for(package, NULL, 3, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "sizes is null");
  EXPECT(mille_session_create_for(package, list, 2, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "max_decoder_tokens is not given but entry forward needs it");
  const mille_size wrong[3] = {{"batch", 1}, {"token", 5}, {NULL, 5}};
  EXPECT(mille_session_create_for(package, wrong, 2, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "model sizes has no size 'token'; its sizes are batch, tokens, "
         "decoder_tokens");
  EXPECT(mille_session_create_for(package, wrong + 2, 1, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "size 0 has no name");
  const mille_size twice[2] = {{"batch", 1}, {"batch", 2}};
  EXPECT(mille_session_create_for(package, twice, 2, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "max_batch is given twice");
  EXPECT(mille_session_create(package, 1, 5, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "model sizes has decoder_tokens: call mille_session_create_for");
  CHECK(mille_session_create_for(NULL, list, 3, 1, &session) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(mille_session_run_for(NULL, list, 3, given, outputs) ==
        MILLE_INVALID_ARGUMENT);
}

static void runs(void) {
  mille_session *session;
  CREATE(2, 5, 7, MILLE_OK, "");
  RUN(2, 5, 4, MILLE_OK, "");
  CHECK(seen.batch == 2 && seen.tokens == 5);
  CHECK(seenSizes[0] == 2 && seenSizes[1] == 5 && seenSizes[2] == 4);
  CHECK(seen.padded_rows == (2 * fixed + 23) / 16 * 16);
  for (int i = 0; i < 8; ++i)
    CHECK(lastPositions[i] == i % 4);
  CHECK(numbers[3] == 3);
  RUN(2, 6, 4, MILLE_TOO_LARGE,
      "tokens is 6 but this session was created for 5");
  RUN(2, 5, 0, MILLE_INVALID_ARGUMENT,
      "decoder_tokens is 0 but must be at least 1");
  RUN(2, 5, 8, MILLE_TOO_LARGE,
      "decoder_tokens is 8 but this session was created for 7");
  RUN(1, 5, 7, MILLE_TOO_LARGE,
      "input decoder_positions is null and decoder_tokens 7, but its values "
      "must be below 6");
  given[2] = ids;
  RUN(1, 5, 7, MILLE_OK, "");
  given[2] = NULL;
  ids[8] = 9;
  RUN(2, 1, 6, MILLE_INVALID_INPUT,
      "decoder_ids[1, 2] is 9 but must be at least 0 and below 9");
  ids[8] = 0;
  EXPECT(mille_session_run(session, 1, 5, given, outputs),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "model sizes has decoder_tokens: call mille_session_run_for");
  EXPECT(mille_session_run_for(session, NULL, 3, given, outputs),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "sizes is null");
  EXPECT(mille_session_run_for(session, list, 2, given, outputs),
         MILLE_INVALID_ARGUMENT, mille_session_message(session),
         "decoder_tokens is not given but entry forward has it");
  CHECK(mille_session_close(session) == MILLE_OK);
}

/* Sizes that are in no shape are not looked at; the shorthand takes such a
 * model. */
static void withoutTokens(void) {
  mille_model model = modelOf("image");
  mille_entry image = entry;
  image.input_count = 1;
  image.inputs = inputs + 3;
  image.fixed_tokens = 0;
  model.entries = &image;
  open(&model);
  static const void *images[1] = {pixels};
  mille_session *session;
  CHECK(mille_session_create(package, 3, 0, 1, &session) == MILLE_OK);
  SIZES(3, INT64_MAX, 1);
  EXPECT(mille_session_run_for(session, list, 3, images, outputs), MILLE_OK,
         mille_session_message(session), "");
  CHECK(seen.padded_rows == 16 && seen.tokens == 0);
  CHECK(mille_session_close(session) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
}

/* A side of an image from which no number of patches follows. */
static void sides(void) {
  static mille_size_info infos[4] = {
      {"batch", 0},
      {"height", .least = 16},
      {"width", .least = 16},
      {"tokens", .from = {1, 2}, .step = {16, 16}, .prefix = 1, .each = 1}};
  static const mille_tensor_info image = {
      "pixels", MILLE_F32, 3, {-1, -2, -3}, MILLE_REQUIRED, 0, 0};
  mille_model model = modelOf("sides");
  mille_entry sized = entry;
  sized.input_count = 1;
  sized.inputs = &image;
  model.entries = &sized;
  model.size_count = 4;
  model.sizes = infos;
  model.token_size = 3;
  open(&model);
  mille_session *session;
  mille_size most[3] = {{"batch", 1}, {"height", 15}, {"width", 32}};
  EXPECT(mille_session_create_for(package, most, 3, 1, &session),
         MILLE_INVALID_ARGUMENT, mille_package_message(package),
         "max_height is 15 but must be at least 16");
  most[1].value = (int64_t)1 << 40;
  EXPECT(mille_session_create_for(package, most, 3, 1, &session),
         MILLE_TOO_LARGE, mille_package_message(package),
         "max_height is 1099511627776 but an image has at most 2147483647 "
         "patches");
  /* As many as there may be, but tokens are one more. */
  most[1].value = (int64_t)16 * INT32_MAX;
  most[2].value = 16;
  EXPECT(mille_session_create_for(package, most, 3, 1, &session),
         MILLE_TOO_LARGE, mille_package_message(package),
         "a session of batch 1, height 34359738352, width 16, tokens "
         "2147483648 is more than memory or 2147483582 rows can hold");
  CHECK(mille_package_close(package) == MILLE_OK);
  /* A least side has too many beside the other one. */
  infos[2].least = most[2].value = 32;
  open(&model);
  EXPECT(mille_session_create_for(package, most, 3, 1, &session),
         MILLE_TOO_LARGE, mille_package_message(package),
         "max_width is 32 but an image has at most 2147483647 patches");
  CHECK(mille_package_close(package) == MILLE_OK);
}

int main(void) {
  mille_model model = modelOf("sizes");
  open(&model);
  refusals();
  runs();
  CHECK(mille_package_close(package) == MILLE_OK);
  withoutTokens();
  sides();
  return 0;
}

/* Each way in which a weights file can be wrong has its own status and
 * sentence. argv[1]: a folder to write in. */
#include "FakeModel.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[512];
static char *good, *bad;
static size_t bytes;

static void refused(const mille_model *model, const char *at,
                    const mille_options *options, mille_status expected,
                    const char *part) {
  char message[512] = "";
  mille_package *package = (mille_package *)message;
  mille_status status =
      mille_package_open(model, at, options, &package, message, sizeof message);
  EXPECT(status, expected, message, part);
  CHECK(package == NULL);
  /* Without a place for the message, too. */
  CHECK(mille_package_open(model, at, options, &package, NULL, 0) == expected);
  CHECK(mille_package_open(model, at, options, &package, message, 5) ==
        expected);
  CHECK(strlen(message) == 4);
}

static void refusedFile(size_t size, const char *part) {
  fake_write(path, bad, size);
  refused(fake_model(), path, NULL, MILLE_BAD_WEIGHTS, part);
  memcpy(bad, good, bytes);
}

/* Places where a tensor cannot be, or where another one is. */
static void table(const mille_model *model) {
  uint64_t *places = (uint64_t *)(bad + sizeof(mille_weights_header));
  places[0] = (uint64_t)1 << 40;
  refusedFile(bytes, "has 1099511627776 at entry 0 of its table, where fake "
                     "reads 4800 bytes, but its tensors are 7872 bytes");
  places[1] = (uint64_t)-4096;
  refusedFile(bytes, "has 18446744073709547520 at entry 1 of its table, where "
                     "fake reads 3072 bytes, but");
  places[0] = bytes + (4 << 20);
  refusedFile(bytes, "at entry 0 of its table, where fake reads 4800 bytes");
  places[1] += 64; /* ends 64 bytes behind the file */
  refusedFile(bytes, "has 4864 at entry 1 of its table, where fake reads 3072");
  places[0] += 3;
  refusedFile(bytes, "has 3 at entry 0 of its table but tensors begin at "
                     "multiples of 64");
  places[0] += 64; /* in another one's */
  refusedFile(bytes, "has a table of hash ");
  places[0] += 64;
  refusedFile(bytes, " but fake was compiled with one of ");
  /* A file that is shorter than the table which the code reads. */
  mille_model longer = *model;
  longer.place_count = 2000;
  ((mille_weights_header *)bad)->table_count = 2000;
  fake_write(path, bad, bytes);
  refused(&longer, path, NULL, MILLE_BAD_WEIGHTS,
          "has a table up to 16120 but is 8064 bytes long");
  memcpy(bad, good, bytes);
}

/* The same file as a layer's row: its body's number, then a place. */
static void bodies(const mille_model *model) {
  static const uint64_t read[] = {64, 128, 0};
  static const mille_stack_info stack = {0, 2, 1, 3, read};
  mille_model layered = *model;
  layered.place_count = 0;
  layered.stack_count = 1;
  layered.stacks = &stack;
  uint64_t *row = (uint64_t *)(bad + sizeof(mille_weights_header));
  for (uint64_t body = 0; body < 4; ++body) {
    row[0] = body;
    row[1] = 7808; /* 64 bytes are left */
    layered.table_hash = fake_table_hash(bad);
    fake_write(path, bad, bytes);
    mille_package *package;
    if (body == 1)
      refused(&layered, path, NULL, MILLE_BAD_WEIGHTS,
              "has 7808 at entry 1 of its table, where fake reads 128 bytes");
    else if (body == 3)
      refused(&layered, path, NULL, MILLE_BAD_WEIGHTS,
              "has body 3 at entry 0 of its table but fake has 3 bodies of "
              "layers there");
    else /* body 2 reads none */
      CHECK(mille_package_open(&layered, path, NULL, &package, NULL, 0) ==
                MILLE_OK &&
            mille_package_close(package) == MILLE_OK);
  }
  memcpy(bad, good, bytes);
}

/* What a run gives with the file as it is. */
static void checkRun(mille_package *package) {
  static const int32_t ids[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  static float hidden[8 * fakeHidden], pooled[2 * fakeHidden];
  static float wantedHidden[8 * fakeHidden], wantedPooled[2 * fakeHidden];
  const void *inputs[4] = {ids, NULL, NULL, NULL};
  float *outputs[2] = {hidden, pooled};
  mille_session *session;
  fake_expected(2, 4, ids, NULL, NULL, wantedHidden, wantedPooled);
  CHECK(mille_session_create(package, 2, 4, 1, &session) == MILLE_OK);
  CHECK(mille_session_run(session, 2, 4, inputs, outputs) == MILLE_OK);
  CHECK(memcmp(hidden, wantedHidden, sizeof hidden) == 0);
  CHECK(memcmp(pooled, wantedPooled, sizeof pooled) == 0);
  CHECK(mille_session_close(session) == MILLE_OK);
}

/* A file that was read into memory may change, shrink and go. */
static void copies(const mille_model *model) {
  mille_options options = MILLE_OPTIONS_INIT;
  options.copy_weights = 1;
  for (int change = 0; change < 3; ++change) {
    fake_write_weights(path);
    mille_package *package;
    CHECK(mille_package_open(model, path, &options, &package, NULL, 0) ==
          MILLE_OK);
    if (change == 0)
      CHECK(truncate(path, 0) == 0);
    if (change == 1) {
      memset(bad, 0xff, bytes);
      FILE *file = fopen(path, "r+b"); /* the same file, other bytes */
      CHECK(file && fwrite(bad, 1, bytes, file) == bytes && fclose(file) == 0);
      memcpy(bad, good, bytes);
    }
    if (change == 2)
      CHECK(unlink(path) == 0);
    checkRun(package);
    CHECK(mille_package_close(package) == MILLE_OK);
  }
  fake_write(path, good, bytes - 1);
  refused(model, path, &options, MILLE_BAD_WEIGHTS,
          "bytes long but its header says");
}

/* A file that another process shortens while it is read: what it was for. */
static size_t shortenTo;
static void *shorten(void *user, size_t size, size_t alignment) {
  (void)user;
  void *memory = NULL;
  if (size == bytes) /* the memory for the file, before it is read */
    CHECK(truncate(path, (off_t)shortenTo) == 0);
  CHECK(posix_memalign(&memory, alignment, size) == 0);
  return memory;
}
static void giveBack(void *user, void *memory) {
  (void)user;
  free(memory);
}
static void shortened(const mille_model *model) {
  mille_options options = MILLE_OPTIONS_INIT;
  options.copy_weights = 1;
  options.allocate = shorten;
  options.release = giveBack;
  shortenTo = 640;
  fake_write_weights(path);
  char message[512] = "";
  mille_package *package;
  EXPECT(mille_package_open(model, path, &options, &package, message,
                            sizeof message),
         MILLE_BAD_WEIGHTS, message,
         " was 8064 bytes long but ended after 640 while it was read");
}

/* A CPU without one of the features that code needs: a no with its name. */
static void lacking(void) {
  static const char *const names[] = {"avx2 (with fma, f16c, bmi2)",
                                      "avx512 (f, bw, cd, dq, vl)",
                                      "avx512_bf16",
                                      "avx512_vnni",
                                      "avx512_vbmi2 (with ifma, vbmi, bitalg)",
                                      "amx (tile, bf16, int8)",
                                      "avx_vnni"};
  enum { count = sizeof names / sizeof *names };
  for (int f = 0; f < count; ++f) {
    mille_isa needy[1] = {{"needy", 1ull << f}};
    mille_model model = *fake_model();
    model.isas = needy;
    model.isa_count = 1;
    mille_options options = MILLE_OPTIONS_INIT;
    options.hidden_features = 1ull << f;
    char said[128];
    snprintf(said, sizeof said, " needs %s but this CPU lacks it", names[f]);
    refused(&model, path, &options, MILLE_UNSUPPORTED_CPU, said);
  }
  CHECK(mille_cpu_feature_name(1ull << count) == NULL);
  printf("%d features, each missed by its name\n", count);
}

enum {
  V3 = MILLE_CPU_AVX2,
  V4 = V3 | MILLE_CPU_AVX512,
  CASCADELAKE = V4 | MILLE_CPU_AVX512_VNNI,
  ZEN4 = CASCADELAKE | MILLE_CPU_AVX512_BF16 | MILLE_CPU_AVX512_VBMI2,
  ZEN5 = ZEN4 | MILLE_CPU_AVX_VNNI,
  SAPPHIRERAPIDS = ZEN4 | MILLE_CPU_AMX
};

/* The set of highest worth, of equal ones the first. */
static const char *bestOf(const mille_isa *sets, int count, uint64_t has) {
  const char *best = "none";
  uint64_t most = 0;
  for (int s = 0; s < count; ++s) {
    uint64_t worth = mille_cpu_worth(sets[s].features, has);
    CHECK(!worth == !!(sets[s].features & ~has));
    if (worth > most) {
      most = worth;
      best = sets[s].name;
    }
  }
  return best;
}

/* Which of a package's sets runs, on CPUs of each kind and on this one. */
static void preferring(void) {
  static const mille_isa sets[] = {
      {"sapphirerapids", SAPPHIRERAPIDS}, {"zen5", ZEN5},    {"zen4", ZEN4},
      {"cascadelake", CASCADELAKE},       {"x86-64-v4", V4}, {"x86-64-v3", V3}};
  enum { count = sizeof sets / sizeof *sets, slow = MILLE_CPU_SLOW_BF16 };
  const struct {
    const char *cpu;
    uint64_t has;
  } cpus[] = {{"amx and slow bf16", SAPPHIRERAPIDS | ZEN5 | slow},
              {"amx", SAPPHIRERAPIDS | ZEN5},
              {"zen 5", ZEN5},
              {"zen 5 with slow bf16", ZEN5 | slow},
              {"zen 4", ZEN4},
              {"zen 4 with slow bf16", ZEN4 | slow},
              {"nothing", 0}};
  for (size_t c = 0; c < sizeof cpus / sizeof *cpus; ++c) {
    uint64_t has = cpus[c].has;
    printf("%s: %s; without cascadelake %s; zen4 and x86-64-v4: %s\n",
           cpus[c].cpu, bestOf(sets, count, has), bestOf(sets, 3, has),
           bestOf((mille_isa[]){sets[2], sets[4]}, 2, has));
  }
  mille_model model = *fake_model();
  model.isas = sets;
  model.isa_count = count;
  fake_write_weights(path);
  for (int hide = 0; hide < 2; ++hide) {
    mille_options options = MILLE_OPTIONS_INIT;
    options.hidden_features = hide ? slow : 0;
    const char *isa,
        *best = bestOf(sets, count, mille_cpu_features() & ~(hide ? slow : 0));
    char message[512] = "";
    mille_package *package;
    mille_status status = mille_package_open(&model, path, &options, &package,
                                             message, sizeof message);
    if (strcmp(best, "none") == 0) {
      CHECK(status == MILLE_UNSUPPORTED_CPU);
      continue;
    }
    EXPECT(status, MILLE_OK, message, "");
    CHECK(mille_package_isa(package, &isa) == MILLE_OK);
    CHECK(strcmp(isa, best) == 0);
    CHECK(mille_package_close(package) == MILLE_OK);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  mkdir(argv[1], 0777);
  snprintf(path, sizeof path, "%s/fake.weights", argv[1]);
  good = (char *)fake_weights(&bytes);
  bad = malloc(bytes + 64);
  memcpy(bad, good, bytes);
  mille_weights_header *header = (mille_weights_header *)bad;
  const mille_model *model = fake_model();
  mille_options options = MILLE_OPTIONS_INIT;

  unlink(path);
  refused(model, path, NULL, MILLE_FILE_ERROR, "cannot open ");
  refused(model, path, NULL, MILLE_FILE_ERROR, "No such file or directory");
  refused(model, argv[1], NULL, MILLE_FILE_ERROR, "is not a regular file");
  refused(model, NULL, NULL, MILLE_INVALID_ARGUMENT,
          "weights_path is null but model fake has no embedded weights");
  refused(NULL, path, NULL, MILLE_INVALID_ARGUMENT, "model is null");

  refusedFile(0, "is 0 bytes long but the header of a weights file has 120");
  refusedFile(119, "is 119 bytes long but the header");
  refusedFile(120, "is 120 bytes long but its header says");
  refusedFile(bytes - 1, "bytes long but its header says");
  refusedFile(bytes + 1, "bytes long but its header says");
  bad[0] = 'm';
  refusedFile(bytes, "is not a Mille weights file: it does not begin with "
                     "MILLEWT and the byte 1");
  header->version = 2;
  refusedFile(bytes, "has weights version 2 but this runtime reads versions up "
                     "to 1: a newer Mille wrote it");
  header->version = 0;
  refusedFile(bytes, "has weights version 0 but versions begin at 1");
  strcpy(header->model, "other");
  refusedFile(bytes, "has the weights of model other but the code is of fake");
  strcpy(header->model, "f\x80\nke");
  refusedFile(bytes, "has the weights of model f??ke but the code is of fake");
  memset(header->model, 'x', sizeof header->model);
  refusedFile(bytes, "but the code is of fake");
  header->total_bytes = 64 + bytes;
  refusedFile(bytes + 64, "but fake was compiled with");
  header->hash ^= 1;
  refusedFile(bytes, "but fake was compiled with weights of hash");
  header->table_count = UINT64_MAX / 4;
  refusedFile(bytes, "has a table of 4611686018427387903 entries but fake "
                     "reads 2");
  header->table_count = 1;
  refusedFile(bytes, "has a table of 1 entries but fake reads 2");
  header->table_offset = bytes - 8;
  refusedFile(bytes, "has its table at 8056 but its header ends at 120");
  header->table_offset = UINT64_MAX - 7;
  refusedFile(bytes, "has its table at 18446744073709551608 but");
  header->data_offset = bytes;
  refusedFile(bytes, "has its tensors at 8064 but its table lets them begin at "
                     "192");
  header->data_offset = 128;
  refusedFile(bytes, "has its tensors at 128 but");
  table(model);
  bodies(model);

  /* Contents are compared on request only. */
  bad[bytes - 1] ^= 1;
  fake_write(path, bad, bytes);
  mille_package *package;
  CHECK(mille_package_open(model, path, NULL, &package, NULL, 0) == MILLE_OK);
  CHECK(mille_package_close(package) == MILLE_OK);
  options.verify_hash = 1;
  refused(model, path, &options, MILLE_BAD_WEIGHTS, "the file is damaged");
  options.verify_hash = 0;

  /* Every prefix of the file. */
  for (size_t size = 0; size < bytes; size += size < 256 ? 1 : 61) {
    fake_write(path, good, size);
    CHECK(mille_package_open(model, path, NULL, &package, NULL, 0) ==
          MILLE_BAD_WEIGHTS);
  }
  /* Every bit of the header and of the table: refused, or harmless. */
  size_t refusals = 0;
  for (size_t bit = 0; bit < header->data_offset * 8; ++bit) {
    bad[bit / 8] ^= (char)(1 << bit % 8);
    fake_write(path, bad, bytes);
    mille_status status =
        mille_package_open(model, path, NULL, &package, NULL, 0);
    CHECK(status == MILLE_OK || status == MILLE_BAD_WEIGHTS);
    refusals += status == MILLE_BAD_WEIGHTS;
    if (status == MILLE_OK)
      checkRun(package);
    CHECK(mille_package_close(package) == MILLE_OK);
    memcpy(bad, good, bytes);
  }
  /* All but a word that nobody reads and what follows the name. */
  CHECK(refusals == (header->data_offset - 4 - (64 - sizeof "fake")) * 8);
  copies(model);
  shortened(model);

  /* The model, its embedded weights, instruction sets and options. */
  mille_model embedded = *model;
  embedded.weights = good;
  char message[512];
  mille_status status = mille_package_open(&embedded, NULL, NULL, &package,
                                           message, sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  CHECK(mille_package_close(package) == MILLE_OK);
  embedded.weights_bytes = 119;
  refused(&embedded, NULL, NULL, MILLE_INTERNAL,
          "the embedded weights are 119 bytes long");
  fake_write_weights(path);
  CHECK(mille_package_open(model, path, NULL, NULL, message, sizeof message) ==
        MILLE_INVALID_ARGUMENT);
  CHECK(strcmp(message, "package is null") == 0);
  mille_model newer = *model;
  newer.abi_version = 99;
  refused(&newer, path, NULL, MILLE_INVALID_ARGUMENT,
          "the model has ABI version 99 but this runtime has ");
  refused(&newer, path, NULL, MILLE_INVALID_ARGUMENT,
          ": compile it with this Mille");
  newer = *model;
  newer.state_count = 65;
  refused(&newer, path, NULL, MILLE_INTERNAL,
          "model fake has 1 entries, 2 sizes and 65 states, which is out of "
          "bounds");
  mille_kernel wide = *model->kernels[1];
  wide.buffer_count = 17;
  const mille_kernel *kernels[4] = {&wide, &wide, &wide, &wide};
  mille_model impossible = *model;
  impossible.kernels = kernels;
  refused(
      &impossible, path, NULL, MILLE_INTERNAL,
      "kernel matmul has 17 buffers, 0 scalars, units 6 and 8, which is out "
      "of bounds");
  options.isa = "zen9";
  refused(model, path, &options, MILLE_INVALID_ARGUMENT,
          "isa is zen9 but model fake was compiled for x86-64-v3 and others");
  options.isa = "x86-64-v3";
  options.hidden_features = MILLE_CPU_AVX2;
  refused(model, path, &options, MILLE_UNSUPPORTED_CPU,
          "needs avx2 (with fma, f16c, bmi2) but this CPU lacks it");
  options.isa = NULL;
  status = mille_package_open(model, path, &options, &package, message,
                              sizeof message);
  EXPECT(status, MILLE_OK, message, "");
  const char *isa;
  CHECK(mille_package_isa(package, &isa) == MILLE_OK);
  CHECK(strcmp(isa, "x86-64") == 0);
  CHECK(mille_package_close(package) == MILLE_OK);
  options = (mille_options)MILLE_OPTIONS_INIT;
  options.isa = "x86-64-v3";
  mille_isa beyond[1] = {{"x86-64-v3", 1ull << 40 | 1ull << 41}};
  impossible = *model;
  impossible.isas = beyond;
  impossible.isa_count = 1;
  refused(&impossible, path, NULL, MILLE_UNSUPPORTED_CPU,
          "needs feature 40, feature 41 but this CPU lacks it");
  lacking();
  preferring();
  options.isa = NULL;
  options.release = (void (*)(void *, void *))abort;
  refused(model, path, &options, MILLE_INVALID_ARGUMENT,
          "options have release but no allocate: both or neither");
  memset(&options, 0, sizeof options);
  refused(model, path, &options, MILLE_INVALID_ARGUMENT,
          "options.size is 0 but must be sizeof(mille_options): start from "
          "MILLE_OPTIONS_INIT");
  free(bad);
  return 0;
}

/* Trainers that draw the weights that they begin with. */
#include "FakeTrainer.h"

/* The table of "begin" is of mean 0.5 and deviation 0.5, and the stretches that
 * tasks draw are not alike. */
static void checkDrawnTable(void) {
  size_t bytes;
  char *content = contentOf("begin", &bytes);
  uint64_t header;
  memcpy(&header, content, sizeof header);
  const float *table = (const float *)(content + 8 + header);
  enum { stretch = 16384, count = rows * columns, some = 64 };
  double mean = 0, square = 0;
  for (int i = 0; i < count; ++i) {
    mean += table[i] / count;
    square += (table[i] - 0.5) * (table[i] - 0.5) / count;
  }
  CHECK(fabs(mean - 0.5) < 0.02 && fabs(square - 0.25) < 0.02);
  CHECK(memcmp(table, table + stretch, some * sizeof *table) != 0);
  free(content);
}

/* Of a model whose file has the factors alone: the table lies behind them, and
 * trainers draw it. */
static void checkDrawn(void) {
  mille_parameter_info drawn[2] = {parameters[0], parameters[1]};
  drawn[0].distribution = MILLE_DRAW_NORMAL;
  drawn[0].key = 7;
  drawn[0].mean = drawn[0].std = 0.5;
  mille_training_info with = usual;
  with.parameters = drawn;
  with.drawn_bytes = tableBytes;
  mille_package_close(openPackage(&with)); /* makes the model */
  enum {
    factorBytes = dataBytes - tableBytes,
    fileBytes = dataAt + factorBytes
  };
  const uint64_t table[2] = {factorBytes, 0};
  mille_weights_header *header = (mille_weights_header *)weights;
  header->total_bytes = model.weights_bytes = fileBytes;
  memcpy(header + 1, table, sizeof table);
  memmove(weights + dataAt, weights + dataAt + factorAt, factorBytes);
  memset(weights + fileBytes, 0xff, sizeof weights - fileBytes);
  model.table_hash = fake_table_hash(weights);
  mille_package *package;
  char message[512];
  EXPECT(
      mille_package_open(&model, NULL, NULL, &package, message, sizeof message),
      MILLE_OK, message, "");
  const char *const names[4] = {"drawn", "drawn.2", "drawn.3", "drawn.7"};
  const int threads[4] = {1, 2, 3, 7};
  for (int i = 0; i < 4; ++i) {
    mille_trainer *trainer = trainerOf(package, threads[i]);
    CHECK(mille_trainer_save(trainer, "begin") == MILLE_OK);
    checkDrawnTable();
    CHECK(isfinite(stepOf(trainer, 0).loss));
    CHECK(mille_trainer_save(trainer, names[i]) == MILLE_OK);
    same("drawn", names[i]);
    mille_trainer_close(trainer);
  }
  mille_session *session;
  CHECK(mille_session_create_for(package, most, 2, 1, &session) == MILLE_OK);
  static float losses[places];
  float *outputs[1] = {losses};
  const float weight = 1;
  const void *all[3] = {ids, labels, &weight};
  EXPECT(mille_session_run_entry(session, 1, most, 2, all, outputs),
         MILLE_BAD_WEIGHTS, mille_session_message(session),
         "the weights of model fake are drawn by its trainers: a session has "
         "none");
  mille_session_close(session);
  mille_package_close(package);
}

/* The system has no such memory. */
static void checkRefusal(void) {
  mille_training_info with = usual;
  with.drawn_bytes = (uint64_t)1 << 46;
  mille_package *package = openPackage(&with);
  mille_trainer *trainer;
  EXPECT(mille_trainer_create(package, most, 2, 1, &trainer),
         MILLE_OUT_OF_MEMORY, mille_package_message(package),
         "but memory was refused");
  mille_package_close(package);
}

int main(int argc, char **argv) {
  enterFolder(argc, argv);
  checkDrawn();
  checkRefusal();
  return 0;
}

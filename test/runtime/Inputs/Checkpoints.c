/* Checkpoints: damage, files of others, saves that do not come to their end. */
#include "FakeTrainer.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* In place of libc's: what is brought to the disk is counted, and reads are
   interrupted and short, as they may be. */
static int filesSynced, foldersSynced, reads;
int fsync(int file) {
  struct stat of;
  CHECK(fstat(file, &of) == 0);
  ++*(S_ISDIR(of.st_mode) ? &foldersSynced : &filesSynced);
  return (int)syscall(SYS_fsync, file);
}
ssize_t pread(int file, void *into, size_t size, off_t at) {
  if (++reads % 3 == 0)
    return errno = EINTR, -1;
  return syscall(SYS_pread64, file, into, size > 100 ? 100 : size, at);
}

/* A save is on the disk, file and folder, before it says that it is done. */
static void checkSynced(void) {
  mkdir("synced", 0777);
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  filesSynced = foldersSynced = 0;
  CHECK(mille_trainer_save(trainer, "synced/in") == MILLE_OK);
  CHECK(filesSynced == 1 && foldersSynced == 1);
  CHECK(mille_trainer_save(trainer, "here") == MILLE_OK);
  CHECK(filesSynced == 2 && foldersSynced == 2);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* A file with one byte changed is refused, and leaves the trainer as it was. */
static void checkDamage(void) {
  size_t bytes;
  trained(&usual, 1, 0, 5, NULL, "good");
  char *good = contentOf("good", &bytes);
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  const uint64_t header = *(uint64_t *)good;
  for (size_t at = 0; at < bytes;
       at += at < header + 8 ? 1 : (bytes - header) / 9) {
    good[at] ^= 4;
    fake_write("bad", good, bytes);
    CHECK(mille_trainer_load(trainer, "bad") == MILLE_BAD_WEIGHTS);
    good[at] ^= 4;
  }
  const size_t cuts[] = {0, 7, 8, header, header + 8, bytes - 1};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; ++i) {
    fake_write("bad", good, cuts[i]);
    CHECK(mille_trainer_load(trainer, "bad") == MILLE_BAD_WEIGHTS);
  }
  good[bytes - 1] ^= 4; /* of the last number */
  fake_write("bad", good, bytes);
  good[bytes - 1] ^= 4;
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer), "is damaged: its hash is ");
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer), " but what it holds has ");
  CHECK(mille_trainer_save(trainer, "after") == MILLE_OK);
  same("before", "after");
  EXPECT(mille_trainer_load(trainer, "nowhere"), MILLE_FILE_ERROR,
         mille_trainer_message(trainer), "cannot read nowhere");
  CHECK(mille_trainer_load(trainer, "good") == MILLE_OK);
  int64_t steps;
  CHECK(mille_trainer_steps(trainer, &steps) == MILLE_OK && steps == 5);
  CHECK(strcmp(mille_trainer_note(trainer, "seed"), "17") == 0);

  char *format = strstr(good + 8, "mille-checkpoint 1");
  format[strlen("mille-checkpoint ")] = '2';
  fake_write("bad", good, bytes);
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "is a checkpoint of format 2 but this runtime reads format 1");
  free(good);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

static void checkOther(void) {
  mille_training_info lamb = usual, spec = usual;
  lamb.optimizer = MILLE_OPTIMIZER_LAMB;
  spec.hash = 0x99;
  mille_package *package = openPackage(&lamb);
  mille_trainer *trainer = trainerOf(package, 1);
  EXPECT(mille_trainer_load(trainer, "good"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "optimizer is adamw but this trainer's is lamb");
  mille_trainer_close(trainer);
  mille_package_close(package);
  package = openPackage(&spec);
  trainer = trainerOf(package, 1);
  EXPECT(mille_trainer_load(trainer, "good"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer),
         "spec is 0000000000001234 but this trainer's is 0000000000000099");
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* ---- A save that does not come to its end ---- */

static void checkKills(void) {
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  stepOf(trainer, 0);
  CHECK(mille_trainer_save(trainer, "killed") == MILLE_OK);
  for (int turn = 0; turn < 12; ++turn) {
    pid_t child = fork();
    if (child == 0)
      for (;;)
        mille_trainer_save(trainer, "killed");
    usleep(2000 + 1700 * turn);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    EXPECT(mille_trainer_load(trainer, "killed"), MILLE_OK,
           mille_trainer_message(trainer), "");
  }
  CHECK(mille_trainer_save(trainer, "before") == MILLE_OK);
  stepOf(trainer, 1);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, RLIM_INFINITY},
                      any = {RLIM_INFINITY, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  EXPECT(mille_trainer_save(trainer, "killed"), MILLE_FILE_ERROR,
         mille_trainer_message(trainer),
         "cannot write killed: File too large; what was there is as before");
  CHECK(setrlimit(RLIMIT_FSIZE, &any) == 0);
  same("killed", "before");
  CHECK(access("killed.partial", F_OK) != 0);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

/* Each word of the metadata, and the tensors' names. */
static void checkWords(void) {
  static const struct {
    const char *from, *to, *message;
  } changes[] = {{"\"format\"", "\"farmot\"",
                  "is no checkpoint of Mille: its metadata has no \"format\" "
                  "of one"},
                 {"\"step\"", "\"stop\"", "does not say its step"},
                 {"\"step\":\"5\"", "\"step\":\"x\"", "does not say its step"},
                 {"\"hash\"", "\"hush\"", "does not say its hash"},
                 {"\"data\"", "\"date\"", "does not say its data"},
                 {"embed.weight", "ember.weight",
                  "has another tensor where this trainer has embed.weight"},
                 {"[50,400]", "[400,50]",
                  "has another tensor where this trainer has embed.weight"}};
  size_t bytes;
  mille_package *package = openPackage(&usual);
  mille_trainer *trainer = trainerOf(package, 1);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
    char *text = contentOf("good", &bytes);
    char *at = strstr(text + 8, changes[i].from);
    CHECK(at);
    memcpy(at, changes[i].to, strlen(changes[i].to));
    fake_write("bad", text, bytes);
    EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
           mille_trainer_message(trainer), changes[i].message);
    free(text);
  }
  char *text = contentOf("good", &bytes);
  fake_write("bad", text, bytes - 1);
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer), "bytes but its tensors end at byte");
  fake_write("bad", text, 5);
  EXPECT(mille_trainer_load(trainer, "bad"), MILLE_BAD_WEIGHTS,
         mille_trainer_message(trainer), "has 5 bytes, which is no checkpoint");
  char path[5000];
  memset(path, 'p', sizeof path - 1);
  path[sizeof path - 1] = 0;
  EXPECT(mille_trainer_save(trainer, path), MILLE_INVALID_ARGUMENT,
         mille_trainer_message(trainer),
         "the path of a checkpoint has 4999 bytes");
  free(text);
  mille_trainer_close(trainer);
  mille_package_close(package);
}

int main(int argc, char **argv) {
  enterFolder(argc, argv);
  checkDamage();
  checkWords();
  checkOther();
  checkKills();
  checkSynced();
  CHECK(reads > 1000);
  return 0;
}

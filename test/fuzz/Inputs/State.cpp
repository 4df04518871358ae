// Loads bytes as a saved sequence whose size and sum are right into generations
// of three models: it is refused, or the sequence goes on, and saved and loaded
// again it is the same.
#include "Folder.h"
#include "Taken.h"
#include "generation/StateFile.h"
#include "test/generation/Inputs/FakeRuntime.h"

#include <vector>

using mille::generation::StateFileHeader;

namespace {

// A model and a generation of it, which live as long as the program.
struct Model {
  Model(int sums, int source) {
    package.next = package.extend = 1;
    package.sums = sums;
    package.source = source;
    package.vocabulary = fakeVocabulary;
    package.hash = 1;
    mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
    options.sequences = 2;
    options.context = 12;
    options.source = source ? 5 : 0;
    CHECK(!mille_generation_create(&fakeRuntime, &package, &options,
                                   &generation, nullptr, 0));
  }
  ~Model() { mille_generation_close(generation); }

  mille_package package = {};
  mille_generation *generation = nullptr;
};

// All that a sequence says of itself.
struct Held {
  Held(mille_generation *generation, int64_t sequence) {
    const int32_t *own = nullptr;
    const float *numbers = nullptr;
    size_t count = 0;
    CHECK(!mille_sequence_ids(generation, sequence, &own, &count));
    ids.assign(own, own + count);
    for (int32_t id : ids)
      CHECK(id >= 0 && id < fakeVocabulary);
    if (!mille_sequence_logits(generation, sequence, &numbers, &count))
      logits.assign(reinterpret_cast<const char *>(numbers),
                    reinterpret_cast<const char *>(numbers + count));
  }
  bool operator==(const Held &other) const {
    return ids == other.ids && logits == other.logits;
  }
  std::vector<int32_t> ids;
  std::vector<char> logits; // none where they are not known
};

} // namespace

static bool load(mille_generation *generation, const std::string &path,
                 int64_t &sequence) {
  const mille_status status =
      mille_sequence_load(generation, path.c_str(), &sequence);
  CHECK(!status || *mille_generation_message(generation));
  return !status;
}

// What was loaded, saved and loaded; then what it becomes.
static bool use(Model &model, const Folder &folder) {
  mille_generation *generation = model.generation;
  int64_t first = -1, second = -1;
  if (!load(generation, folder.file("state"), first))
    return false;
  const Held before(generation, first);
  const std::string again = folder.file("again");
  CHECK(!mille_sequence_save(generation, first, again.c_str()));
  CHECK(load(generation, again, second));
  CHECK(before == Held(generation, second));
  const int32_t id = 3;
  if (mille_sequence_append(generation, first, &id, 1))
    CHECK(before.ids.size() == 12);
  else
    CHECK(!mille_sequence_append(generation, second, &id, 1));
  const mille_status status = mille_generation_decode(generation);
  CHECK(!status || *mille_generation_message(generation));
  CHECK(Held(generation, first) == Held(generation, second));
  CHECK(!mille_sequence_close(generation, first));
  CHECK(!mille_sequence_close(generation, second));
  return true;
}

// Makes the file's size and sum right.
static void mend(std::string &bytes) {
  StateFileHeader header;
  if (bytes.size() < sizeof header)
    return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.bytes = bytes.size();
  header.check = mille::generation::checkedHeader(
      mille::generation::checked(mille::generation::checkStart,
                                 bytes.data() + sizeof header,
                                 bytes.size() - sizeof header),
      header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Taken taken;
  static Folder folder;
  static Model models[] = {{0, 0}, {1, 0}, {0, 1}};
  std::string bytes(reinterpret_cast<const char *>(data), size);
  mend(bytes);
  if (!folder.write("state", bytes.data(), bytes.size()))
    return 0;
  bool any = false;
  for (Model &model : models)
    any |= use(model, folder);
  taken.count += any;
  return 0;
}

// Runs a package for CPUs with tile registers (AMX) on any CPU that has what
// else it takes: their instructions are emulated, and mille_cpu_features
// (--wrap) has them. Writes the states of 3 sequences of 41 tokens to a file of
// safetensors; every other batch, number of tokens and of threads must give the
// same bits.
#include "encoder.h"
#include "runtime/abi_cpu.h"
#include "test/compiler/halide/Inputs/TileEmulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" uint64_t __real_mille_cpu_features();
extern "C" uint64_t __wrap_mille_cpu_features() {
  return __real_mille_cpu_features() | MILLE_CPU_AMX;
}

namespace {

constexpr int sequences = 3, tokens = 41, channels = 64, words = 32;

void check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  fprintf(stderr, "%s: %s\n", mille_status_name(status), message);
  exit(1);
}

// The states of `count` sequences from `first` on, of `length` tokens.
std::vector<float> run(mille_package *package, int threads, int first,
                       int count, int length) {
  mille_session *session;
  check(mille_session_create(package, count, length, threads, &session),
        mille_package_message(package));
  std::vector<int32_t> ids;
  for (int s = first; s < first + count; ++s)
    for (int t = 0; t < length; ++t)
      ids.push_back((s * tokens + t) * 7 % words);
  std::vector<float> states(ids.size() * channels);
  check(encoder_run(session, count, length, ids.data(), nullptr, nullptr,
                    states.data()),
        mille_session_message(session));
  mille_session_close(session);
  return states;
}

// How many of the sequences of `all` differ from each alone.
int differing(mille_package *package, const std::vector<float> &all,
              int threads) {
  const size_t each = all.size() / sequences;
  int count = 0;
  for (int s = 0; s < sequences; ++s) {
    const std::vector<float> alone =
        run(package, threads, s, 1, int(each / channels));
    count +=
        memcmp(alone.data(), all.data() + s * each, each * sizeof(float)) != 0;
  }
  return count;
}

bool write(const char *path, const std::vector<float> &states) {
  char header[160];
  const int length =
      snprintf(header, sizeof header,
               R"({"last_hidden_state":{"dtype":"F32","shape":[%d,%d,%d],)"
               R"("data_offsets":[0,%zu]}})",
               sequences, tokens, channels, states.size() * sizeof(float));
  const auto bytes = uint64_t(length);
  FILE *out = fopen(path, "wb");
  return out && fwrite(&bytes, sizeof bytes, 1, out) == 1 &&
         fwrite(header, bytes, 1, out) == 1 &&
         fwrite(states.data(), sizeof(float), states.size(), out) ==
             states.size() &&
         fclose(out) == 0;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  mille::test::emulateTiles();
  char message[512];
  mille_package *package;
  check(mille_package_open(encoder_model(), arguments[1], nullptr, &package,
                           message, sizeof message),
        message);
  const std::vector<float> all = run(package, 1, 0, sequences, tokens);
  int runs = 0, differ = 0;
  for (int threads = 1; threads <= 3; ++threads)
    for (int length = 1; length <= tokens; length += 8, ++runs)
      differ += differing(package, run(package, threads, 0, sequences, length),
                          threads % 3 + 1);
  printf("%d runs, %d sequences differ, tiles %s\n", runs, differ,
         mille::test::productsOfTiles() ? "multiplied" : "did nothing");
  mille_package_close(package);
  return write(arguments[2], all) ? 0 : 2;
}

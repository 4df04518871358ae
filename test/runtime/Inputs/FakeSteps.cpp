// Steps of the runtime as a driver without a device computes them.
#include "FakeCuda.h"

#include <cstring>

namespace {

// The runtime's step that remembers (runtime/steps/Remember.cl), of which the
// text is not executed.
void remember(void **arguments, const unsigned blocks[3], unsigned) {
  char *places[5]; // input, past, entry; another input and entry
  int numbers[9];
  for (int p = 0; p < 5; ++p)
    places[p] = *(char **)arguments[2 * p] + *(uint64_t *)arguments[2 * p + 1];
  for (int n = 0; n < 9; ++n)
    numbers[n] = *(int *)arguments[10 + n];
  const int hasPast = numbers[0], tokens = numbers[1], rows = numbers[2];
  for (unsigned which = 0; which < blocks[1]; ++which) {
    const char *input = places[which ? 3 : 0];
    char *entry = places[which ? 4 : 2];
    const int stride = numbers[3 + 3 * which], bytes = numbers[4 + 3 * which];
    for (unsigned row = 0; row < blocks[0]; ++row) {
      const int sequence = int(row) / tokens;
      const int place = int(row) % tokens +
                        (hasPast ? ((const int *)places[1])[sequence] : 0);
      if (place < rows)
        memcpy(entry + (size_t(sequence) * rows + place) * bytes,
               input + size_t(row) * stride, bytes);
    }
  }
}

} // namespace

const fake_cuda_kernel fake_cuda_remember = {
    {'F', 'A', 'K', 'E', 'C', 'U', 'D', 'A'},
    "mille_remember",
    remember,
    19,
    {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4}};

// Steps of the runtime as a driver without a device computes them.
#include "FakeCuda.h"

#include <cstring>

namespace {

// The runtime's step that remembers (runtime/steps/Remember.cl), of which the
// text is not executed.
void remember(void **arguments, const unsigned blocks[3], unsigned) {
  char *places[3];
  int numbers[6];
  for (int p = 0; p < 3; ++p)
    places[p] = *(char **)arguments[2 * p] + *(uint64_t *)arguments[2 * p + 1];
  for (int n = 0; n < 6; ++n)
    numbers[n] = *(int *)arguments[6 + n];
  const auto [hasPast, stride, bytes, tokens, rows, unit] = numbers;
  for (unsigned row = 0; row < blocks[0]; ++row) {
    const int sequence = int(row) / tokens;
    const int place =
        int(row) % tokens + (hasPast ? ((const int *)places[1])[sequence] : 0);
    if (place < rows)
      memcpy(places[2] + (size_t(sequence) * rows + place) * bytes,
             places[0] + size_t(row) * stride, bytes);
  }
}

} // namespace

const fake_cuda_kernel fake_cuda_remember = {
    {'F', 'A', 'K', 'E', 'C', 'U', 'D', 'A'},
    "mille_remember",
    remember,
    12,
    {8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4}};

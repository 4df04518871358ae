// Blocks rounded by what errors of columns count: never worse by the sum of
// weight * error^2 than the nearest levels, better where columns differ, and
// exact where the nearest levels are. Prints the share of the error that is
// left, by type.
#include "compiler/weights/Levels.h"
#include "dialects/transformer/BlockForm.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

using namespace mille;

static double drawn() { // seeded, in [0, 1)
  static uint64_t state = 5;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return double(state >> 11) / double(1ull << 53);
}

static double errorOf(Encoding encoding, const Levels &levels,
                      const double *numbers, const double *importance) {
  float decoded[Levels::most];
  numbersOf(encoding, levels, decoded);
  const int64_t count = blockFormOf(encoding).numbers();
  double square = 0, sum = 0;
  for (int64_t k = 0; k < count; ++k)
    square += numbers[k] * numbers[k] / double(count);
  for (int64_t k = 0; k < count; ++k) {
    const double error = decoded[k] - numbers[k];
    sum += importance[k] * std::sqrt(square + numbers[k] * numbers[k]) * error *
           error;
  }
  return sum;
}

static int check(bool holds, const char *what) {
  if (!holds)
    std::printf("not so: %s\n", what);
  return !holds;
}

int main() {
  int wrong = 0;
  for (Encoding encoding :
       {Encoding::q4_0, Encoding::q4_1, Encoding::q5_0, Encoding::q5_1,
        Encoding::q4_k, Encoding::q5_k, Encoding::q6_k, Encoding::q8_0}) {
    const int64_t count = blockFormOf(encoding).numbers();
    double plain = 0, weighed = 0;
    for (int trial = 0; trial < 200; ++trial) {
      double numbers[Levels::most], importance[Levels::most];
      for (int64_t k = 0; k < count; ++k) {
        numbers[k] = (drawn() + drawn() + drawn() - 1.5) * (trial % 7);
        importance[k] = trial % 3 ? std::exp(6 * drawn()) : k % 2;
      }
      Levels nearest, better;
      quantize(encoding, numbers, nearest);
      quantize(encoding, numbers, importance, better);
      const double before = errorOf(encoding, nearest, numbers, importance),
                   after = errorOf(encoding, better, numbers, importance);
      wrong += check(after <= before, "the error is not larger");
      plain += before;
      weighed += after;
      // What levels hold exactly stays.
      float exact[Levels::most];
      numbersOf(encoding, nearest, exact);
      for (int64_t k = 0; k < count; ++k)
        numbers[k] = exact[k];
      quantize(encoding, numbers, nearest);
      quantize(encoding, numbers, importance, better);
      wrong += check(errorOf(encoding, better, numbers, importance) <=
                         errorOf(encoding, nearest, numbers, importance),
                     "what is exact stays");
      numbers[trial % count] = NAN;
      quantize(encoding, numbers, importance, better);
      numbersOf(encoding, better, exact);
      wrong += check(std::isnan(exact[0]), "no number is all NaN");
    }
    std::printf("%s: %.2f of the error\n", nameOf(encoding).str().c_str(),
                weighed / plain);
  }
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

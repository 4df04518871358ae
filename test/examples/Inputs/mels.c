/* Prints the mels of the samples of the standard input (16 bits each), a line
 * each. mels BINS FRAMES */
#include "logmel.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static int16_t read[1 << 16];
  static float samples[1 << 16], mels[1 << 16];
  if (argc != 3)
    return 2;
  const int bins = atoi(argv[1]), frames = atoi(argv[2]);
  const size_t count = fread(read, sizeof *read, 1 << 16, stdin);
  for (size_t i = 0; i < count; ++i)
    samples[i] = read[i] / 32768.0f;
  if (bins * frames > 1 << 16 || logmel(samples, count, bins, frames, mels))
    return 1;
  for (int i = 0; i < bins * frames; ++i)
    printf("%.9g\n", mels[i]);
  return 0;
}

/* The spectrum is summed as it is defined: a table of 400 cosines is simpler
 * than a fast transform of that length, and 30 s of sound take less time than
 * the encoder. */
#include "logmel.h"

#include <math.h>
#include <stdlib.h>

enum { window = 400, half = window / 2, lines = half + 1 };

typedef struct {
  double hann[window], cosine[window], sine[window];
  double *bands; /* [bins, lines] */
} Tables;

static double hertzOf(double mel) {
  return mel < 15 ? mel * 200 / 3 : 1000 * pow(6.4, (mel - 15) / 27);
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* A band is a triangle between the centres of its neighbours. */
static void fillBands(double *bands, int bins) {
  const double most = 15 + 27 * log(logmelRate / 2 / 1000.0) / log(6.4);
  for (int b = 0; b < bins; ++b) {
    const double low = hertzOf(most * b / (bins + 1)),
                 centre = hertzOf(most * (b + 1) / (bins + 1)),
                 high = hertzOf(most * (b + 2) / (bins + 1));
    for (int k = 0; k < lines; ++k) {
      const double hertz = (double)k * logmelRate / window;
      const double up = (hertz - low) / (centre - low),
                   down = (high - hertz) / (high - centre);
      bands[b * lines + k] = larger(0, smaller(up, down)) * 2 / (high - low);
    }
  }
}

static void fill(Tables *tables, int bins) {
  const double turn = 2 * acos(-1) / window;
  for (int i = 0; i < window; ++i) {
    tables->cosine[i] = cos(turn * i);
    tables->sine[i] = sin(turn * i);
    tables->hann[i] = 0.5 - 0.5 * tables->cosine[i];
  }
  fillBands(tables->bands, bins);
}

/* The sample at a place; before the first one the sound is mirrored. */
static double at(const float *samples, size_t count, ptrdiff_t place) {
  const size_t mirrored = (size_t)(place < 0 ? -place : place);
  return mirrored < count ? samples[mirrored] : 0;
}

/* The energy of each line of the spectrum, around one frame's middle. A cosine
 * is the same, and a sine the opposite, as far before the middle of the window
 * as behind it. */
static void spectrum(const Tables *tables, const float *samples, size_t count,
                     int frame, double *energy) {
  const ptrdiff_t middle = (ptrdiff_t)frame * logmelHop;
  const double centre = at(samples, count, middle);
  double sums[half] = {0}, differences[half] = {0};
  int silent = centre == 0;
  for (int i = 1; i < half; ++i) {
    const double hann = tables->hann[half + i],
                 before = hann * at(samples, count, middle - i),
                 behind = hann * at(samples, count, middle + i);
    sums[i] = behind + before;
    differences[i] = behind - before;
    silent = silent && before == 0 && behind == 0;
  }
  for (int k = 0; k < lines; ++k) {
    double real = centre, imaginary = 0;
    for (int i = 1, turn = k; i < half && !silent; ++i) {
      real += sums[i] * tables->cosine[turn];
      imaginary += differences[i] * tables->sine[turn];
      turn += turn + k < window ? k : k - window;
    }
    energy[k] = real * real + imaginary * imaginary;
  }
}

int logmel(const float *samples, size_t count, int bins, int frames,
           float *mels) {
  Tables tables;
  double energy[lines], largest = -10;
  tables.bands = malloc(sizeof(double) * lines * (size_t)bins);
  if (!tables.bands)
    return 1;
  fill(&tables, bins);
  for (int frame = 0; frame < frames; ++frame) {
    spectrum(&tables, samples, count, frame, energy);
    for (int b = 0; b < bins; ++b) {
      double sum = 0;
      for (int k = 0; k < lines; ++k)
        sum += tables.bands[b * lines + k] * energy[k];
      const double level = log10(larger(sum, 1e-10));
      largest = larger(largest, level);
      mels[(size_t)b * (size_t)frames + (size_t)frame] = (float)level;
    }
  }
  for (size_t i = 0; i < (size_t)bins * (size_t)frames; ++i)
    mels[i] = (float)((larger(mels[i], largest - 8) + 4) / 4);
  free(tables.bands);
  return 0;
}

/* What Whisper hears: the logarithm of a sound's energy in bands of the mel
 * scale, one column for each hundredth of a second. */
#ifndef LOGMEL_H
#define LOGMEL_H
#include <stddef.h>

enum { logmelRate = 16000, logmelHop = 160 }; /* samples of a second, a frame */

/* Writes mels [bins, frames] of `count` samples in [-1, 1]; behind them is
 * silence, and what is behind the last frame is not heard. Returns nonzero
 * where memory is refused. The formulas are those of Whisper's own front end:
 * a Hann window of 400, bands of Slaney's mel scale from 0 to 8000 Hz with
 * equal areas, log10 of at least 1e-10, at most 8 below the largest, then
 * (x + 4) / 4. */
int logmel(const float *samples, size_t count, int bins, int frames,
           float *mels);
#endif

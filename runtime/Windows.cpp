// Steps that move an image's tokens into windows and back, and merge them.
// Must only move numbers.
#include "runtime/Backend.h"
#include "runtime/StepTasks.h"

#include <string.h>

using mille::rowsPerTask;
using mille::tasksOf;

namespace {

int64_t countOf(int64_t extent, int64_t each) {
  return (extent + each - 1) / each;
}

// The tokens of an image, row by row, and their places in windows.
struct Windows {
  int64_t down, across; // tokens
  int64_t size, shift;
  int64_t wholeDown, wholeAcross; // with padding

  Windows(int64_t height, int64_t width, const int32_t *n)
      : down(countOf(height, n[1])), across(countOf(width, n[2])), size(n[3]) {
    const int64_t least = down < across ? down : across;
    shift = least > size ? n[4] : 0;
    wholeDown = size ? countOf(down, size) * size : down;
    wholeAcross = size ? countOf(across, size) * size : across;
  }

  int64_t tokens() const { return down * across; }
  int64_t places() const { return wholeDown * wholeAcross; }
  int64_t rowOf(int64_t place) const {
    return place / (size * wholeAcross) * size + place % (size * size) / size;
  }
  int64_t columnOf(int64_t place) const {
    return place / (size * size) % (wholeAcross / size) * size + place % size;
  }
  int64_t tokenAt(int64_t place) const;
  int64_t placeOf(int64_t token) const;
  int64_t mergedAt(int64_t token, int64_t part) const;
  int32_t segmentAt(int64_t place) const;
};

// The token at a place, or -1: padding.
int64_t Windows::tokenAt(int64_t place) const {
  const int64_t y = (rowOf(place) + shift) % wholeDown,
                x = (columnOf(place) + shift) % wholeAcross;
  return y < down && x < across ? y * across + x : -1;
}

int64_t Windows::placeOf(int64_t token) const {
  const int64_t row = (token / across + wholeDown - shift) % wholeDown,
                column = (token % across + wholeAcross - shift) % wholeAcross;
  const int64_t window = row / size * (wholeAcross / size) + column / size;
  return (window * size + row % size) * size + column % size;
}

// Part 0 to 3 of a merged token, or -1: outside.
int64_t Windows::mergedAt(int64_t token, int64_t part) const {
  const int64_t perRow = countOf(across, 2);
  const int64_t y = token / perRow * 2 + part % 2,
                x = token % perRow * 2 + part / 2;
  return y < down && x < across ? y * across + x : -1;
}

int32_t Windows::segmentAt(int64_t place) const {
  const int64_t at[2] = {rowOf(place), columnOf(place)},
                extent[2] = {wholeDown, wholeAcross};
  int32_t number = 0;
  for (int axis = 0; axis < 2; ++axis)
    number = 3 * number + (shift == 0 || at[axis] < extent[axis] - size ? 0
                           : at[axis] < extent[axis] - shift            ? 1
                                                                        : 2);
  return number;
}

// A move, and the rows of one task.
struct Move {
  Windows windows;
  int32_t kind;
  const float *input; // [batch * inputs, columns]
  int64_t inputStride, columns, inputs;
  float *out; // [batch * perImage, parts * columns]
  int64_t outStride, perImage, parts, rows, rowsPerTask;

  int64_t from(int64_t row, int64_t part) const {
    return kind == MILLE_MOVE_INTO_WINDOWS     ? windows.tokenAt(row)
           : kind == MILLE_MOVE_OUT_OF_WINDOWS ? windows.placeOf(row)
                                               : windows.mergedAt(row, part);
  }
};

void moveRows(void *context, int64_t task, int) {
  const Move &m = *static_cast<Move *>(context);
  const int64_t end = (task + 1) * m.rowsPerTask;
  for (int64_t row = task * m.rowsPerTask; row < end && row < m.rows; ++row)
    for (int64_t part = 0; part < m.parts; ++part) {
      const int64_t from = m.from(row % m.perImage, part);
      float *into = m.out + row * m.outStride + part * m.columns;
      if (from < 0)
        memset(into, 0, m.columns * sizeof(float));
      else
        memcpy(into,
               m.input + (row / m.perImage * m.inputs + from) * m.inputStride,
               m.columns * sizeof(float));
    }
}

// A device has no such step, and its tokens are not in the host's memory.
bool refusedOn(mille_session &session) {
  if (session.part && session.failing.change(0, 1)) {
    session.failure.set(MILLE_NO_DEVICE, "windows of images whose size runs "
                                         "choose are computed by the CPU only");
    session.failed.store(MILLE_NO_DEVICE);
  }
  return session.part || session.stopped();
}

} // namespace

extern "C" {

void mille_move_patches(mille_run *run, const float *input,
                        int64_t input_stride, int64_t columns, int64_t height,
                        int64_t width, const int32_t *n, float *out,
                        int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  if (refusedOn(session))
    return;
  const Windows w(height, width, n);
  const bool back = n[0] == MILLE_MOVE_OUT_OF_WINDOWS,
             merge = n[0] == MILLE_MOVE_MERGE;
  const int64_t perImage = merge  ? countOf(w.down, 2) * countOf(w.across, 2)
                           : back ? w.tokens()
                                  : w.places(),
                parts = merge ? 4 : 1;
  Move move = {w,
               n[0],
               input,
               input_stride,
               columns,
               back ? w.places() : w.tokens(),
               out,
               out_stride,
               perImage,
               parts,
               run->batch * perImage,
               rowsPerTask(parts * columns)};
  session.share(moveRows, &move, tasksOf(move.rows, move.rowsPerTask));
}

void mille_window_segments(mille_run *run, int64_t height, int64_t width,
                           const int32_t *n, int32_t *out) {
  if (refusedOn(mille::sessionOf(run)))
    return;
  const Windows w(height, width, n);
  for (int64_t i = 0; i < run->batch * w.places(); ++i)
    out[i] = w.segmentAt(i % w.places());
}
}

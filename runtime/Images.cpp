// Steps that read images or their sizes: patches, tables resized to the grid
// of patches, rotations by row and column. Must give the same bits for any
// batch and any threads: every image has the same rows.
#include "runtime/Backend.h"
#include "runtime/StepTasks.h"

#include <math.h>
#include <string.h>

using mille::rowsPerTask;
using mille::tasksOf;

namespace {
struct Patches {
  const float *pixels; // [batch, channels, height, width]
  int64_t pixelStride;
  int32_t channels, height, width, kernelY, kernelX, strideY, strideX, paddingY,
      paddingX, prefix;
  float
      *out; // [batch * (prefix + down * across), channels * kernelY * kernelX]
  int64_t outStride, down, across, rows, rowsPerTask;

  int64_t columns() const { return (int64_t)channels * kernelY * kernelX; }
  void copyPatch(const float *image, int64_t y, int64_t x, float *into) const;
};

// The patch whose first pixel is at y, x: zeros where that is outside.
void Patches::copyPatch(const float *image, int64_t y, int64_t x,
                        float *into) const {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t dy = 0; dy < kernelY; ++dy)
      for (int64_t dx = 0; dx < kernelX; ++dx) {
        bool inside =
            y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width;
        *into++ = inside ? image[(c * height + y + dy) * width + x + dx] : 0.0f;
      }
}

void patchRows(void *context, int64_t task, int) {
  const Patches &p = *static_cast<Patches *>(context);
  int64_t perImage = p.prefix + p.down * p.across;
  int64_t end = (task + 1) * p.rowsPerTask;
  for (int64_t m = task * p.rowsPerTask; m < end && m < p.rows; ++m) {
    int64_t patch = m % perImage - p.prefix;
    float *into = p.out + m * p.outStride;
    if (patch < 0)
      memset(into, 0, p.columns() * sizeof(float));
    else
      p.copyPatch(p.pixels + m / perImage * p.pixelStride,
                  patch / p.across * p.strideY - p.paddingY,
                  patch % p.across * p.strideX - p.paddingX, into);
  }
}

//===-- Resized tables ----------------------------------------------------===//

// The cubic convolution kernel with the parameter a.
double cubic(double x, double a) {
  x = fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

// A row (or column) of the output as a sum of rows of the stored grid, from
// `first` to before `end`; those outside of the grid count as its border.
struct Sum {
  double center, stretch, a, all;
  int64_t first, end, own;

  Sum(int32_t resize, int64_t at, int64_t count, int64_t own)
      : stretch(1), a(-0.75), all(1), own(own) {
    double scale = (double)own / (double)count;
    center = ((double)at + 0.5) * scale - 0.5;
    first = (int64_t)floor(center) - 1;
    end = first + 4;
    if (resize != MILLE_RESIZE_BICUBIC_ANTIALIASED)
      return;
    stretch = scale > 1 ? scale : 1;
    a = -0.5;
    first = (int64_t)floor(center - 2 * stretch) + 1;
    end = (int64_t)ceil(center + 2 * stretch);
    first = first > 0 ? first : 0;
    end = end < own ? end : own;
    double sum = 0;
    for (int64_t row = first; row < end; ++row)
      sum += weight(row);
    all = sum;
  }

  double weight(int64_t row) const {
    return cubic((center - (double)row) / stretch, a) / all;
  }
  int64_t rowOf(int64_t row) const {
    return row < 0 ? 0 : row < own ? row : own - 1;
  }
};

// The rows of an image's tokens, [prefix + down * across, columns].
struct PatchTable {
  const float *base; // null: zeros
  int64_t baseStride;
  const float *table; // null: zeros
  int64_t tableStride, columns, prefix, placed, down, across, ownDown,
      ownAcross;
  int32_t resize;
  float *out; // [tokens, columns]

  int64_t tokens() const { return prefix + down * across; }
  void fill(int64_t token) const;

private:
  static constexpr int64_t block = 64; // columns at a time
  void addPatch(int64_t patch, int64_t from, int64_t width, double *sums) const;
};

void PatchTable::addPatch(int64_t patch, int64_t from, int64_t width,
                          double *sums) const {
  const Sum rows(resize, patch / across, down, ownDown),
      places(resize, patch % across, across, ownAcross);
  for (int64_t y = rows.first; y < rows.end; ++y)
    for (int64_t x = places.first; x < places.end; ++x) {
      const double weight = rows.weight(y) * places.weight(x);
      const float *row =
          table + from +
          (placed + rows.rowOf(y) * ownAcross + places.rowOf(x)) * tableStride;
      for (int64_t c = 0; c < width; ++c)
        sums[c] += weight * row[c];
    }
}

void PatchTable::fill(int64_t token) const {
  for (int64_t from = 0; from < columns; from += block) {
    int64_t left = columns - from, width = left < block ? left : block;
    double sums[block] = {};
    if (table && token >= prefix)
      addPatch(token - prefix, from, width, sums);
    const float *first =
        base ? base + (token < prefix ? token : prefix) * baseStride + from
             : nullptr;
    const float *second =
        table && token < placed ? table + token * tableStride + from : nullptr;
    for (int64_t c = 0; c < width; ++c)
      out[token * columns + from + c] =
          (float)((first ? first[c] : 0.0) + (second ? second[c] : sums[c]));
  }
}

void fillRow(void *context, int64_t token, int) {
  static_cast<const PatchTable *>(context)->fill(token);
}

// Dense rows for each image of the batch.
struct Copies {
  const float *from; // [perImage, columns]
  int64_t columns, perImage;
  float *out; // [batch * perImage, columns]
  int64_t outStride, rows, rowsPerTask;
};

void copyRows(void *context, int64_t task, int) {
  const Copies &c = *static_cast<Copies *>(context);
  int64_t end = (task + 1) * c.rowsPerTask;
  for (int64_t m = task * c.rowsPerTask; m < end && m < c.rows; ++m)
    memcpy(c.out + m * c.outStride, c.from + m % c.perImage * c.columns,
           c.columns * sizeof(float));
}

//===-- Rotations ---------------------------------------------------------===//

struct PatchRotation {
  int64_t down, across, prefix, size; // size: of a head
  double theta;
  float *out; // [tokens, 4 * (size / 4)]
  int64_t stride;

  int64_t quarter() const { return size / 4; }
  void fill(int64_t token) const;

private:
  static double middle(int64_t at, int64_t extent) {
    return 2 * ((double)at + 0.5) / (double)extent - 1;
  }
};

void PatchRotation::fill(int64_t token) const {
  const int64_t n = quarter(), patch = token - prefix;
  for (int64_t i = 0; i < 2 * n; ++i) {
    const double place = patch < 0 ? 0
                         : i < n   ? middle(patch / across, down)
                                   : middle(patch % across, across);
    const double angle = 6.283185307179586476925 * place *
                         pow(theta, -4.0 * (double)(i % n) / (double)size);
    out[token * stride + i] = (float)cos(angle);
    out[token * stride + 2 * n + i] = (float)sin(angle);
  }
}

void rotatePatch(void *context, int64_t token, int) {
  static_cast<const PatchRotation *>(context)->fill(token);
}
} // namespace

extern "C" {

void mille_patches(mille_run *run, const float *pixels, int64_t pixel_stride,
                   const int32_t *n, int64_t height, int64_t width, float *out,
                   int64_t out_stride) {
  Patches patches = {pixels, pixel_stride, n[0], n[1], n[2], n[3],
                     n[4],   n[5],         n[6], n[7], n[8], n[9],
                     out,    out_stride,   0,    0,    0,    0};
  if (height) { // sizes of the run; images are dense
    patches.height = (int32_t)height;
    patches.width = (int32_t)width;
    patches.pixelStride = n[0] * height * width;
  }
  patches.down = (patches.height + 2 * patches.paddingY - patches.kernelY) /
                     patches.strideY +
                 1;
  patches.across = (patches.width + 2 * patches.paddingX - patches.kernelX) /
                       patches.strideX +
                   1;
  patches.rows = run->batch * (patches.prefix + patches.down * patches.across);
  mille::HostStep host(run, out, patches.rows, out_stride);
  if (host.skipped())
    return;
  patches.rowsPerTask = rowsPerTask(patches.columns());
  mille::sessionOf(run).share(patchRows, &patches,
                              tasksOf(patches.rows, patches.rowsPerTask));
  host.give();
}

void mille_patch_table(mille_run *run, int32_t number, int64_t first_column,
                       int64_t height, int64_t width, const int32_t *n,
                       const float *base, int64_t base_stride,
                       const float *table, int64_t table_stride,
                       int64_t columns, float *out, int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  const int64_t down = height / n[0], across = width / n[1];
  const int64_t perImage = n[2] + down * across;
  mille::HostStep host(run, out, run->batch * perImage, out_stride);
  if (host.skipped())
    return;
  mille::PatchTables &kept = session.memory->tables;
  float *rows = kept.rows + kept.tokens * first_column;
  mille::PatchTables::Size &size = kept.sizes[number];
  if (size.down != down || size.across != across) {
    PatchTable sum = {base, base_stride, table, table_stride, columns,
                      n[2], n[3],        down,  across,       n[4],
                      n[5], n[6],        rows};
    size = {down, across};
    session.share(fillRow, &sum, perImage);
    if (session.stopped()) { // some rows may be missing
      size = {};
      return;
    }
  }
  Copies copies = {rows,
                   columns,
                   perImage,
                   out,
                   out_stride,
                   run->batch * perImage,
                   rowsPerTask(columns)};
  session.share(copyRows, &copies, tasksOf(copies.rows, copies.rowsPerTask));
  host.give();
}

void mille_patch_rotation(mille_run *run, int64_t height, int64_t width,
                          const int32_t *n, double theta, float *out,
                          int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  PatchRotation rotation = {height / n[0], width / n[1], n[2],      n[3],
                            theta,         out,          out_stride};
  const int64_t perImage = n[2] + rotation.down * rotation.across;
  mille::HostStep host(run, out, run->batch * perImage, out_stride);
  if (host.skipped())
    return;
  session.share(rotatePatch, &rotation, perImage);
  // The rows of the first image, for the others.
  for (int64_t image = 1; image < run->batch; ++image)
    for (int64_t token = 0; token < perImage; ++token)
      memcpy(out + (image * perImage + token) * out_stride,
             out + token * out_stride, 4 * rotation.quarter() * sizeof(float));
  host.give();
}
}

// Interprets the ops of both dialects that read images or their sizes: patches,
// tables resized to the grid of patches, rotations by row and column.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// The patches of images [c, h, w], as `patches` of either dialect describes.
class Patches {
public:
  template <typename Op>
  Patches(Op op, int64_t channels, int64_t height, int64_t width)
      : channels(channels), height(height), width(width),
        kernel(op.getKernel()), stride(op.getStride()),
        padding(op.getPadding()), prefix(op.getPrefix()),
        down(count(height, 0)), across(count(width, 1)) {}

  int64_t tokens() const { return prefix + down * across; }
  int64_t columns() const { return channels * kernel[0] * kernel[1]; }

  // Tokens [tokens, columns] of one image; `out` holds zeros.
  void take(const double *image, double *out) const {
    for (int64_t y = 0; y < down; ++y)
      for (int64_t x = 0; x < across; ++x)
        takeOne(image, y * stride[0] - padding[0], x * stride[1] - padding[1],
                out + (prefix + y * across + x) * columns());
  }

private:
  int64_t count(int64_t extent, int axis) const {
    return (extent + 2 * padding[axis] - kernel[axis]) / stride[axis] + 1;
  }

  void takeOne(const double *image, int64_t top, int64_t left,
               double *next) const {
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = top; y < top + kernel[0]; ++y)
        for (int64_t x = left; x < left + kernel[1]; ++x, ++next)
          if (y >= 0 && y < height && x >= 0 && x < width)
            *next = image[(c * height + y) * width + x];
  }

  int64_t channels, height, width;
  ArrayRef<int64_t> kernel, stride, padding;
  int64_t prefix, down, across;
};

// [batch, pixels] -> [batch * tokens, columns].
Tensor patchesOf(const Patches &patches, const Tensor &pixels, int64_t batch) {
  Tensor out = zeros({batch * patches.tokens(), patches.columns()});
  int64_t size = pixels.numbers.size() / batch;
  for (int64_t b = 0; b < batch; ++b)
    patches.take(&pixels.numbers[b * size],
                 &out.numbers[b * patches.tokens() * patches.columns()]);
  return out;
}

//===-- Resized tables ----------------------------------------------------===//

// An output row (or column) as a sum of rows of the grid, with their weights.
using Sum = std::vector<std::pair<int64_t, double>>;

// The cubic convolution kernel with the parameter a.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

// Row `at` of `count`, of a grid of `own` rows.
Sum sumOf(tf::Resize resize, int64_t at, int64_t count, int64_t own) {
  const double scale = double(own) / double(count);
  const double center = (double(at) + 0.5) * scale - 0.5;
  Sum sum;
  if (resize == tf::Resize::bicubic) {
    const auto middle = int64_t(std::floor(center));
    for (int64_t row = middle - 1; row <= middle + 2; ++row)
      sum.push_back({std::clamp<int64_t>(row, 0, own - 1),
                     cubic(center - double(row), -0.75)});
    return sum;
  }
  const double stretch = std::max(scale, 1.0);
  double all = 0;
  for (int64_t row = 0; row < own; ++row) {
    const double distance = center - double(row);
    if (std::abs(distance) >= 2 * stretch)
      continue;
    sum.push_back({row, cubic(distance / stretch, -0.5)});
    all += sum.back().second;
  }
  for (auto &[row, weight] : sum)
    weight /= all;
  return sum;
}

// The rows of an image's tokens, [prefix + down * across, columns].
struct PatchTable {
  const Tensor *base = nullptr, *table = nullptr; // absent: zeros
  int64_t prefix, placed, down, across;
  ArrayRef<int64_t> own;
  std::optional<tf::Resize> resize;

  Tensor rows(int64_t columns) const {
    Tensor out = zeros({prefix + down * across, columns});
    for (int64_t token = 0; token < out.shape[0]; ++token) {
      double *row = &out.numbers[token * columns];
      if (base)
        add(*base, std::min(token, prefix), 1, row, columns);
      if (table && token < placed)
        add(*table, token, 1, row, columns);
      if (table && token >= prefix)
        addPatch((token - prefix) / across, (token - prefix) % across, row,
                 columns);
    }
    return out;
  }

private:
  static void add(const Tensor &from, int64_t row, double weight, double *into,
                  int64_t columns) {
    for (int64_t c = 0; c < columns; ++c)
      into[c] += weight * from.numbers[row * columns + c];
  }

  void addPatch(int64_t y, int64_t x, double *into, int64_t columns) const {
    const Sum rows = sumOf(*resize, y, down, own[0]),
              places = sumOf(*resize, x, across, own[1]);
    for (auto [row, first] : rows)
      for (auto [place, second] : places)
        add(*table, placed + row * own[1] + place, first * second, into,
            columns);
  }
};

// What both dialects' ops say of a table, for an image of these sides.
template <typename Op>
PatchTable tableOf(Op op, int64_t height, int64_t width) {
  PatchTable table;
  table.prefix = op.getPrefix();
  table.placed = op.getPlaced();
  table.down = height / op.getPatch()[0];
  table.across = width / op.getPatch()[1];
  if (op.getOwn())
    table.own = *op.getOwn();
  table.resize = op.getResize();
  return table;
}

// [batch * tokens, columns]: `one` for each image.
Tensor forEach(const Tensor &one, int64_t batch) {
  Tensor out = zeros({batch * one.shape[0], columnsOf(one)});
  for (int64_t b = 0; b < batch; ++b)
    llvm::copy(one.numbers, &out.numbers[b * one.numbers.size()]);
  return out;
}

//===-- Rotations ---------------------------------------------------------===//

// The cosines, then the sines, of the tokens of an image.
template <typename Op>
Tensor patchRotation(Op op, int64_t height, int64_t width) {
  const int64_t down = height / op.getPatch()[0],
                across = width / op.getPatch()[1], prefix = op.getPrefix();
  const int64_t size = op.getHeadDim(), quarter = size / 4;
  const double theta = op.getTheta().convertToDouble();
  Tensor out = zeros({prefix + down * across, 4 * quarter});
  auto middle = [](int64_t at, int64_t extent) {
    return 2 * (double(at) + 0.5) / double(extent) - 1;
  };
  for (int64_t token = 0; token < out.shape[0]; ++token) {
    const int64_t patch = token - prefix;
    double *row = &out.numbers[token * 4 * quarter];
    for (int64_t i = 0; i < 2 * quarter; ++i) {
      const double place = patch < 0     ? 0
                           : i < quarter ? middle(patch / across, down)
                                         : middle(patch % across, across);
      const double angle =
          6.283185307179586476925 * place *
          std::pow(theta, -4.0 * double(i % quarter) / double(size));
      row[i] = std::cos(angle);
      row[2 * quarter + i] = std::sin(angle);
    }
  }
  return out;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::PatchesOp op) {
  const Tensor &pixels = run.at(op.getPixels()); // [batch, c, (h,) w]
  bool flat = pixels.shape.size() == 3;
  Patches patches(op, pixels.shape[1], flat ? 1 : pixels.shape[2],
                  pixels.shape.back());
  int64_t batch = pixels.shape[0];
  Tensor out = patchesOf(patches, pixels, batch);
  out.shape = {batch, patches.tokens(), patches.columns()};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PatchTableOp op) {
  const std::vector<int64_t> image = run.at(op.getPixels()).shape;
  PatchTable table = tableOf(op, image[2], image[3]);
  Tensor base, positions;
  for (auto [symbol, into, place] :
       {std::tuple(op.getBaseAttr(), &base, &table.base),
        {op.getTableAttr(), &positions, &table.table}}) {
    if (!symbol)
      continue;
    if (Status s = run.parameter(symbol, op.getLoc(), *into); failed(s))
      return s;
    *place = into;
  }
  const int64_t columns =
      cast<ShapedType>(op.getResult().getType()).getShape().back();
  Tensor out = forEach(table.rows(columns), image[0]);
  out.shape = {image[0], out.shape[0] / image[0], columns};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PatchRotationOp op) {
  const std::vector<int64_t> image = run.at(op.getPixels()).shape;
  Tensor out = forEach(patchRotation(op, image[2], image[3]), image[0]);
  out.shape = {image[0], out.shape[0] / image[0], columnsOf(out)};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

//===-- kernel ------------------------------------------------------------===//

Status mille::interpreter::readSides(Run &run, Operation *op,
                                     mlir::Value height, mlir::Value width,
                                     ArrayRef<int64_t> patch,
                                     std::array<int64_t, 2> &sides) {
  sides = {run.index(height), run.index(width)};
  for (unsigned axis : {0, 1})
    if (sides[axis] < patch[axis] || sides[axis] > INT32_MAX) {
      op->emitError() << "the image is " << sides[0] << " x " << sides[1]
                      << " but a patch is " << patch[0] << " x " << patch[1];
      return Status::input;
    }
  return Status::done;
}

Status mille::interpreter::setRows(Run &run, Operation *op, mlir::Value out,
                                   Tensor rows) {
  if (rowsOf(rows) != rowsOf(run.at(out))) {
    op->emitError() << "outs has " << rowsOf(run.at(out))
                    << " rows but the images give " << rowsOf(rows);
    return Status::input;
  }
  run.set(op->getResult(0), std::move(rows));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PatchesOp op) {
  const Tensor &pixels = run.at(op.getPixels()); // batch * c * h * w numbers
  std::array<int64_t, 2> sides = {op.getImage()[1], op.getImage()[2]};
  if (!op.getSides().empty())
    if (Status s = readSides(run, op, op.getSides()[0], op.getSides()[1],
                             op.getKernel(), sides);
        failed(s))
      return s;
  const int64_t batch = run.sizes[sizes::batch], channels = op.getImage()[0];
  if (Status s = expectCount(op, "pixels", &pixels,
                             batch * channels * sides[0] * sides[1]);
      failed(s))
    return s;
  return setRows(
      run, op, op.getOut(),
      patchesOf(Patches(op, channels, sides[0], sides[1]), pixels, batch));
}

Status mille::interpreter::runOp(Run &run, kernel::PatchTableOp op) {
  std::array<int64_t, 2> sides;
  if (Status s = readSides(run, op, op.getHeight(), op.getWidth(),
                           op.getPatch(), sides);
      failed(s))
    return s;
  PatchTable table = tableOf(op, sides[0], sides[1]);
  table.base = run.find(op.getBase());
  table.table = run.find(op.getTable());
  const int64_t columns = columnsOf(run.at(op.getOut()));
  return setRows(run, op, op.getOut(),
                 forEach(table.rows(columns), run.sizes[sizes::batch]));
}

Status mille::interpreter::runOp(Run &run, kernel::PatchRotationOp op) {
  std::array<int64_t, 2> sides;
  if (Status s = readSides(run, op, op.getHeight(), op.getWidth(),
                           op.getPatch(), sides);
      failed(s))
    return s;
  return setRows(
      run, op, op.getOut(),
      forEach(patchRotation(op, sides[0], sides[1]), run.sizes[sizes::batch]));
}

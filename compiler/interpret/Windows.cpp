// Interprets the ops of both dialects that move an image's tokens into windows
// and back, and merge them. Must only move numbers.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// The tokens of an image, row by row, and their places in windows.
struct Windows {
  int64_t down, across; // tokens
  int64_t size, shift;
  int64_t wholeDown, wholeAcross; // with padding

  template <typename Op>
  Windows(Op op, int64_t height, int64_t width)
      : down(count(height, op.getSide()[0])),
        across(count(width, op.getSide()[1])), size(op.getSize()),
        shift(std::min(down, across) > size ? op.getShift() : 0),
        wholeDown(size ? count(down, size) * size : down),
        wholeAcross(size ? count(across, size) * size : across) {}

  int64_t places() const { return wholeDown * wholeAcross; }

  // The row and column, among the windows, of a place.
  std::pair<int64_t, int64_t> at(int64_t place) const {
    const int64_t window = place / (size * size),
                  inside = place % (size * size), perRow = wholeAcross / size;
    return {window / perRow * size + inside / size,
            window % perRow * size + inside % size};
  }

  // The token at a place, or -1: padding.
  int64_t tokenAt(int64_t place) const {
    auto [row, column] = at(place);
    const int64_t y = (row + shift) % wholeDown,
                  x = (column + shift) % wholeAcross;
    return y < down && x < across ? y * across + x : -1;
  }

  int64_t segmentAt(int64_t place) const {
    auto band = [&](int64_t at, int64_t extent) {
      return shift == 0 || at < extent - size ? 0 : at < extent - shift ? 1 : 2;
    };
    auto [row, column] = at(place);
    return 3 * band(row, wholeDown) + band(column, wholeAcross);
  }

private:
  static int64_t count(int64_t extent, int64_t each) {
    return (extent + each - 1) / each;
  }
};

// For each part of the out's rows the input's row, or -1: zeros.
std::vector<int64_t> indexOf(tf::Move move, const Windows &w) {
  std::vector<int64_t> index;
  if (move == tf::Move::merge) {
    for (int64_t top = 0; top < w.down; top += 2)
      for (int64_t left = 0; left < w.across; left += 2)
        for (int64_t x : {left, left + 1})
          for (int64_t y : {top, top + 1})
            index.push_back(y < w.down && x < w.across ? y * w.across + x : -1);
    return index;
  }
  for (int64_t place = 0; place < w.places(); ++place)
    index.push_back(w.tokenAt(place));
  if (move == tf::Move::into_windows)
    return index;
  std::vector<int64_t> placeOf(w.down * w.across);
  for (auto [place, token] : llvm::enumerate(index))
    if (token >= 0)
      placeOf[token] = place;
  return placeOf;
}

// [batch * tokens, columns] -> [batch * m, columns], four times for merge.
template <typename Op>
Status move(Op op, const Tensor &input, int64_t batch, int64_t height,
            int64_t width, Tensor &out) {
  const Windows windows(op, height, width);
  const bool back = op.getMove() == tf::Move::out_of_windows;
  const int64_t rows = back ? windows.places() : windows.down * windows.across;
  if (rowsOf(input) != batch * rows) {
    op.emitError() << "input has " << rowsOf(input) << " rows but " << batch
                   << " images have " << batch * rows;
    return Status::input;
  }
  const std::vector<int64_t> index = indexOf(op.getMove(), windows);
  const int64_t columns = columnsOf(input), parts = index.size(),
                group = op.getMove() == tf::Move::merge ? 4 : 1;
  out = zeros({batch * parts / group, group * columns});
  for (int64_t part = 0; part < batch * parts; ++part)
    if (int64_t from = index[part % parts]; from >= 0)
      std::copy_n(&input.numbers[(part / parts * rows + from) * columns],
                  columns, &out.numbers[part * columns]);
  return Status::done;
}

template <typename Op>
Tensor segments(Op op, int64_t batch, int64_t height, int64_t width) {
  const Windows windows(op, height, width);
  Tensor out = zeros({batch * windows.places()});
  out.integer = true;
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] = double(windows.segmentAt(i % windows.places()));
  return out;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::MovePatchesOp op) {
  const std::vector<int64_t> image = run.at(op.getPixels()).shape;
  Tensor out;
  if (Status s =
          move(op, run.at(op.getInput()), image[0], image[2], image[3], out);
      failed(s))
    return s;
  out.shape = {image[0], out.shape[0] / image[0], out.shape[1]};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::WindowSegmentsOp op) {
  const std::vector<int64_t> image = run.at(op.getPixels()).shape;
  Tensor out = segments(op, image[0], image[2], image[3]);
  out.shape = {image[0], out.shape[0] / image[0]};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::MovePatchesOp op) {
  std::array<int64_t, 2> sides;
  if (Status s =
          readSides(run, op, op.getHeight(), op.getWidth(), {1, 1}, sides);
      failed(s))
    return s;
  Tensor out;
  if (Status s = move(op, run.at(op.getInput()), run.sizes[sizes::batch],
                      sides[0], sides[1], out);
      failed(s))
    return s;
  return setRows(run, op, op.getOut(), std::move(out));
}

Status mille::interpreter::runOp(Run &run, kernel::WindowSegmentsOp op) {
  std::array<int64_t, 2> sides;
  if (Status s =
          readSides(run, op, op.getHeight(), op.getWidth(), {1, 1}, sides);
      failed(s))
    return s;
  return setRows(run, op, op.getOut(),
                 segments(op, run.sizes[sizes::batch], sides[0], sides[1]));
}

// RoPE of both dialects: angles of positions, and the turning of heads by them.
// Must not round: cosines and sines stay double.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

void mille::interpreter::turnHeads(const Rotation &rotation, double *rows,
                                   int64_t count, int64_t heads,
                                   int64_t headDim, int64_t start, bool half) {
  int64_t pairs = rotation.pairs;
  for (int64_t m = 0; m < count; ++m) {
    const double *cosines = &rotation.numbers[m * 2 * pairs];
    for (int64_t h = 0; h < heads; ++h) {
      double *head = rows + (m * heads + h) * headDim + start;
      for (int64_t i = 0; i < pairs; ++i)
        turn(head[half ? i : 2 * i], head[half ? i + pairs : 2 * i + 1],
             cosines[i], cosines[pairs + i]);
    }
  }
}

namespace {

// The frequencies of this run: a long one may have others.
std::vector<double> frequenciesOf(ArrayRef<double> usual,
                                  tf::LongContextAttr longer,
                                  const Tensor &positions) {
  std::vector<double> numbers = usual.vec();
  if (!longer || positions.numbers.empty())
    return numbers;
  double length = *llvm::max_element(positions.numbers) + 1;
  if (length <= longer.getAfter())
    return numbers;
  if (longer.getFrequencies())
    return longer.getFrequencies().asArrayRef().vec();
  double stretch = longer.getStretch();
  double s = stretch * length / longer.getAfter() - (stretch - 1);
  for (size_t i = 1; i < numbers.size(); ++i)
    numbers[i] /= std::pow(s, double(i) / double(numbers.size() - 1));
  return numbers;
}

// n cosines, then n sines of each position.
Rotation rotationOf(ArrayRef<double> usual, tf::LongContextAttr longer,
                    double factor, const Tensor &positions) {
  std::vector<double> frequencies = frequenciesOf(usual, longer, positions);
  int64_t pairs = frequencies.size();
  Rotation rotation{pairs, {}};
  for (double position : positions.numbers) {
    for (double frequency : frequencies)
      rotation.numbers.push_back(factor * std::cos(position * frequency));
    for (double frequency : frequencies)
      rotation.numbers.push_back(factor * std::sin(position * frequency));
  }
  return rotation;
}

// Rows of the table that holds cosines and sines.
Status rotationFrom(Run &run, tf::RotateOp op, const Tensor &positions,
                    Rotation &rotation) {
  Tensor table; // [positions, 2n]
  if (Status s = run.parameter(op.getTableAttr(), op.getLoc(), table);
      failed(s))
    return s;
  int64_t columns = columnsOf(table), entries = table.shape[0];
  double factor = op.getAttentionFactor().convertToDouble();
  rotation.pairs = columns / 2;
  for (double position : positions.numbers) {
    if (position < 0 || position >= entries) {
      op.emitError() << "position is " << int64_t(position) << " but table "
                     << op.getTableAttr() << " has " << entries << " rows";
      return Status::input;
    }
    for (int64_t c = 0; c < columns; ++c)
      rotation.numbers.push_back(
          factor * table.numbers[int64_t(position) * columns + c]);
  }
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::RotateOp op) {
  Tensor out = run.at(op.getInput());
  const Tensor &positions = run.at(op.getPositions());
  Rotation rotation;
  const bool isGiven = // cosines and sines
      cast<ShapedType>(op.getPositions().getType()).getElementType().isF32();
  if (isGiven) {
    rotation = {columnsOf(positions) / 2, positions.numbers};
    if (rowsOf(positions) != rowsOf(out)) {
      op.emitError() << "positions have " << rowsOf(positions)
                     << " rows but input has " << rowsOf(out);
      return Status::input;
    }
  } else if (op.getTableAttr()) {
    if (Status s = rotationFrom(run, op, positions, rotation); failed(s))
      return s;
  } else {
    rotation = rotationOf(*op.getFrequencies(), op.getLongContextAttr(),
                          op.getAttentionFactor().convertToDouble(), positions);
  }
  int64_t heads = op.getHeads(), headDim = op.getHeadDim();
  if (!isGiven)
    if (Status s = expectCount(op, "positions", &positions, rowsOf(out));
        failed(s))
      return s;
  turnHeads(rotation, out.numbers.data(), rowsOf(out), heads, headDim,
            op.getStart(), op.getPairing() == tf::Pairing::half);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RotationOp op) {
  const Tensor &positions = run.at(op.getPositions());
  Rotation rotation = rotationOf(op.getFrequencies(), op.getLongContextAttr(),
                                 op.getFactor().convertToDouble(), positions);
  Tensor out;
  out.shape = {int64_t(positions.numbers.size()), 2 * rotation.pairs};
  out.numbers = std::move(rotation.numbers);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

// The first heads of the input.
static Tensor headsOf(const Tensor &input, int64_t columns) {
  Tensor out;
  out.shape = {rowsOf(input), columns};
  for (int64_t row = 0; row < rowsOf(input); ++row) {
    const double *from = input.numbers.data() + row * columnsOf(input);
    out.numbers.insert(out.numbers.end(), from, from + columns);
  }
  return out;
}

Status mille::interpreter::runOp(Run &run, kernel::RotateOp op) {
  Tensor out = headsOf(run.at(op.getInput()), op.getHeads() * op.getHeadDim());
  const Tensor &given = run.at(op.getRotation());
  Rotation rotation{columnsOf(given) / 2, given.numbers};
  if (rowsOf(given) != rowsOf(out)) {
    op.emitError() << "rotation has " << rowsOf(given) << " rows but input has "
                   << rowsOf(out);
    return Status::input;
  }
  turnHeads(rotation, out.numbers.data(), rowsOf(out), op.getHeads(),
            op.getHeadDim(), op.getStart(),
            op.getPairing() == tf::Pairing::half);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

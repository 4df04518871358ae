// Computes the biases of attention's scores: by position, by distance, by pair
// of tokens, by content. A bias is [batch, heads, query tokens, key tokens].
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// [batch, heads, queries, keys], each number from its place.
template <typename Number>
Tensor biasOf(int64_t batch, int64_t heads, int64_t queries, int64_t keys,
              Number number) {
  Tensor out = zeros({batch, heads, queries, keys});
  double *next = out.numbers.data();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < keys; ++j)
          *next++ = number(b, h, i, j);
  return out;
}

// Row of the table for key j of query i: buckets has 2D + 1 entries.
int64_t bucketOf(ArrayRef<int64_t> buckets, int64_t i, int64_t j) {
  int64_t most = buckets.size() / 2;
  return buckets[std::clamp(j - i, -most, most) + most];
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::PositionBiasOp op) {
  const Tensor &positions = run.at(op.getPositions()); // [batch, tokens]
  int64_t batch = positions.shape[0], tokens = positions.shape[1];
  ArrayRef<double> slopes = op.getSlopes();
  double factor = op.getFactor().convertToDouble();
  auto position = [&](int64_t b, int64_t t) {
    return positions.numbers[b * tokens + t];
  };
  auto exact = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return factor * slopes[h] * (position(b, j) - position(b, i));
  };
  auto rounded = [&](int64_t b, int64_t h, int64_t, int64_t j) {
    return factor * alibiOf(slopes[h], position(b, j));
  };
  run.set(op.getResult(),
          op.getBfloat16()
              ? biasOf(batch, slopes.size(), tokens, tokens, rounded)
              : biasOf(batch, slopes.size(), tokens, tokens, exact));
  return Status::done;
}

double mille::interpreter::alibiOf(double slope, double position) {
  return roundedToBfloat16(roundedToBfloat16(slope) * position);
}

Status mille::interpreter::runOp(Run &run, tf::DistanceBiasOp op) {
  const Tensor &like = run.at(op.getLike()); // [batch, tokens, channels]
  Tensor table;                              // [entries, heads]
  if (Status s = run.parameter(op.getTableAttr(), op.getLoc(), table);
      failed(s))
    return s;
  int64_t heads = columnsOf(table), tokens = like.shape[1];
  auto number = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return table.numbers[bucketOf(op.getBuckets(), i, j) * heads + h];
  };
  run.set(op.getResult(), biasOf(like.shape[0], heads, tokens, tokens, number));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PairBiasOp op) {
  Tensor table; // [entries, heads]
  if (Status s = run.parameter(op.getTableAttr(), op.getLoc(), table);
      failed(s))
    return s;
  int64_t heads = columnsOf(table);
  int64_t tokens = op.getResult().getType().getShape()[3];
  auto number = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return table.numbers[op.getIndex()[i * tokens + j] * heads + h];
  };
  run.set(op.getResult(),
          biasOf(run.at(op.getLike()).shape[0], heads, tokens, tokens, number));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::KeyHeadBiasOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, keys, channels]
  int64_t keys = input.shape[1], channels = columnsOf(input);
  int64_t heads = op.getResult().getType().getShape()[1];
  auto number = [&](int64_t b, int64_t h, int64_t, int64_t j) {
    return input.numbers[(b * keys + j) * channels + h / (heads / channels)];
  };
  run.set(op.getResult(), biasOf(input.shape[0], heads, keys, keys, number));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::KeyHeadGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()); // [batch, heads, q, k]
  int64_t heads = gradient.shape[1], keys = gradient.shape[3];
  int64_t channels = op.getResult().getType().getShape()[2];
  Tensor out = zeros({gradient.shape[0], keys, channels});
  const double *next = gradient.numbers.data();
  for (int64_t b = 0; b < gradient.shape[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < gradient.shape[2]; ++i)
        for (int64_t j = 0; j < keys; ++j)
          out.numbers[(b * keys + j) * channels + h / (heads / channels)] +=
              *next++;
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ContentBiasOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, tokens, channels]
  Tensor table;                                // [entries, channels]
  if (Status s = run.parameter(op.getTableAttr(), op.getLoc(), table);
      failed(s))
    return s;
  int64_t batch = input.shape[0], tokens = input.shape[1];
  int64_t channels = columnsOf(input), entries = table.shape[0];
  int64_t heads = op.getResult().getType().getShape()[1];
  int64_t headDim = channels / heads;
  Tensor products = zeros({batch * tokens, heads, entries});
  double *next = products.numbers.data();
  for (int64_t m = 0; m < batch * tokens; ++m)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t e = 0; e < entries; ++e, ++next)
        for (int64_t c = h * headDim; c < (h + 1) * headDim; ++c)
          *next +=
              input.numbers[m * channels + c] * table.numbers[e * channels + c];
  double factor = op.getFactor().convertToDouble();
  auto number = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    int64_t row = b * tokens + (op.getOfKey() ? j : i);
    return factor * products.numbers[(row * heads + h) * entries +
                                     bucketOf(op.getBuckets(), i, j)];
  };
  run.set(op.getResult(), biasOf(batch, heads, tokens, tokens, number));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::BiasGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()); // [batch, heads, q, k]
  Tensor *table = run.gradient(op, op.getTableAttr());
  if (!table)
    return Status::input;
  int64_t heads = gradient.shape[1], queries = gradient.shape[2];
  int64_t keys = gradient.shape[3];
  const double *next = gradient.numbers.data();
  for (int64_t b = 0; b < gradient.shape[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < keys; ++j) {
          int64_t row = op.getBuckets() ? bucketOf(*op.getBuckets(), i, j)
                                        : (*op.getIndex())[i * keys + j];
          table->numbers[row * heads + h] += *next++;
        }
  return Status::done;
}

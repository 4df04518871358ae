// Attention of both dialects: sequences and heads, then attendHead for each.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

Status mille::interpreter::runOp(Run &run, tf::AttendOp op) {
  const Tensor &query = run.at(op.getQuery());
  const Tensor &key = run.at(op.getKey());
  const Tensor &value = run.at(op.getValue());
  int64_t batch = query.shape[0], queries = query.shape[1];
  int64_t keys = key.shape[1], heads = op.getHeads();
  int64_t group = heads / op.getKvHeads();
  if (key.shape[0] != batch || value.shape[0] != batch ||
      value.shape[1] != keys) {
    op.emitError() << "query, key and value differ in batch or tokens";
    return Status::input;
  }
  const Tensor *mask = op.getKeyMask() ? &run.at(op.getKeyMask()) : nullptr;
  llvm::SmallVector<const Tensor *> biases;
  for (mlir::Value bias : op.getBiases())
    biases.push_back(&run.at(bias));
  bool causal = op.getMask() == tf::Mask::causal;
  Tensor out = zeros({batch, queries, heads * int64_t(op.getValueDim())});
  Head head;
  head.queries = queries;
  head.keys = keys;
  head.headDim = op.getHeadDim();
  head.valueDim = op.getValueDim();
  head.queryStride = columnsOf(query);
  head.keyStride = columnsOf(key);
  head.valueStride = columnsOf(value);
  head.outStride = columnsOf(out);
  head.scale = op.getScale().convertToDouble();
  head.softcap = op.getSoftcap().convertToDouble();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      auto sees = [&](int64_t i, int64_t j) {
        return (!mask || mask->numbers[b * keys + j] != 0) &&
               (!causal || j <= i);
      };
      auto added = [&](int64_t i, int64_t j) {
        double sum = 0;
        for (const Tensor *bias : biases)
          sum += bias->numbers[((b * heads + h) * queries + i) * keys + j];
        return sum;
      };
      head.sees = sees;
      head.bias = added;
      head.query =
          &query.numbers[b * queries * head.queryStride + h * head.headDim];
      head.key =
          &key.numbers[b * keys * head.keyStride + h / group * head.headDim];
      head.value = &value.numbers[b * keys * head.valueStride +
                                  h / group * head.valueDim];
      head.out = &out.numbers[b * queries * head.outStride + h * head.valueDim];
      attendHead(head);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

// Columns [offset, offset + heads * headDim) of rows, each head's first 2n
// dimensions turned by its row of `rotation` [rows, 2n] where there is one.
std::vector<double> takeHeads(const Tensor &from, int64_t offset, int64_t heads,
                              int64_t headDim, const Tensor *rotation,
                              bool half) {
  int64_t rows = rowsOf(from), width = heads * headDim;
  std::vector<double> taken(rows * width);
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t c = 0; c < width; ++c)
      taken[m * width + c] = from.numbers[m * columnsOf(from) + offset + c];
  if (!rotation)
    return taken;
  int64_t pairs = columnsOf(*rotation) / 2;
  for (int64_t m = 0; m < rows; ++m) {
    const double *angles = &rotation->numbers[m * 2 * pairs];
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < pairs; ++i) {
        double *head = &taken[m * width + h * headDim];
        turn(head[half ? i : 2 * i], head[half ? i + pairs : 2 * i + 1],
             angles[i], angles[pairs + i]);
      }
  }
  return taken;
}

Status checkSequences(kernel::AttentionOp op, const Tensor &query,
                      const Tensor &key, const Tensor &value,
                      const Tensor *bias, const Tensor *rotation,
                      int64_t queries, int64_t keys) {
  auto wrong = [&](const Twine &what) {
    op.emitError() << what;
    return Status::input;
  };
  if (queries <= 0 || keys <= 0 || rowsOf(query) % queries)
    return wrong("queries is " + Twine(queries) + " but query has " +
                 Twine(rowsOf(query)) + " rows");
  int64_t rows = rowsOf(query) / queries * keys;
  if (rowsOf(key) != rows || rowsOf(value) != rows ||
      (bias && int64_t(bias->numbers.size()) != rows))
    return wrong("key, value or key_bias has not the " + Twine(rows) +
                 " rows of sequences x keys");
  if (rotation &&
      (rowsOf(*rotation) != rowsOf(query) || rowsOf(*rotation) != rowsOf(key)))
    return wrong("rotation has " + Twine(rowsOf(*rotation)) +
                 " rows but query has " + Twine(rowsOf(query)) +
                 " and key has " + Twine(rowsOf(key)));
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  ArrayRef<int64_t> offsets = op.getOffsets();
  if (offsets[0] + heads * int64_t(op.getHeadDim()) > columnsOf(query) ||
      offsets[1] + kvHeads * int64_t(op.getHeadDim()) > columnsOf(key) ||
      offsets[2] + kvHeads * int64_t(op.getValueDim()) > columnsOf(value))
    return wrong("offsets name columns that query, key or value does not have");
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::AttentionOp op) {
  const Tensor &query = run.at(op.getQuery());
  const Tensor &key = run.at(op.getKey());
  const Tensor &value = run.at(op.getValue());
  const Tensor *keyBias = op.getKeyBias() ? &run.at(op.getKeyBias()) : nullptr;
  const Tensor *rotation =
      op.getRotation() ? &run.at(op.getRotation()) : nullptr;
  int64_t queries = run.index(op.getQueries()), keys = run.index(op.getKeys());
  int64_t first = run.index(op.getFirst());
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  if (Status s = checkSequences(op, query, key, value, keyBias, rotation,
                                queries, keys);
      failed(s))
    return s;
  bool half = op.getPairing() == kernel::Pairing::half;
  Head head;
  head.queries = queries;
  head.keys = keys;
  head.headDim = op.getHeadDim();
  head.valueDim = op.getValueDim();
  std::vector<double> q =
      takeHeads(query, op.getOffsets()[0], heads, head.headDim, rotation, half);
  std::vector<double> k =
      takeHeads(key, op.getOffsets()[1], kvHeads, head.headDim, rotation, half);
  std::vector<double> v = takeHeads(value, op.getOffsets()[2], kvHeads,
                                    head.valueDim, nullptr, half);
  Tensor out = zeros({rowsOf(query), heads * head.valueDim});
  head.queryStride = heads * head.headDim;
  head.keyStride = kvHeads * head.headDim;
  head.valueStride = kvHeads * head.valueDim;
  head.outStride = heads * head.valueDim;
  head.scale = op.getScale().convertToDouble();
  head.softcap = op.getSoftcap().convertToDouble();
  int64_t group = heads / kvHeads;
  for (int64_t b = 0; b < rowsOf(query) / queries; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      auto masked = [&](int64_t j) {
        return keyBias ? keyBias->numbers[b * keys + j] : 0.0;
      };
      auto sees = [&](int64_t i, int64_t j) {
        return masked(j) > -1e30 && (!op.getCausal() || j <= first + i);
      };
      auto added = [&](int64_t i, int64_t j) {
        double slope = op.getSlopes() ? (*op.getSlopes())[h] : 0.0;
        return masked(j) + slope * double(j - (first + i));
      };
      head.sees = sees;
      head.bias = added;
      head.query = &q[b * queries * head.queryStride + h * head.headDim];
      head.key = &k[b * keys * head.keyStride + h / group * head.headDim];
      head.value = &v[b * keys * head.valueStride + h / group * head.valueDim];
      head.out = &out.numbers[b * queries * head.outStride + h * head.valueDim];
      attendHead(head);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

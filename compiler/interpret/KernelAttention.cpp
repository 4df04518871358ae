// `attention` and `linear_attention` of the kernel dialect: heads taken from
// columns of buffers. What one head computes is in AttendHead.cpp.
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Run.h"
#include "compiler/interpret/StateBytes.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

// `width` columns of every row, from column `offset`; verifiers ensure that
// they exist.
std::vector<double> takeColumns(const Tensor &from, int64_t offset,
                                int64_t width) {
  std::vector<double> taken;
  taken.reserve(rowsOf(from) * width);
  for (int64_t m = 0; m < rowsOf(from); ++m) {
    const double *row = from.numbers.data() + m * columnsOf(from) + offset;
    taken.insert(taken.end(), row, row + width);
  }
  return taken;
}

// Query, key and value heads of both ops, copied out of their buffers.
template <typename Op> struct Buffers {
  const Tensor &queryRows, &keyRows, &valueRows;
  int64_t queries, keys, sequences = 0, heads, kvHeads;
  std::vector<double> query, key, value;
  Head head;

  Buffers(Run &run, Op op, int64_t queries, int64_t keys)
      : queryRows(run.at(op.getQuery())), keyRows(run.at(op.getKey())),
        valueRows(run.at(op.getValue())), queries(queries), keys(keys),
        heads(op.getHeads()), kvHeads(op.getKvHeads()) {
    head.queries = queries;
    head.keys = keys;
    head.headDim = op.getHeadDim();
    head.valueDim = op.getValueDim();
    head.queryStride = heads * head.headDim;
    head.keyStride = kvHeads * head.headDim;
    head.valueStride = kvHeads * head.valueDim;
    head.outStride = heads * head.valueDim;
    head.scale = op.getScale().convertToDouble();
  }

  Status take(Op op) {
    auto wrong = [&](const Twine &what) {
      op.emitError() << what;
      return Status::input;
    };
    if (queries <= 0 || keys <= 0 || rowsOf(queryRows) % queries)
      return wrong("queries is " + Twine(queries) + " but query has " +
                   Twine(rowsOf(queryRows)) + " rows");
    sequences = rowsOf(queryRows) / queries;
    int64_t rows = sequences * keys;
    if (rowsOf(keyRows) != rows || rowsOf(valueRows) != rows)
      return wrong("key or value has not the " + Twine(rows) +
                   " rows of sequences x keys");
    ArrayRef<int64_t> offsets = op.getOffsets();
    query = takeColumns(queryRows, offsets[0], head.queryStride);
    if (cast<ShapedType>(op.getKey().getType()).getElementType().isInteger(8)) {
      key = outOfBytes(keyRows, kvHeads, head.headDim).numbers;
      value = outOfBytes(valueRows, kvHeads, head.valueDim).numbers;
      return Status::done;
    }
    key = takeColumns(keyRows, offsets[1], head.keyStride);
    value = takeColumns(valueRows, offsets[2], head.valueStride);
    return Status::done;
  }

  // Points the head at head h of sequence s.
  void enter(int64_t s, int64_t h, Tensor &out) {
    int64_t shared = h / (heads / kvHeads);
    head.query = &query[s * queries * head.queryStride + h * head.headDim];
    head.key = &key[s * keys * head.keyStride + shared * head.headDim];
    head.value = &value[s * keys * head.valueStride + shared * head.valueDim];
    head.out = &out.numbers[s * queries * head.outStride + h * head.valueDim];
  }
};

class Attention {
public:
  Attention(Run &run, kernel::AttentionOp op)
      : op(op),
        buffers(run, op, run.index(op.getQueries()), run.index(op.getKeys())),
        first(run.index(op.getFirst())), keyMask(run.find(op.getKeyMask())),
        keyHeadBias(run.find(op.getKeyHeadBias())),
        rotation(run.find(op.getRotation())),
        queryScale(run.find(op.getQueryScale())),
        headScale(run.find(op.getHeadScale())), sink(run.find(op.getSink())),
        bias(run.find(op.getBias())),
        contentQuery(run.find(op.getContentQuery())),
        contentKey(run.find(op.getContentKey())),
        segments(run.find(op.getSegments())), prefix(run.find(op.getPrefix())),
        past(run.find(op.getPast())),
        sight(op.getCausal(), op.getWindow(), op.getChunk()) {}

  Status compute(Tensor &out) {
    if (Status s = buffers.take(op); failed(s))
      return s;
    if (Status s = check(); failed(s))
      return s;
    if (rotation)
      rotate();
    buffers.head.softcap = op.getSoftcap().convertToDouble();
    out = zeros({rowsOf(buffers.queryRows), buffers.head.outStride});
    for (int64_t s = 0; s < buffers.sequences; ++s)
      for (int64_t h = 0; h < buffers.heads; ++h)
        attendOne(s, h, out);
    return Status::done;
  }

private:
  Status check() {
    int64_t queryRows = rowsOf(buffers.queryRows);
    int64_t keyRows = rowsOf(buffers.keyRows), heads = buffers.heads;
    auto columns = [](const Tensor *tensor) {
      return tensor ? columnsOf(*tensor) : 0;
    };
    int64_t turned = columns(rotation);
    // Operands of queries and keys need as many rows as both.
    for (Status s :
         {expectCount(op, "key_mask", keyMask, keyRows),
          expectCount(op, "key_head_bias", keyHeadBias,
                      keyRows * columns(keyHeadBias)),
          expectCount(op, "rotation", rotation, queryRows * turned),
          expectCount(op, "rotation", rotation, keyRows * turned),
          expectCount(op, "query_scale", queryScale, queryRows),
          expectCount(op, "content_query", contentQuery,
                      queryRows * columns(contentQuery)),
          expectCount(op, "content_key", contentKey,
                      keyRows * columns(contentKey)),
          expectCount(op, "segments", segments, past ? keyRows : queryRows),
          expectCount(op, "segments", segments, keyRows),
          expectCount(op, "past", past, buffers.sequences),
          expectCount(op, "prefix", prefix, buffers.sequences)})
      if (failed(s))
        return s;
    if (bias && op.getBiasBy() == kernel::BiasBy::pair)
      if (Status s = expectCount(op, "bias", bias,
                                 heads * buffers.queries * buffers.keys);
          failed(s))
        return s;
    return Status::done;
  }

  void rotate() {
    Rotation turns{columnsOf(*rotation) / 2, rotation->numbers};
    bool half = op.getPairing() == transformer::Pairing::half;
    int64_t headDim = buffers.head.headDim;
    turnHeads(turns, buffers.query.data(), rowsOf(buffers.queryRows),
              buffers.heads, headDim, op.getStart(), half);
    turnHeads(turns, buffers.key.data(), rowsOf(buffers.keyRows),
              buffers.kvHeads, headDim, op.getStart(), half);
  }

  // The position of query i of sequence s.
  int64_t positionOf(int64_t s, int64_t i) const {
    return first + i + (past && sight.causal ? int64_t(past->numbers[s]) : 0);
  }

  // Keys that a sequence's state holds in the run. Those of another stream are
  // all there before it.
  int64_t keysHeld(int64_t s) const {
    return sight.causal ? positionOf(s, buffers.queries)
                        : int64_t(past->numbers[s]);
  }

  bool sees(int64_t s, int64_t i, int64_t j) const {
    int64_t row = s * buffers.keys + j;
    if (past && j >= keysHeld(s))
      return false;
    if (keyMask && keyMask->numbers[row] == 0)
      return false;
    if (!sight.shows(positionOf(s, i), j,
                     prefix ? int64_t(prefix->numbers[s]) : 0))
      return false;
    int64_t own =
        past ? s * buffers.keys + positionOf(s, i) : s * buffers.queries + i;
    return !segments || segments->numbers[own] == segments->numbers[row];
  }

  // Number of a row of 2D + 1 columns per head, by the distance of j from i.
  static double byDistance(const double *numbers, int64_t columns,
                           int64_t far) {
    int64_t most = columns / 2;
    return numbers[std::clamp(far, -most, most) + most];
  }

  double added(int64_t s, int64_t h, int64_t i, int64_t j) const {
    int64_t query = s * buffers.queries + i, key = s * buffers.keys + j;
    int64_t far = j - positionOf(s, i);
    double sum = 0.0;
    if (keyHeadBias) {
      const int64_t columns = columnsOf(*keyHeadBias);
      sum +=
          keyHeadBias->numbers[key * columns + h / (buffers.heads / columns)];
    }
    if (op.getSlopes())
      sum += (*op.getSlopes())[h] * double(far);
    if (bias) {
      const double *row = &bias->numbers[h * columnsOf(*bias)];
      sum += op.getBiasBy() == kernel::BiasBy::pair
                 ? row[i * buffers.keys + j]
                 : byDistance(row, columnsOf(*bias), far);
    }
    for (auto [content, row] :
         {std::pair{contentQuery, query}, {contentKey, key}})
      if (content) {
        int64_t columns = columnsOf(*content) / buffers.heads;
        sum +=
            byDistance(&content->numbers[(row * buffers.heads + h) * columns],
                       columns, far);
      }
    return sum;
  }

  void attendOne(int64_t s, int64_t h, Tensor &out) {
    auto seesHere = [&](int64_t i, int64_t j) { return sees(s, i, j); };
    auto addedHere = [&](int64_t i, int64_t j) { return added(s, h, i, j); };
    double ofHead =
        headScale ? headScale->numbers[h % headScale->numbers.size()] : 1.0;
    auto factor = [&](int64_t i) {
      return ofHead *
             (queryScale ? queryScale->numbers[s * buffers.queries + i] : 1.0);
    };
    buffers.head.sees = seesHere;
    buffers.head.bias = addedHere;
    buffers.head.factor = factor;
    buffers.head.sink = sink ? &sink->numbers[h] : nullptr;
    buffers.enter(s, h, out);
    attendHead(buffers.head);
  }

  mutable kernel::AttentionOp op;
  Buffers<kernel::AttentionOp> buffers;
  int64_t first;
  const Tensor *keyMask, *keyHeadBias, *rotation, *queryScale, *headScale,
      *sink, *bias, *contentQuery, *contentKey, *segments, *prefix, *past;
  Sight sight;
};

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::AttentionOp op) {
  Tensor out;
  Status status = Attention(run, op).compute(out);
  run.set(op.getResult(), std::move(out));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::LinearAttentionOp op) {
  int64_t tokens = run.index(op.getTokens());
  Buffers<kernel::LinearAttentionOp> buffers(run, op, tokens, tokens);
  if (Status s = buffers.take(op); failed(s))
    return s;
  const Tensor *keyMask = run.find(op.getKeyMask());
  const Tensor &decay = run.at(op.getDecay()); // [heads]
  for (Status s :
       {expectCount(op, "key_mask", keyMask, rowsOf(buffers.keyRows)),
        expectCount(op, "decay", &decay, buffers.heads)})
    if (failed(s))
      return s;
  Tensor out = zeros({rowsOf(buffers.queryRows), buffers.head.outStride});
  for (int64_t s = 0; s < buffers.sequences; ++s)
    for (int64_t h = 0; h < buffers.heads; ++h) {
      auto sees = [&](int64_t, int64_t j) {
        return !keyMask || keyMask->numbers[s * tokens + j] != 0;
      };
      buffers.head.sees = sees;
      buffers.enter(s, h, out);
      attendLinearly(buffers.head, decay.numbers[h]);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::LinearRecurrenceOp op) {
  auto recall = op.getOuts()[0].getDefiningOp<kernel::RecallOp>();
  const Tensor &past = run.at(op.getPast());
  const int64_t batch = past.numbers.size();
  const int64_t tokens = rowsOf(run.at(op.getQuery())) / batch;
  Buffers<kernel::LinearRecurrenceOp> buffers(run, op, tokens, tokens);
  if (Status s = buffers.take(op); failed(s))
    return s;
  const Tensor *mask = run.find(op.getKeyMask());
  if (Status s = expectCount(op, "key_mask", mask, batch * tokens); failed(s))
    return s;
  Tensor out = zeros({rowsOf(buffers.queryRows), buffers.head.outStride});
  int64_t sequence = 0;
  auto sees = [&](int64_t, int64_t j) {
    return !mask || mask->numbers[sequence * tokens + j] != 0;
  };
  buffers.head.sees = sees;
  Recurrence all{
      buffers.head, buffers.heads, past, run.at(op.getDecay()).numbers, {}, {}};
  auto enter = [&](int64_t b, int64_t h) {
    sequence = b;
    buffers.enter(b, h, out);
    all.head = buffers.head;
  };
  auto shown = [&](int64_t b) { return tokensShown(mask, b, tokens); };
  all.enter = enter;
  all.tokensOf = shown;
  run.recur(recall.getState(), recall.getIndex(), all);
  Tensor sums = run.recall(recall.getState(), recall.getIndex());
  sums.shape = {sums.shape[0] * sums.shape[1], sums.shape[2]};
  run.set(op.getOutcomes()[0], std::move(sums));
  run.set(op.getOutcomes()[1], std::move(out));
  return Status::done;
}

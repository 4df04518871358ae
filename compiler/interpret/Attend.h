// `attend` of a run: sequences, heads and what a query sees, for the op and its
// gradient. Must not be included outside of compiler/interpret.
#pragma once
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Run.h"

namespace mille::interpreter {

namespace tf = mille::transformer;

// A parameter [heads], or empty where `symbol` is none.
inline Status numbersPerHead(Run &run, mlir::FlatSymbolRefAttr symbol,
                             mlir::Operation *op,
                             std::vector<double> &numbers) {
  if (!symbol)
    return Status::done;
  Tensor tensor;
  Status status = run.parameter(symbol, op->getLoc(), tensor);
  numbers = std::move(tensor.numbers);
  return status;
}

// Query, key and value of a run, split into sequences of equal length.
template <typename Op> struct Streams {
  const Tensor &query, &key, &value; // [batch, tokens, channels]
  int64_t batch, sequences, each;    // of the run; of a batch entry; 0: any
  int64_t queries, keys;             // of a sequence
  int64_t group;                     // query heads of a key head
  Head head;

  // each: tokens of a sequence, or 0 where `sequences` says how many there are.
  Streams(Run &run, Op op, int64_t sequences, int64_t each = 0)
      : query(run.at(op.getQuery())), key(run.at(op.getKey())),
        value(run.at(op.getValue())), batch(query.shape[0]),
        sequences(each ? std::max<int64_t>(1, query.shape[1] / each)
                       : sequences),
        each(each), queries(query.shape[1] / this->sequences),
        keys(key.shape[1] / this->sequences),
        group(op.getHeads() / op.getKvHeads()) {
    head.queries = queries;
    head.keys = keys;
    head.headDim = op.getHeadDim();
    head.valueDim = op.getValueDim();
    head.queryStride = columnsOf(query);
    head.keyStride = columnsOf(key);
    head.valueStride = columnsOf(value);
    head.outStride = op.getHeads() * op.getValueDim();
    head.scale = op.getScale().convertToDouble();
  }

  Status check(Op op) {
    if (each && (query.shape[1] != sequences * each ||
                 key.shape[1] != sequences * each)) {
      op.emitError() << "a batch entry has " << query.shape[1] << " and "
                     << key.shape[1] << " tokens but sequence_tokens is "
                     << each;
      return Status::input;
    }
    if (key.shape[0] != batch || value.shape[0] != batch ||
        value.shape[1] != key.shape[1]) {
      op.emitError() << "query, key and value differ in batch or tokens";
      return Status::input;
    }
    for (const Tensor *tensor : {&query, &key})
      if (tensor->shape[1] % sequences) {
        op.emitError() << "a batch entry has " << tensor->shape[1]
                       << " tokens but sequences is " << sequences;
        return Status::input;
      }
    return Status::done;
  }

  // Points the head at head h of sequence s of the whole batch.
  void enter(int64_t s, int64_t h, Tensor &out) {
    head.query = query.numbers.data() + s * queries * head.queryStride +
                 h * head.headDim;
    head.key = key.numbers.data() + s * keys * head.keyStride +
               h / group * head.headDim;
    head.value = value.numbers.data() + s * keys * head.valueStride +
                 h / group * head.valueDim;
    head.out =
        out.numbers.data() + s * queries * head.outStride + h * head.valueDim;
  }
};

inline mlir::Value pastOf(tf::AttendOp op) { return op.getPast(); }
inline mlir::Value pastOf(tf::AttendGradientOp) { return {}; }

// The operands of attend, or of its gradient, which has the same.
template <typename Op> class Attend {
public:
  Attend(Run &run, Op op)
      : run(run), op(op),
        streams(run, op, op.getSequences(), op.getSequenceTokens()),
        mask(run.find(op.getKeyMask())), positions(run.find(op.getPositions())),
        segments(run.find(op.getSegments())), prefix(run.find(op.getPrefix())),
        sight(op.getMask() == tf::Mask::causal, op.getWindow(), op.getChunk()) {
    for (mlir::Value bias : op.getBiases())
      biases.push_back(&run.at(bias));
    past = run.find(pastOf(op));
  }

  // Checks the operands and reads the parameters.
  Status prepare() {
    if (Status s = check(); failed(s))
      return s;
    return readParameters();
  }

  // Points the head at each head of each sequence of the batch in turn. What a
  // head gives is rows of `out`.
  template <typename Visit> void forEachHead(Tensor &out, Visit visit) {
    for (int64_t s = 0; s < streams.batch * streams.sequences; ++s)
      for (int64_t h = 0; h < int64_t(op.getHeads()); ++h)
        enter(s, h, out, visit);
  }

  int64_t batchOf(int64_t s) const { return s / streams.sequences; }
  // The place of a score in a bias.
  int64_t placeInBias(int64_t s, int64_t h, int64_t i, int64_t j) const {
    return ((batchOf(s) * op.getHeads() + h) * biasRows() + tokenOf(s, i)) *
               streams.keys +
           j;
  }
  // The factor of a query's scores beside scale and head_scale.
  double lengthFactorOf(int64_t s, int64_t i) const {
    auto length = op.getLengthScale();
    if (!length)
      return 1;
    int64_t seen = 0;
    if (length->getKind() == tf::LengthKind::log_keys)
      for (int64_t j = 0; j < streams.keys; ++j)
        seen += sees(s, i, j);
    double position =
        positions ? positions->numbers[s * streams.queries + i] : 0;
    return lengthFactor(*length, seen, tokenOf(s, i), position);
  }

private:
  Status check() {
    if (Status s = streams.check(op); failed(s))
      return s;
    int64_t queryRows = rowsOf(streams.query), keyRows = rowsOf(streams.key);
    auto all = {
        expectCount(op, "key_mask", mask, keyRows),
        expectCount(op, "positions", positions, queryRows),
        expectCount(op, "segments", segments, past ? keyRows : queryRows),
        expectCount(op, "segments", segments, segments ? keyRows : 0),
        expectCount(op, "past", past, streams.batch),
        expectCount(op, "prefix", prefix, streams.batch)};
    for (Status s : all)
      if (failed(s))
        return s;
    int64_t scores = streams.batch * op.getHeads() * biasRows() * streams.keys;
    for (const Tensor *bias : biases)
      if (Status s = expectCount(op, "bias", bias, scores); failed(s))
        return s;
    return Status::done;
  }

  Status readParameters() {
    if (mlir::FlatSymbolRefAttr column = op.getLayerScaleAttr()) {
      std::optional<double> number = run.column(column);
      if (!number) {
        op.emitError() << "layer_scale " << column
                       << " is not a number of the layer table";
        return Status::input;
      }
      streams.head.scale *= *number;
    }
    streams.head.softcap = op.getSoftcap().convertToDouble();
    if (Status s = numbersPerHead(run, op.getSinkAttr(), op, sinks); failed(s))
      return s;
    return numbersPerHead(run, op.getHeadScaleAttr(), op, headScales);
  }

  // The number of query i's token in its sequence. With a state, the run's
  // queries follow the tokens in it.
  int64_t tokenOf(int64_t s, int64_t i) const {
    return i + (past && sight.causal ? int64_t(past->numbers[s]) : 0);
  }
  // Tokens of a sequence, as segments and biases count them.
  int64_t biasRows() const { return past ? streams.keys : streams.queries; }
  // Keys that a sequence's state holds in the run. Those of another stream are
  // all there before it.
  int64_t keysHeld(int64_t s) const {
    return sight.causal ? tokenOf(s, streams.queries)
                        : int64_t(past->numbers[s]);
  }

  bool sees(int64_t s, int64_t query, int64_t j) const {
    const int64_t i = tokenOf(s, query);
    if (past && j >= keysHeld(s))
      return false;
    if (mask && mask->numbers[s * streams.keys + j] == 0)
      return false;
    int64_t first =
        prefix ? int64_t(prefix->numbers[s / streams.sequences]) : 0;
    if (!sight.shows(i, j, first))
      return false;
    return !segments || segments->numbers[s * biasRows() + i] ==
                            segments->numbers[s * streams.keys + j];
  }

  double bias(int64_t s, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    for (const Tensor *bias : biases)
      sum += bias->numbers[placeInBias(s, h, i, j)];
    return sum;
  }

  template <typename Visit>
  void enter(int64_t s, int64_t h, Tensor &out, Visit visit) {
    auto seesHere = [&](int64_t i, int64_t j) { return sees(s, i, j); };
    auto biasHere = [&](int64_t i, int64_t j) { return bias(s, h, i, j); };
    auto factorHere = [&](int64_t i) {
      return (headScales.empty() ? 1.0 : headScales[h]) * lengthFactorOf(s, i);
    };
    streams.head.sees = seesHere;
    streams.head.bias = biasHere;
    streams.head.factor = factorHere;
    streams.head.sink = sinks.empty() ? nullptr : &sinks[h];
    streams.enter(s, h, out);
    visit(s, h);
  }

  Run &run;
  mutable Op op;

public:
  Streams<Op> streams;

private:
  const Tensor *mask, *positions, *segments, *prefix, *past = nullptr;
  llvm::SmallVector<const Tensor *> biases;
  Sight sight;
  std::vector<double> sinks, headScales;
};

} // namespace mille::interpreter

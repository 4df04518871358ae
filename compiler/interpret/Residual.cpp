// The one formula, x' = s N_out(A r + sum_i B_i N_branch,i(F_i(N_in,i(x)))),
// and the layer loop. Must not know placements: they are values of the slots.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

Status mille::interpreter::scaleNumbers(Run &run, tf::ScaleAttr scale,
                                        double absent, Location at,
                                        std::vector<double> &numbers) {
  numbers = {absent};
  if (!scale)
    return Status::done;
  switch (scale.getKind()) {
  case tf::ScaleKind::constant:
    if (!scale.getSymbol()) {
      numbers = {scale.getValue()};
    } else if (std::optional<double> column = run.column(scale.getSymbol())) {
      numbers = {*column};
    } else {
      emitError(at) << "scale " << scale.getSymbol()
                    << " is not a number of the layer table";
      return Status::input;
    }
    return Status::done;
  case tf::ScaleKind::scheduled:
    numbers = {run.step ? scheduled(*run.step, scale.getFrom(), scale.getTo(),
                                    scale.getSteps())
                        : double(scale.getTo())};
    return Status::done;
  case tf::ScaleKind::learned_scalar:
  case tf::ScaleKind::learned_channel:
    Tensor learned; // [1] or [channels]
    Status status = run.parameter(scale.getSymbol(), at, learned);
    numbers = std::move(learned.numbers);
    return status;
  }
  return Status::bug;
}

namespace {

// into += scale * tensor, or into = where `first`.
Status addScaled(Run &run, tf::ScaleAttr scale, Location at,
                 const Tensor &tensor, Tensor &into) {
  std::vector<double> numbers;
  if (Status s = scaleNumbers(run, scale, 1.0, at, numbers); failed(s))
    return s;
  int64_t columns = columnsOf(tensor), period = numbers.size();
  assert((period == 1 || period == columns) && "the verifier admits no other");
  for (size_t i = 0; i < tensor.numbers.size(); ++i)
    into.numbers[i] +=
        numbers[period == 1 ? 0 : i % columns] * tensor.numbers[i];
  return Status::done;
}

template <typename Attr> Attr entry(ArrayAttr list, size_t i) {
  if (!list || list.empty())
    return {};
  return cast<Attr>(list[list.size() == 1 ? 0 : i]);
}

// N_branch(F(N_in(x))) of branch i.
Status runBranch(Run &run, tf::ResidualOp op, size_t i, Tensor input,
                 Tensor &value) {
  Block &block = op.getBranches()[i].front();
  run.set(block.getArgument(0), std::move(input));
  if (Status s = runBlock(run, block); failed(s))
    return s;
  value = run.at(block.getTerminator()->getOperand(0));
  auto norm = entry<tf::NormAttr>(op.getBranchNormAttr(), i);
  return norm ? applyNorm(run, norm, op.getLoc(), value) : Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::ResidualOp op) {
  Location at = op.getLoc();
  const Tensor x = run.at(op.getInput());
  auto normed = [&](size_t i, Tensor &u) {
    u = x;
    auto norm = entry<tf::NormAttr>(op.getInNormAttr(), i);
    return norm ? applyNorm(run, norm, at, u) : Status::done;
  };
  Tensor r = x;
  if (op.getTap() == tf::Tap::normed)
    if (Status s = normed(0, r); failed(s))
      return s;
  Tensor y = zeros(x.shape);
  if (Status s = addScaled(run, op.getSkipScaleAttr(), at, r, y); failed(s))
    return s;
  for (size_t i = 0; i < op.getBranches().size(); ++i) {
    Tensor u, value;
    if (Status s = normed(i, u); failed(s))
      return s;
    if (Status s = runBranch(run, op, i, std::move(u), value); failed(s))
      return s;
    auto scale = entry<tf::ScaleAttr>(op.getBranchScaleAttr(), i);
    if (Status s = addScaled(run, scale, at, value, y); failed(s))
      return s;
  }
  if (op.getSumAs())
    run.saved[op.getSumAs()->str()][run.layer ? run.layer->index : 0] = y;
  if (op.getOutNormAttr())
    if (Status s = applyNorm(run, op.getOutNormAttr(), at, y); failed(s))
      return s;
  Tensor out = zeros(x.shape);
  if (Status s = addScaled(run, op.getStreamScaleAttr(), at, y, out); failed(s))
    return s;
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runLayers(Run &run, tf::LayerStack stack,
                                     SmallVectorImpl<Tensor> &stream) {
  const Layer *outer = run.layer;
  ArrayRef<int64_t> bodies = stack.getBodies();
  for (size_t turn = 0; turn < bodies.size(); ++turn) {
    const size_t l = stack.getReverse() ? bodies.size() - 1 - turn : turn;
    const int64_t body = bodies[l];
    Layer layer;
    layer.index = l;
    for (auto [name, value] :
         llvm::zip_equal(stack.namesOf(body), stack.entriesOf(l)))
      layer.columns[cast<StringAttr>(name).getValue()] = value;
    Block &block = stack->getRegion(body).front();
    run.layer = &layer;
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), stream))
      run.set(argument, std::move(value));
    Status status = runBlock(run, block);
    run.layer = outer;
    if (failed(status))
      return status;
    for (auto [yielded, value] :
         llvm::zip_equal(block.getTerminator()->getOperands(), stream))
      value = run.at(yielded);
  }
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::LayersOp op) {
  SmallVector<Tensor> stream{run.at(op.getInput())};
  Status status = runLayers(run, op, stream);
  run.set(op.getResult(), std::move(stream.front()));
  return status;
}

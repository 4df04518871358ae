// Runs forward of a model at any stage before planning: inputs, ops, outputs.
// Knows no op; Run.cpp dispatches.
#include "compiler/interpret/Inputs.h"

#include <new>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

// The result as callers name it: a flattened one unfolds to its shape.
Status giveResult(Run &run, func::FuncOp forward, unsigned i, Values &outputs) {
  mlir::Value returned =
      forward.getBody().front().getTerminator()->getOperand(i);
  Tensor out = run.at(returned);
  if (forward.getResultAttr(i, "transformer.shape")) {
    out.shape = extentsOf(run, outputShape(forward, i));
    if (elementsOf(out.shape) != int64_t(out.numbers.size())) {
      forward.emitError() << "output " << outputName(forward, i) << " has "
                          << out.numbers.size() << " numbers but its shape has "
                          << elementsOf(out.shape);
      return Status::input;
    }
  }
  outputs[outputName(forward, i).str()] = std::move(out);
  return Status::done;
}

// Entries 0, 1, ... of a kept output as one tensor.
Status giveKept(func::FuncOp forward, const std::string &name,
                std::map<int64_t, Tensor> &entries, Values &outputs) {
  Tensor all;
  int64_t expected = 0;
  for (auto &[index, entry] : entries) {
    if (index != expected++) {
      forward.emitError() << "output " << name << " has entry " << index
                          << " but not entry " << index - 1;
      return Status::input;
    }
    ArrayRef<int64_t> first = ArrayRef(all.shape).drop_front(index ? 1 : 0);
    if (index && !llvm::equal(entry.shape, first)) {
      forward.emitError() << "output " << name << " has " << entry.shape[1]
                          << " x " << entry.shape[2] << " numbers in entry "
                          << index << " but " << first[1] << " x " << first[2]
                          << " in entry 0";
      return Status::input;
    }
    all.shape = entry.shape;
    all.shape.insert(all.shape.begin(), expected);
    all.numbers.insert(all.numbers.end(), entry.numbers.begin(),
                       entry.numbers.end());
    entry = Tensor();
  }
  outputs[name] = std::move(all);
  return Status::done;
}

Status interpretForward(func::FuncOp forward, ParameterValues &parameters,
                        const Values &inputs, Values &outputs) {
  Run run(parameters);
  if (Status s = bindInputs(run, forward, inputs); failed(s))
    return s;
  if (Status s = runBlock(run, forward.getBody().front()); failed(s))
    return s;
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    if (Status s = giveResult(run, forward, i, outputs); failed(s))
      return s;
  for (auto &[name, value] : run.outputs)
    outputs[name] = std::move(value);
  for (auto &[name, entries] : run.kept)
    if (Status s = giveKept(forward, name, entries, outputs); failed(s))
      return s;
  return Status::done;
}

} // namespace

Status mille::interpret(Operation *model, ParameterValues &parameters,
                        const Values &inputs, Values &outputs) {
  auto forward = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupSymbolIn(model, "forward"));
  if (!forward || forward.isExternal() || !forward.getBody().hasOneBlock()) {
    model->emitError() << "the model has no entry 'forward' with one block";
    return Status::input;
  }
  try {
    return interpretForward(forward, parameters, inputs, outputs);
  } catch (const std::bad_alloc &) {
    forward.emitError() << "the reference run needs more memory than there is";
    return Status::machine;
  }
}

// Runs an entry of a model at any stage before planning: inputs, ops, outputs.
// Knows no op; Run.cpp dispatches.
#include "compiler/interpret/Inputs.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

// The result as callers name it: a flattened one unfolds to its shape.
Status giveResult(Run &run, func::FuncOp entry, unsigned i, Values &outputs) {
  mlir::Value returned = entry.getBody().front().getTerminator()->getOperand(i);
  Tensor out = run.at(returned);
  if (entry.getResultAttr(i, "transformer.shape")) {
    out.shape = extentsOf(run, outputShape(entry, i));
    if (elementsOf(out.shape) != int64_t(out.numbers.size())) {
      entry.emitError() << "output " << outputName(entry, i) << " has "
                        << out.numbers.size() << " numbers but its shape has "
                        << elementsOf(out.shape);
      return Status::input;
    }
  }
  outputs[outputName(entry, i).str()] = std::move(out);
  return Status::done;
}

// Entries 0, 1, ... of a kept output as one tensor.
Status giveKept(func::FuncOp entry, const std::string &name,
                std::map<int64_t, Tensor> &kept, Values &outputs) {
  Tensor all;
  int64_t expected = 0;
  for (auto &[index, value] : kept) {
    if (index != expected++) {
      entry.emitError() << "output " << name << " has entry " << index
                        << " but not entry " << index - 1;
      return Status::input;
    }
    ArrayRef<int64_t> first = ArrayRef(all.shape).drop_front(index ? 1 : 0);
    if (index && !llvm::equal(value.shape, first)) {
      entry.emitError() << "output " << name << " has " << value.shape[1]
                        << " x " << value.shape[2] << " numbers in entry "
                        << index << " but " << first[1] << " x " << first[2]
                        << " in entry 0";
      return Status::input;
    }
    all.shape = value.shape;
    all.shape.insert(all.shape.begin(), expected);
    all.numbers.insert(all.numbers.end(), value.numbers.begin(),
                       value.numbers.end());
    value = Tensor();
  }
  outputs[name] = std::move(all);
  return Status::done;
}

Status interpretEntry(func::FuncOp entry, ParameterValues &parameters,
                      const Values &inputs, Values &outputs,
                      const llvm::StringMap<int64_t> &sizes,
                      const KernelRunner &instead, Routing *routing) {
  Run run(parameters);
  run.instead = instead;
  run.routing = routing;
  run.sizes = sizes;
  if (Status s = bindInputs(run, entry, inputs); failed(s))
    return s;
  if (Status s = runBlock(run, entry.getBody().front()); failed(s))
    return s;
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (Status s = giveResult(run, entry, i, outputs); failed(s))
      return s;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (kernel::isState(entry, i))
      outputs[inputName(entry, i).str()] =
          std::move(run.states[entry.getArgument(i)]);
  for (auto &[name, value] : run.outputs)
    outputs[name] = std::move(value);
  for (auto &[name, value] : run.gradients)
    outputs["gradient." + name] = std::move(value);
  for (auto &[name, entries] : run.kept)
    if (Status s = giveKept(entry, name, entries, outputs); failed(s))
      return s;
  return Status::done;
}

} // namespace

Status mille::interpret(Operation *model, ParameterValues &parameters,
                        const Values &inputs, Values &outputs, StringRef name,
                        const llvm::StringMap<int64_t> &sizes,
                        const KernelRunner &instead, Routing *routing) {
  func::FuncOp entry = kernel::entryOf(model, name);
  assert(entry && "who asks knows the model's entries");
  return interpretEntry(entry, parameters, inputs, outputs, sizes, instead,
                        routing);
}

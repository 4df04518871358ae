// The reference: interprets both dialects in double, with plain code.
// Must not share arithmetic with the code generators.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/ParameterValues.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>
#include <optional>

namespace mille {

// A tensor of the run: numbers in double, or integers.
struct Value {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  bool integer = false;
};
using Values = std::map<std::string, Value>;

// Runs a generated kernel op in place of the interpreter: gets the tensors of
// its operands (an index is one number) and gives those of its results, or none
// where the interpreter shall run it.
using KernelRunner = std::function<std::vector<Value>(
    mlir::Operation *, llvm::ArrayRef<const Value *>)>;

struct Routing;

// Runs the entry of that name (empty: the first) of the transformer.model
// `model` (whatever stage it is at, on tensors) on named inputs; absent
// optional inputs take their defaults. What states hold is an input and an
// output by the state's name, zeros where it is absent; `sizes` says how many
// rows of a size that no input has (default: those of the run). Outputs by
// name; what ops keep ("hidden_states") is one tensor
// [entries, batch, tokens, channels], and the gradient of a parameter is
// "gradient.NAME". Checks names, ranks, sizes that agree,
// id bounds: Status::input. `routing` gets the experts of its rows, or says
// them.
Status interpret(mlir::Operation *model, ParameterValues &parameters,
                 const Values &inputs, Values &outputs,
                 llvm::StringRef entry = "",
                 const llvm::StringMap<int64_t> &sizes = {},
                 const KernelRunner &instead = {}, Routing *routing = nullptr);

} // namespace mille

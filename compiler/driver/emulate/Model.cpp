// A model whose kernels run in the emulator. Must not know what a kernel
// computes.
#include "compiler/driver/emulate/Model.h"
#include "compiler/driver/emulate/Expected.h"
#include "compiler/driver/emulate/KernelOp.h"
#include "compiler/interpret/Judge.h"
#include "compiler/interpret/Routes.h"
#include "compiler/interpret/TensorFiles.h"
#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/StateAttention.h"
#include "compiler/plan/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"

using namespace mille;
using namespace mille::emulated;

// ---- an op on tensors as one on memrefs

// Rows of activations begin at multiples of 16 bytes, as plan has them.
static mlir::MemRefType memrefOf(mlir::Type type) {
  auto tensor = llvm::cast<mlir::ShapedType>(type);
  const int64_t bytes = tensor.getElementTypeBitWidth() / 8;
  const bool rows = tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
                    !tensor.isDynamicDim(1);
  const int64_t columns = rows ? tensor.getDimSize(1) : 1;
  const int64_t stride = llvm::alignTo(columns * bytes, 16) / bytes;
  if (!rows || columns == 1 || stride == columns)
    return mlir::MemRefType::get(tensor.getShape(), tensor.getElementType());
  return mlir::MemRefType::get(
      tensor.getShape(), tensor.getElementType(),
      mlir::StridedLayoutAttr::get(type.getContext(), 0, {stride, 1}));
}

// In a function of its own, at the end of `module`.
static mlir::Operation *onMemrefs(mlir::Operation *op, mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Type type : op->getOperandTypes())
    types.push_back(llvm::isa<mlir::ShapedType>(type) ? memrefOf(type) : type);
  auto builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto function = mlir::func::FuncOp::create(
      builder, op->getLoc(), "kernel", builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  mlir::OperationState state(op->getLoc(), op->getName());
  state.addOperands(function.getArguments());
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  mlir::IRMapping mapping;
  for (mlir::Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  return builder.create(state);
}

namespace {

struct Made {
  mlir::Operation *op = nullptr; // on memrefs
  KernelSpec spec;
  Kernels kernels;
  Kernels few; // of few rows, for attention to states
};

class ModelRunner {
public:
  ModelRunner(mlir::MLIRContext &context, uint64_t seed, llvm::raw_ostream &out)
      : scratch(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))),
        seed(seed), out(out) {}

  std::vector<Value> run(mlir::Operation *op,
                         llvm::ArrayRef<const Value *> operands);
  bool finish();

private:
  Made &make(mlir::Operation *op);
  std::optional<Sizes> sizesOf(mlir::Operation *op,
                               llvm::ArrayRef<const Value *> operands);
  std::vector<Value> emulate(mlir::Operation *op, Made &made,
                             const Sizes &sizes, std::vector<Operand> &buffers);

  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Made>> all; // lookup only
  uint64_t seed;
  unsigned emulated = 0, others = 0, wrong = 0;
  llvm::raw_ostream &out;
};

} // namespace

Made &ModelRunner::make(mlir::Operation *op) {
  std::unique_ptr<Made> &made = all[op];
  if (made)
    return *made;
  made = std::make_unique<Made>();
  made->op = onMemrefs(op, *scratch);
  std::string problem;
  auto attention = llvm::dyn_cast<kernel::AttentionOp>(op);
  auto matmul = llvm::dyn_cast<kernel::MatmulOp>(op);
  const bool toStates = attention && attention.getPast();
  if (matmul && (matmul.getStarts() || matmul.getHeads()))
    problem = "it has experts or heads";
  else if (mlir::failed(readSpec(made->op, made->spec)))
    problem = "its types";
  else
    made->kernels = makeKernels(made->op, made->spec, false, 0, problem);
  if (toStates && !made->kernels.empty())
    made->few = makeKernels(made->op, made->spec, true, 0, problem);
  if (made->kernels.empty())
    out << op->getName().getStringRef() << ": left to others: " << problem
        << "\n";
  return *made;
}

std::optional<Sizes>
ModelRunner::sizesOf(mlir::Operation *op,
                     llvm::ArrayRef<const Value *> operands) {
  Sizes sizes;
  auto given = [&](mlir::Value value) -> const Value * {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (operand == value && operands[i])
        return operands[i];
    return nullptr;
  };
  auto numberOf = [&](mlir::Value value) {
    const Value *number = given(value);
    return number ? int64_t(number->numbers.at(0)) : 0;
  };
  const Value *first = operands[0];
  sizes.rows = first->numbers.size() / first->shape.back();
  if (auto rows = llvm::dyn_cast<kernel::RowsOp>(op)) {
    // The out is a destination, which holds its shape.
    const Value *destination = operands.back();
    if (!destination || destination->shape.size() < 2)
      return std::nullopt;
    sizes.rows = destination->numbers.size() / destination->shape.back();
  }
  if (auto attention = llvm::dyn_cast<kernel::AttentionOp>(op)) {
    const int64_t queries = numberOf(attention.getQueries());
    if (queries < 1 || sizes.rows % queries)
      return std::nullopt;
    sizes.sequences = sizes.rows / queries;
    sizes.keys = numberOf(attention.getKeys());
    sizes.first = numberOf(attention.getFirst());
    if (mlir::Value past = attention.getPast()) {
      const Value *held = given(past);
      if (!held || int64_t(held->numbers.size()) != sizes.sequences)
        return std::nullopt;
      sizes.past.assign(held->numbers.begin(), held->numbers.end());
    }
  }
  return sizes;
}

std::vector<Value> ModelRunner::emulate(mlir::Operation *op, Made &made,
                                        const Sizes &sizes,
                                        std::vector<Operand> &buffers) {
  compute(made.op, made.spec, sizes, buffers);
  const size_t inputs = buffers.size() - op->getNumResults();
  std::vector<emulate::Buffer> bytes;
  for (const Operand &buffer : buffers)
    bytes.push_back(buffer.bytes(bytes.size() < inputs));
  emulate::LaunchCase launch = launchOf(sizes);
  launch.seed = seed++;
  std::string problem;
  const bool few = !made.few.empty() && sizes.rows <= nvvm::splitRows;
  for (const auto &kernel : few ? made.few : made.kernels) {
    const std::vector<emulate::Buffer> before = bytes;
    if (problem.empty())
      problem = kernel->run(launch, bytes);
    noteWritten(before, bytes);
  }
  std::vector<Value> results;
  for (size_t i = inputs; i < buffers.size(); ++i) {
    const Element element = buffers[i].spec.element;
    if (problem.empty())
      problem = judgeOut(buffers[i], bytes[i], boundOf(made.spec, element));
    buffers[i].read(bytes[i]);
    results.push_back(
        {{buffers[i].rows, buffers[i].spec.columns}, buffers[i].numbers});
  }
  ++emulated;
  if (!problem.empty()) {
    ++wrong;
    out << op->getName().getStringRef() << ", " << sizes.rows
        << " rows: " << problem << "\n";
  }
  return results;
}

std::vector<Value> ModelRunner::run(mlir::Operation *op,
                                    llvm::ArrayRef<const Value *> operands) {
  Made &made = make(op);
  std::optional<Sizes> sizes;
  if (!made.kernels.empty())
    sizes = sizesOf(op, operands);
  std::string problem;
  std::vector<Operand> buffers;
  if (sizes)
    buffers = operandsOf(made.op, made.spec, *sizes, problem);
  size_t next = 0;
  bool fits = !buffers.empty();
  auto attention = llvm::dyn_cast<kernel::AttentionOp>(op);
  const mlir::Value past = attention ? attention.getPast() : mlir::Value();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (operand == past || !llvm::isa<mlir::ShapedType>(operand.getType()) ||
        next + op->getNumResults() >= buffers.size())
      continue;
    Operand &buffer = buffers[next++];
    fits &= operands[i] && operands[i]->numbers.size() == buffer.numbers.size();
    if (fits)
      buffer.numbers = operands[i]->numbers;
  }
  if (fits)
    return emulate(op, made, *sizes, buffers);
  ++others;
  return {};
}

bool ModelRunner::finish() {
  out << emulated << " launches emulated, " << wrong << " wrong; " << others
      << " left to others\n";
  return emulated && !wrong;
}

// Reports a heading and a line for each output.
static Status judgeOutputs(llvm::StringRef heading, const Values &outputs,
                           const Values &expected, const Values &inputs,
                           llvm::StringRef bound, mlir::Location at,
                           llvm::raw_ostream &out) {
  std::vector<Difference> differences;
  if (Status s = compare(outputs, expected, inputs, at, differences); failed(s))
    return s;
  const bool close = judge(out, heading, differences, [&](const Difference &) {
    return toleranceOf(bound);
  });
  return close ? Status::done : Status::bug;
}

namespace {

// A model that runs in double.
struct InDouble {
  mlir::Operation *model;
  ParameterValues parameters;
  const Values &inputs;
  std::string entry;
  Values outputs;
  Routing routing;

  InDouble(mlir::ModuleOp module, const ModelOptions &options,
           const Values &inputs)
      : model(*module.getOps<transformer::ModelOp>().begin()),
        parameters(model, options.folder), inputs(inputs),
        entry(options.entry) {}

  Status run(const KernelRunner &instead = {}) {
    return interpret(model, parameters, inputs, outputs, entry, {}, instead,
                     &routing);
  }
  // Again, where rows of the other went to other experts. The logits by which
  // they did are outputs of both.
  Status follow(InDouble &other) {
    const Routes &given = other.routing.made;
    if (!areAlike(given, routing.made))
      return Status::done;
    if (Status s = mille::follow(given, outputs, routing,
                                 [&](Values &, Routing &) { return run(); });
        failed(s))
      return s;
    addRouterLogits(given, routing.made, other.outputs, outputs);
    return Status::done;
  }
};

} // namespace

// A run behind nothing gives what the model's first entry gives for the same
// tokens.
static Status judgeBesideFirst(const InDouble &ran, mlir::ModuleOp module,
                               const ModelOptions &options,
                               llvm::raw_ostream &out) {
  ModelOptions ofFirst = options;
  ofFirst.entry.clear();
  InDouble first(module, ofFirst, ran.inputs);
  if (Status s = first.run(); failed(s))
    return s;
  Values outputs, expected;
  for (auto &[name, value] : ran.outputs)
    if (auto found = first.outputs.find(name); found != first.outputs.end()) {
      outputs[name] = value;
      expected[name] = found->second;
    }
  return judgeOutputs("outputs, beside the first entry in f32", outputs,
                      expected, ran.inputs, "compiled_" + options.dtype,
                      module.getLoc(), out);
}

Status mille::emulated::runModel(mlir::ModuleOp module,
                                 const ModelOptions &options,
                                 llvm::raw_ostream &out) {
  mlir::MLIRContext &context = *module->getContext();
  Values inputs;
  if (Status s = readTensors(options.inputs, context, inputs); failed(s))
    return s;
  mlir::OwningOpRef<mlir::ModuleOp> before = module.clone();
  InDouble wide(*before, options, inputs);
  if (!kernel::entryOf(wide.model, options.entry)) {
    mlir::emitError(module.getLoc())
        << "the model has no entry '" << options.entry << "'";
    return Status::commandLine;
  }
  if (Status s = wide.run(); failed(s))
    return s;
  mlir::PassManager pipeline(&context);
  pipeline.addPass(plan::createNarrowTypes({options.dtype}));
  pipeline.addPass(plan::createTurnHeadsFirst());
  if (mlir::failed(pipeline.run(module)))
    return Status::input;
  InDouble expected(module, options, inputs), ran(module, options, inputs);
  if (Status s = expected.run(); failed(s))
    return s;
  ModelRunner runner(context, options.seed, out);
  auto instead = [&](mlir::Operation *op,
                     llvm::ArrayRef<const Value *> operands) {
    return runner.run(op, operands);
  };
  if (Status s = ran.run(instead); failed(s))
    return s;
  for (InDouble *other : {&wide, &expected})
    if (Status s = other->follow(ran); failed(s))
      return s;
  const Status own =
      judgeOutputs("outputs", ran.outputs, expected.outputs, inputs,
                   options.dtype == "fp8" ? "emulated_fp8" : "emulated_model",
                   module.getLoc(), out);
  const Status whole = judgeOutputs(
      "outputs, beside the model in f32", ran.outputs, wide.outputs, inputs,
      "compiled_" + options.dtype, module.getLoc(), out);
  const bool behindNothing = !options.entry.empty() && !inputs.count("past");
  const Status besideFirst = behindNothing
                                 ? judgeBesideFirst(ran, *before, options, out)
                                 : Status::done;
  const bool right = runner.finish();
  for (Status s : {own, whole, besideFirst})
    if (failed(s))
      return s;
  return right ? Status::done : Status::bug;
}

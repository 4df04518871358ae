// `mille init`: draws a model's weights by a scheme into a safetensors file.
// Must not know the schemes: import gives an expression for each weight.
#include "compiler/driver/Command.h"

#include "compiler/driver/commands/Report.h"
#include "compiler/import/Import.h"
#include "compiler/import/schemes/Recipe.h"
#include "compiler/weights/Draw.h"
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Safetensors.h"
#include "llvm/Support/FileSystem.h"

#include <thread>

using namespace mille;
using llvm::ArrayRef;
using llvm::MutableArrayRef;
using Emit = llvm::function_ref<void(ArrayRef<float>)>;

// Element i depends on i only, so the bits are the same for any number of
// threads.
static void drawInThreads(transformer::DrawnAttr recipe, int64_t first,
                          MutableArrayRef<float> into, unsigned threads) {
  const size_t each = (into.size() + threads - 1) / threads;
  std::vector<std::thread> workers;
  for (size_t begin = each; begin < into.size(); begin += each) {
    MutableArrayRef<float> part =
        into.slice(begin, std::min(each, into.size() - begin));
    workers.emplace_back([=] { draw(recipe, first + int64_t(begin), part); });
  }
  draw(recipe, first, into.take_front(each));
  for (std::thread &worker : workers)
    worker.join();
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) // verified: the product fits
    elements *= extent;
  return elements;
}

static void drawInPieces(transformer::DrawnAttr recipe, int64_t elements,
                         unsigned threads, Emit emit) {
  constexpr int64_t piece = 1 << 22;
  std::vector<float> numbers(std::min(piece, elements));
  for (int64_t first = 0; first < elements; first += piece) {
    MutableArrayRef<float> part =
        MutableArrayRef(numbers).take_front(std::min(piece, elements - first));
    drawInThreads(recipe, first, part, threads);
    emit(part);
  }
}

static ComputedTensor tensorOf(const import::MadeWeight &made, unsigned threads,
                               ParameterValues &values, mlir::Location at) {
  ComputedTensor tensor;
  tensor.name = made.name;
  tensor.shape.assign(made.shape.begin(), made.shape.end());
  tensor.numbers = [&made, &values, threads, at](Emit emit) {
    const int64_t elements = elementsOf(made.shape);
    if (auto recipe = llvm::dyn_cast<transformer::DrawnAttr>(made.value)) {
      drawInPieces(recipe, elements, threads, emit);
      return true;
    }
    std::vector<float> numbers(elements);
    if (mlir::failed(values.evaluateF32(made.value, at, numbers)))
      return false;
    emit(numbers);
    return true;
  };
  return tensor;
}

Status mille::initCommand(const InitOptions &options,
                          mlir::MLIRContext &context, llvm::raw_ostream &out) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, options.model, 0, 0);
  if (llvm::StringRef(options.model).ends_with(".mlir")) {
    mlir::emitError(at)
        << "a .mlir names its weights: init takes a native spec "
           "or a Hugging Face folder";
    return Status::input;
  }
  ImportOptions how;
  how.making = {options.scheme, options.seed};
  Imported imported;
  if (Status status = importModel(options.model, how, context, imported);
      failed(status))
    return status;
  ParameterValues values(nullptr, imported.folder);
  std::vector<ComputedTensor> tensors;
  double numbers = 0;
  for (const import::MadeWeight &made : imported.made) {
    tensors.push_back(tensorOf(made, options.threads, values, at));
    numbers += double(elementsOf(made.shape));
  }
  Status status = writeSafetensors(options.output, tensors,
                                   {{"format", "pt"},
                                    {"names", "mille"},
                                    {"scheme", imported.scheme},
                                    {"seed", std::to_string(imported.seed)}},
                                   context);
  if (failed(status))
    return status;
  out << options.output << ": " << tensors.size() << " tensors, "
      << int64_t(numbers) << " numbers, scheme " << imported.scheme << ", seed "
      << imported.seed << '\n';
  return Status::done;
}

// Measures on sample text which columns of weights matter: runs the reference
// as a kernel program, and looks at what its matmuls read.
// Must not round anything.
#include "compiler/driver/program/Calibrate.h"
#include "compiler/driver/ModelTokens.h"
#include "compiler/driver/package/PackageText.h"
#include "compiler/fuse/Passes.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/kernel/Signature.h"
#include "llvm/Support/MemoryBuffer.h"

#include <numeric>

using namespace mille;

namespace {

// The reference takes about a minute for these of a model of 135 million
// parameters. llama.cpp's guides use some hundred thousand, in f16.
constexpr size_t mostIds = 1024;
constexpr int64_t idsOfRun = 512;

mlir::InFlightDiagnostic error(llvm::StringRef path,
                               mlir::MLIRContext &context) {
  return mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0));
}

// Sums of squares by column, and of how many rows they are.
struct Sum {
  std::vector<double> squares;
  int64_t rows = 0;
};

void add(kernel::MatmulOp matmul, const Value &input,
         llvm::StringMap<Sum> &sums) {
  auto weight = matmul.getWeight().getDefiningOp<kernel::WeightOp>();
  if (!weight || input.shape.empty())
    return;
  const int64_t columns = input.shape.back(),
                rows = int64_t(input.numbers.size()) / columns;
  weight.getValue().walk([&](mlir::FlatSymbolRefAttr name) {
    Sum &sum = sums[name.getValue()];
    sum.squares.resize(columns);
    sum.rows += rows;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t k = 0; k < columns; ++k) {
        const double x = input.numbers[m * columns + k];
        sum.squares[k] += x * x;
      }
  });
}

// The first ids of the text in a file, by the tokenizer of a model.
Status readSample(llvm::StringRef path, llvm::StringRef model,
                  llvm::StringRef folder, mlir::MLIRContext &context,
                  std::vector<int32_t> &ids) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!text) {
    error(path, context) << "cannot read the file: "
                         << text.getError().message();
    return Status::input;
  }
  if ((*text)->getBuffer().empty()) {
    error(path, context) << "the text is empty";
    return Status::input;
  }
  const std::string bytes = tokensOfModel(model, folder, context).bytes;
  if (bytes.empty()) {
    error(path, context) << "the text is to be read but the model has no "
                            "tokenizer that Mille knows";
    return Status::input;
  }
  mille_text *opened = nullptr;
  Status status =
      judgeText(mille_text_open_bytes(bytes.data(), bytes.size(), &opened),
                model, context);
  OpenText tokenizer(opened, mille_text_close);
  if (failed(status) ||
      failed(status = encodeText(tokenizer.get(), (*text)->getBuffer(),
                                 MILLE_TEXT_ENDS, path, context, ids)))
    return status;
  ids.resize(std::min(ids.size(), mostIds));
  return Status::done;
}

} // namespace

Status mille::measureImportance(mlir::ModuleOp module, llvm::StringRef from,
                                llvm::StringRef folder, llvm::StringRef sample,
                                Importance &importance) {
  std::vector<int32_t> ids;
  if (Status status =
          readSample(sample, from, folder, *module.getContext(), ids);
      failed(status))
    return status;
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  transformer::ModelOp model = *copy->getOps<transformer::ModelOp>().begin();
  for (mlir::func::FuncOp entry : llvm::drop_begin(kernel::entriesOf(model)))
    entry.erase();
  mlir::PassManager passes(copy->getContext());
  passes.addNestedPass<transformer::ModelOp>(createConvertToKernel());
  if (mlir::failed(passes.run(*copy)))
    return Status::input;
  model = *copy->getOps<transformer::ModelOp>().begin();
  int64_t most = idsOfRun;
  if (auto limit = model->getAttrOfType<mlir::IntegerAttr>("max_tokens"))
    most = std::min(most, limit.getInt());
  ParameterValues parameters(model, folder.str());
  llvm::StringMap<Sum> sums;
  auto look = [&](mlir::Operation *op, llvm::ArrayRef<const Value *> operands) {
    if (auto matmul = llvm::dyn_cast<kernel::MatmulOp>(op))
      add(matmul, *operands.front(), sums);
    return std::vector<Value>();
  };
  for (llvm::ArrayRef<int32_t> rest = ids; !rest.empty();) {
    llvm::ArrayRef<int32_t> now = rest.take_front(most);
    rest = rest.drop_front(now.size());
    Values outputs;
    const Value given{{1, int64_t(now.size())},
                      std::vector<double>(now.begin(), now.end()),
                      /*integer=*/true};
    if (Status status = interpret(model, parameters, {{"input_ids", given}},
                                  outputs, "", {}, look);
        failed(status))
      return status;
  }
  // Each mean goes to its own name, in any order.
  for (auto &[name, sum] : sums) {
    for (double &square : sum.squares)
      square /= double(sum.rows);
    importance[name] = std::move(sum.squares);
  }
  return Status::done;
}

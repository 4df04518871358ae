// `mille export`: a checkpoint becomes a folder as Hugging Face has them. Must
// not know a family: import says what its files hold.
#include "compiler/driver/Command.h"

#include "compiler/driver/package/Reference.h"
#include "compiler/import/export/Export.h"
#include "compiler/import/export/Places.h"
#include "compiler/import/export/ProgramText.h"
#include "compiler/link/Staging.h"
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Safetensors.h"
#include "dialects/transformer/FixedParameter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mille;
using namespace mille::transformer;
using llvm::StringRef;

namespace {

// Files of a folder that hold its tokens, which training does not change.
constexpr StringRef textFiles[] = {"tokenizer.json",
                                   "tokenizer_config.json",
                                   "tokenizer.model",
                                   "vocab.json",
                                   "vocab.txt",
                                   "merges.txt",
                                   "spiece.model",
                                   "added_tokens.json",
                                   "special_tokens_map.json",
                                   "chat_template.jinja"};

class ExportRun {
public:
  ExportRun(const ExportOptions &options, mlir::MLIRContext &context,
            llvm::raw_ostream &out)
      : options(options), context(context), out(out) {}

  Status run() {
    if (Status status = describeExport(options.model, context, exported);
        failed(status))
      return status;
    if (Status status = openCheckpoint(); failed(status))
      return status;
    if (Status status = leaveFixed(); failed(status))
      return status;
    if (Status status = collectTensors(); failed(status))
      return status;
    return write();
  }

private:
  Status refuse(StringRef path, const llvm::Twine &text) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << text;
    return Status::input;
  }

  Status openCheckpoint() {
    checkpoint = TensorFile::open(options.checkpoint, context);
    if (!checkpoint)
      return Status::input;
    if (checkpoint->note("names") != "mille")
      return refuse(options.checkpoint,
                    "the tensors have not Mille's names, as those of a "
                    "checkpoint or of mille init have");
    for (const ExportedParameter &parameter : exported.parameters) {
      if (parameter.name.empty() || isFixed(parameter))
        continue;
      const StoredTensor *tensor = checkpoint->find(parameter.name);
      auto type = llvm::cast<ParameterOp>(parameter.made).getType();
      if (!tensor)
        return refuse(options.checkpoint, "tensor '" + parameter.name +
                                              "' of the model is not in the "
                                              "file");
      if (llvm::ArrayRef(tensor->shape) !=
          llvm::cast<mlir::ShapedType>(type).getShape())
        return refuse(options.checkpoint,
                      "tensor '" + parameter.name + "' is " +
                          shapeText(tensor->shape) + " but the model needs " +
                          shapeText(llvm::to_vector(
                              llvm::cast<mlir::ShapedType>(type).getShape())));
    }
    return Status::done;
  }

  static bool isFixed(const ExportedParameter &parameter) {
    return transformer::isFixed(llvm::cast<ParameterOp>(parameter.made));
  }

  // A checkpoint may have other numbers there than the config gives.
  Status leaveFixed() {
    auto model = llvm::cast<ParameterOp>(exported.parameters.front().made)
                     ->getParentOfType<ModelOp>();
    ParameterValues values(model, options.model);
    for (const ExportedParameter &parameter : exported.parameters) {
      if (!isFixed(parameter) || !checkpoint->find(parameter.name))
        continue;
      auto op = llvm::cast<ParameterOp>(parameter.made);
      auto wanted = values.evaluate(op.getValue(), op.getLoc());
      if (failed(wanted))
        return Status::input;
      for (auto [number, own] :
           llvm::zip_equal(numbersOf(parameter), wanted->numbers))
        if (std::abs(number - own) > 1e-6)
          return refuseNumbers(parameter);
    }
    llvm::erase_if(exported.parameters, isFixed);
    return Status::done;
  }

  Status refuseNumbers(const ExportedParameter &parameter) {
    return refuse(options.checkpoint, "parameter '" + nameOf(parameter) +
                                          "' has numbers that files of " +
                                          exported.family +
                                          " have no place for");
  }

  mlir::Attribute resolve(mlir::FlatSymbolRefAttr symbol) {
    auto op = mlir::SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
        exported.parameters.front().made, symbol);
    return op ? op.getValue() : mlir::Attribute();
  }

  // The tensors of the family's files, and what each takes of parameters.
  Status collectTensors() {
    llvm::MapVector<StoredAttr, std::vector<const ExportedParameter *>> files;
    for (const ExportedParameter &parameter : exported.parameters) {
      mlir::AttrTypeWalker walker;
      auto visit = [&](StoredAttr stored) {
        auto &users = files[stored];
        if (users.empty() || users.back() != &parameter)
          users.push_back(&parameter);
      };
      walker.addWalk(visit);
      mlir::Attribute value =
          llvm::cast<ParameterOp>(parameter.made).getValue();
      walker.addWalk([&](mlir::FlatSymbolRefAttr symbol) {
        if (mlir::Attribute of = resolve(symbol))
          walker.walk(of);
      });
      walker.walk(value);
      if (!import::placesOf(
              value, [](StoredAttr) { return 0; },
              [&](mlir::FlatSymbolRefAttr s) { return resolve(s); }))
        return refuse(options.model, "parameter '" + nameOf(parameter) +
                                         "' is computed of the files of " +
                                         exported.family +
                                         ", and has no place in them");
    }
    for (auto &[stored, users] : files) {
      ComputedTensor tensor;
      tensor.name = stored.getName().str();
      llvm::append_range(tensor.shape, stored.getType().getShape());
      tensor.numbers =
          [this, stored = stored, users = users](
              llvm::function_ref<void(llvm::ArrayRef<float>)> emit) {
            std::vector<float> numbers;
            if (!fill(stored, users, numbers))
              return false;
            emit(numbers);
            return true;
          };
      tensors.push_back(std::move(tensor));
    }
    return Status::done;
  }

  static std::string nameOf(const ExportedParameter &parameter) {
    return llvm::cast<ParameterOp>(parameter.made).getSymName().str();
  }

  std::vector<float> numbersOf(const ExportedParameter &parameter) {
    auto op = llvm::cast<ParameterOp>(parameter.made);
    std::vector<float> numbers(
        llvm::cast<mlir::ShapedType>(op.getType()).getNumElements(),
        float(parameter.fill));
    if (!parameter.name.empty())
      checkpoint->find(parameter.name)
          ->read(0, llvm::MutableArrayRef<float>(numbers));
    return numbers;
  }

  // Puts the numbers of parameters where the importer takes them from.
  bool fill(StoredAttr stored, llvm::ArrayRef<const ExportedParameter *> users,
            std::vector<float> &numbers) {
    numbers.resize(stored.getType().getNumElements());
    std::vector<bool> taken(numbers.size());
    for (const ExportedParameter *user : users) {
      const std::vector<float> from = numbersOf(*user);
      auto value = llvm::cast<ParameterOp>(user->made).getValue();
      if (value == stored) { // the usual case needs no list
        numbers = from;
        std::fill(taken.begin(), taken.end(), true);
        continue;
      }
      // Elements of other tensors lie beyond this one's.
      const auto places = import::placesOf(
          value,
          [&](StoredAttr leaf) {
            return leaf == stored ? 0 : int64_t(numbers.size());
          },
          [&](mlir::FlatSymbolRefAttr s) { return resolve(s); });
      for (auto [number, at] : llvm::zip(from, places->at))
        if (at < 0 && number != 0) {
          refuseNumbers(*user);
          return false;
        } else if (at >= 0 && at < int64_t(numbers.size())) {
          numbers[at] = number;
          taken[at] = true;
        }
    }
    if (llvm::all_of(taken, [](bool one) { return one; }))
      return true;
    // No test has this: no family yet has tensors that its model reads in part.
    refuse(options.model, "tensor '" + stored.getName() + "' of " +
                              exported.family +
                              " holds numbers that the model has not");
    return false;
  }

  Status write() {
    link::Staging staging(options.folder, "model");
    std::vector<std::string> files = {"model.safetensors"};
    if (!staging.problem().empty())
      return failMachine(staging);
    if (Status status = writeSafetensors(staging.path(files[0]), tensors,
                                         {{"format", "pt"}}, context);
        failed(status))
      return status;
    for (StringRef file : textFiles) {
      llvm::SmallString<128> path(options.model);
      if (!llvm::sys::fs::is_directory(path))
        llvm::sys::path::remove_filename(path);
      llvm::sys::path::append(path, file);
      auto bytes =
          llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
      if (!bytes)
        continue;
      if (!staging.write(file, (*bytes)->getBuffer()))
        return failMachine(staging);
      files.push_back(file.str());
    }
    files.push_back("config.json");
    if (!staging.write(files.back(), exported.config))
      return failMachine(staging);
    if (Status status = readBack(staging.path(files.back())); failed(status))
      return status;
    if (!staging.commit(files))
      return failMachine(staging);
    out << options.folder << ": " << exported.family << ", " << tensors.size()
        << " tensors\n";
    return Status::done;
  }

  Status failMachine(const link::Staging &staging) {
    mlir::emitError(mlir::UnknownLoc::get(&context)) << staging.problem();
    return Status::machine;
  }

  // What was written is the model that was meant.
  Status readBack(StringRef config) {
    Imported imported;
    if (Status status = importModel(config, ImportOptions(), context, imported);
        failed(status))
      return Status::bug;
    const std::string meant = import::ProgramText(*exported.module).text,
                      found = import::ProgramText(*imported.module).text;
    if (meant == found)
      return Status::done;
    // No test has this: it is a fault of ours.
    refuse(options.folder, "the files that were written are read as another "
                           "program");
    return Status::bug;
  }

  const ExportOptions &options;
  mlir::MLIRContext &context;
  llvm::raw_ostream &out;
  Exported exported;
  std::unique_ptr<TensorFile> checkpoint;
  std::vector<ComputedTensor> tensors;
};

} // namespace

Status mille::exportCommand(const ExportOptions &options,
                            mlir::MLIRContext &context,
                            llvm::raw_ostream &out) {
  return ExportRun(options, context, out).run();
}

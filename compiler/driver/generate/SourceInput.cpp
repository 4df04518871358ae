// What a package's encoder takes, and whether the options give that.
// Must not run a model.
#include "compiler/driver/generate/SourceInput.h"

#include "compiler/driver/Console.h"
#include "compiler/interpret/TensorFiles.h"

using namespace mille;

// The input of the entry `source` that has no default; null without one.
static const Package::Tensor *inputOf(const Package &package) {
  if (const Package::Entry *entry = package.entry("source"))
    for (const Package::Tensor &input : entry->inputs)
      if (input.fallback.empty())
        return &input;
  return nullptr;
}

bool mille::hasEncoder(const Package &package) { return inputOf(package); }

Status mille::checkSource(const GenerateOptions &options,
                          const Package &package) {
  const Package::Tensor *input = inputOf(package);
  auto refuse = [&](const llvm::Twine &what, const llvm::Twine &help) {
    return refuseOptions(what, help);
  };
  if (!input && (options.source || options.begin))
    return refuse(llvm::Twine(options.source ? "--source" : "--begin") +
                      " is given but package " + package.name +
                      " has no encoder",
                  "mille generate DIR --ids=LIST");
  if (!input)
    return Status::done;
  if (options.chat)
    return refuse("--chat is given but package " + package.name +
                      " has an encoder, which encodes one text",
                  "mille generate DIR --prompt=TEXT");
  const bool takesIds = input->type == "i32";
  if (takesIds == !options.source)
    return Status::done;
  return refuse("the encoder of package " + package.name + " takes " +
                    input->name + (takesIds ? ", which are ids" : ", numbers"),
                takesIds ? "mille generate DIR --ids=LIST"
                         : "mille generate DIR --source=FILE.safetensors");
}

Status mille::readSource(const GenerateOptions &options, const Package &package,
                         mlir::MLIRContext &context,
                         std::vector<float> &numbers) {
  const Package::Tensor *input = inputOf(package);
  Values values;
  if (Status status = readTensors(*options.source, context, values);
      failed(status))
    return status;
  auto found = values.find(input->name);
  if (found == values.end()) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, *options.source, 0, 0))
        << "the file has no '" << input->name << "', which the encoder takes";
    return Status::input;
  }
  numbers.assign(found->second.numbers.begin(), found->second.numbers.end());
  return Status::done;
}

Status mille::beginOf(const GenerateOptions &options, const Package &package,
                      std::vector<int32_t> &ids) {
  if (options.begin)
    ids.assign(options.begin->begin(), options.begin->end());
  else if (package.generation && package.generation->start)
    ids.assign(1, int32_t(*package.generation->start));
  if (!ids.empty())
    return Status::done;
  return refuseOptions("package " + package.name +
                           " does not say what its decoder begins with",
                       "mille generate DIR --begin=ID --ids=LIST");
}

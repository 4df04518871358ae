// Refuses packages that infer.
#include "compiler/driver/train/TrainedPackage.h"

#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "dialects/transformer/Training.h"

using namespace mille;

Status TrainedPackage::open(const std::string &subject, const TrainedAs &as,
                            mlir::MLIRContext &context) {
  Subject kind;
  if (Status status = findSubject(subject, context, kind, package);
      failed(status))
    return status;
  if (kind == Subject::model) {
    CompileRequest request = requestOf(CompileOptions());
    request.model = subject;
    request.folder = scratch.folder();
    request.train = true;
    if (!as.recompute.empty())
      request.recompute = as.recompute;
    if (!as.dtype.empty())
      request.dtype = as.dtype;
    request.memory = as.memory;
    recompute = request.recompute;
    request.observer.chose = [&](const std::string &word, int64_t bytes) {
      recompute = word;
      planned = bytes;
    };
    request.name = "model";
    request.targets = {"host"};
    request.certify = false;
    if (Status status = compileModel(request, context, llvm::nulls());
        failed(status))
      return status;
    if (Status status = findPackage(request.folder, context, package);
        failed(status))
      return status;
  }
  for (auto [name, word] :
       {std::pair("--recompute", as.recompute),
        std::pair("--memory", std::string(as.memory.bytes ? "given" : "")),
        std::pair("--dtype", as.dtype)})
    if (kind != Subject::model && !word.empty())
      return refuseOptions(llvm::Twine(name) + " is given but package " +
                               package.name + " is compiled",
                           "give it to mille compile");
  if (!package.entry(trainStepName))
    return refuseOptions("package " + package.name +
                             " infers and cannot be trained",
                         "mille compile MODEL --train -o DIR");
  Compiled::Wishes wishes;
  wishes.entry = trainStepName.str();
  return Compiled::open(package, "", context, code, wishes);
}

std::vector<mille_tensor> TrainedPackage::inputs() const {
  size_t entry = 0;
  mille_entry_info info = {};
  functions().mille_package_find_entry(code->handle(), trainStepName.data(),
                                       &entry);
  functions().mille_package_entry(code->handle(), entry, &info);
  std::vector<mille_tensor> inputs(info.inputs);
  for (size_t i = 0; i < info.inputs; ++i)
    functions().mille_package_entry_input(code->handle(), entry, i, &inputs[i]);
  return inputs;
}

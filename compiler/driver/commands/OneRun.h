// What commands that run a package, or a model just compiled, share.
// Must not know which command asks.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/package/Compiled.h"
#include "compiler/import/ImageSize.h"
#include "compiler/interpret/Interpret.h"
#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>

namespace mille {

class Scratch;

// Says why the options do not fit each other or the package.
Status refuseOptions(const llvm::Twine &text, const llvm::Twine &help);

// What --target and --device mean together, as Compiled::open takes it; and
// whether a package has that.
Status codeFor(const std::string &target, const std::string &device,
               std::string &code);
Status checkCode(const Package &package, const std::string &code);

// Runs a package on named tensors. isa: "" for the best of this machine.
Status runCompiled(const Package &package, const std::string &isa,
                   unsigned threads, const Values &inputs,
                   mlir::MLIRContext &context, Values &outputs,
                   const Compiled::Wishes &wishes = {});

// Of the images among the inputs; none where there is none.
std::optional<ImageSize> imageSizeOf(const Values &inputs);

// Compiles `model` into `scratch` for this machine (or `target`), for images of
// the size at hand where any will do. entry: "" for what models have.
Status compileForOneRun(const std::string &model, bool hiddenStates,
                        std::optional<ImageSize> imageSize,
                        const std::string &target, const std::string &entry,
                        Scratch &scratch, mlir::MLIRContext &context,
                        Package &package);

} // namespace mille

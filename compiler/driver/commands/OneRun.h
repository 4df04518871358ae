// Code that several commands share to run a package or a model once.
// Must not know which command calls it.
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

// Runs a package on named tensors. isa: "" for the best of this machine.
Status runCompiled(const Package &package, const std::string &isa,
                   unsigned threads, const Values &inputs,
                   mlir::MLIRContext &context, Values &outputs,
                   const Compiled::Wishes &wishes = {});

// The size of the images among the inputs; absent if there are none.
std::optional<ImageSize> imageSizeOf(const Values &inputs);

// Compiles `model` into `scratch` for this machine or for `target`. imageSize:
// the size to compile for if the model takes any. entry: an entry to add, or
// "".
Status compileForOneRun(const std::string &model, bool hiddenStates,
                        std::optional<ImageSize> imageSize,
                        const std::string &target, const std::string &entry,
                        Scratch &scratch, mlir::MLIRContext &context,
                        Package &package);

} // namespace mille

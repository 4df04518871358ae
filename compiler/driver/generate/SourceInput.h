// What a package's encoder takes, and whether the options give that.
// Must not run a model.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/Package.h"

namespace mille {

// Whether the package's decoder stands beside an encoder.
bool hasEncoder(const Package &package);

// Refuses options that give a decoder alone a source, or an encoder something
// that it does not take.
Status checkSource(const GenerateOptions &options, const Package &package);

// Reads the numbers of --source: the encoder's input of one sequence.
Status readSource(const GenerateOptions &options, const Package &package,
                  mlir::MLIRContext &context, std::vector<float> &numbers);

// The ids that the decoder begins with.
Status beginOf(const GenerateOptions &options, const Package &package,
               std::vector<int32_t> &ids);

} // namespace mille

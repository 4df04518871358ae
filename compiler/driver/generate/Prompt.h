// What a model is asked to continue, as ids. Must not run a model.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/PackageText.h"

namespace mille {

// The ids of --prompt, --messages or --ids; at least one. text: null where the
// options need none.
Status promptIds(const GenerateOptions &options, const mille_text *text,
                 mlir::MLIRContext &context, std::vector<int32_t> &ids);

} // namespace mille

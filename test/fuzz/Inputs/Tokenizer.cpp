// Reads bytes as a model's tokenizer, a GGUF's or a tokenizer.json and, behind
// a byte of 0, the tokenizer_config.json beside it: a diagnostic, or a
// NAME.tokens that opens and answers.
#include "Folder.h"
#include "Taken.h"
#include "compiler/driver/ModelTokens.h"
#include "mlir/IR/Diagnostics.h"
#include "test/text/Inputs/Ask.h"

#include <algorithm>

// The tokens of the file that the bytes became.
static mille::ModelTokens tokensOf(const Folder &folder, const uint8_t *data,
                                   size_t size, mlir::MLIRContext &context) {
  if (size >= 4 && !std::memcmp(data, "GGUF", 4))
    return folder.write("fuzz.gguf", data, size)
               ? mille::tokensOfModel(folder.file("fuzz.gguf"), folder.path,
                                      context)
               : mille::ModelTokens();
  const uint8_t *end = std::find(data, data + size, 0);
  if (!folder.write("tokenizer.json", data, end - data))
    return {};
  std::filesystem::remove(folder.file("tokenizer_config.json"));
  if (end != data + size &&
      !folder.write("tokenizer_config.json", end + 1, data + size - (end + 1)))
    return {};
  return mille::tokensOfModel("", folder.path, context);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Taken taken;
  static Answers answers;
  static Folder folder;
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  unsigned long told = 0;
  mlir::ScopedDiagnosticHandler quiet(&context, [&](mlir::Diagnostic &) {
    ++told;
    return mlir::success();
  });
  const mille::ModelTokens made = tokensOf(folder, data, size, context);
  if (made.bytes.empty())
    return 0;
  demand(!told); // or it is refused
  demand(openAndAsk(made.bytes, answers));
  ++taken.count;
  return 0;
}

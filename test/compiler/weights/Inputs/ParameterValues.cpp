// Prints what value expressions evaluate to, in double and in f32.
//
//   parameter-values FOLDER EXPRESSION...
//   parameter-values --refusals FOLDER      what is not written or computed
//
// Exit status 1 after an error, 2 where double and f32 disagree.
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Safetensors.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>
#include <cstring>

using namespace mille;

// A name twice, more bytes than there are numbers for, and too little room: an
// error each, and no file. Returns how many were refused.
static int refusals(llvm::StringRef folder, mlir::MLIRContext &context) {
  const std::string path = (folder + "/refused.safetensors").str();
  const StoredTensor small{"w", Encoding::f32, {1}, {"abcd", 4}};
  const StoredTensor large{"w", Encoding::f32, {1 << 30, 1 << 30, 8}, {}};
  int refused = failed(writeSafetensors(path, {small, small}, context)) +
                failed(writeSafetensors(path, {large}, context));
  ParameterValues values(nullptr, folder.str());
  float one;
  mlir::Attribute two = mlir::parseAttribute(
      "#transformer.numbers<[1.0, 2.0], tensor<2xf32>>", &context);
  refused += mlir::failed(
      values.evaluateF32(two, mlir::UnknownLoc::get(&context), one));
  return llvm::sys::fs::exists(path) ? 0 : refused;
}

int main(int count, char **arguments) {
  mlir::MLIRContext context;
  context
      .loadDialect<transformer::TransformerDialect, mlir::func::FuncDialect>();
  if (count == 3 && strcmp(arguments[1], "--refusals") == 0) {
    std::printf("%d refused\n", refusals(arguments[2], context));
    return 0;
  }
  ParameterValues values(nullptr, arguments[1]);
  mlir::Location here = mlir::UnknownLoc::get(&context);
  for (int i = 2; i < count; ++i) {
    mlir::Attribute value = mlir::parseAttribute(arguments[i], &context);
    if (!value)
      return 1;
    auto exact = values.evaluate(value, here);
    if (mlir::failed(exact))
      return 1;
    std::vector<float> rounded(exact->numbers.size());
    if (mlir::failed(values.evaluateF32(value, here, rounded)))
      return 1;
    for (int64_t extent : exact->shape)
      std::printf("%lld ", (long long)extent);
    std::printf(":");
    for (size_t k = 0; k < rounded.size(); ++k) {
      float once = float(exact->numbers[k]);
      if (std::memcmp(&once, &rounded[k], sizeof once) != 0)
        return 2;
      if (k < 64)
        std::printf(" %.9g", double(rounded[k]));
    }
    std::printf("\n");
  }
}

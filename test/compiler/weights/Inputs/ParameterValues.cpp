// Prints what value expressions evaluate to, in double and in f32.
//
//   parameter-values FOLDER EXPRESSION...
//
// Exit status 1 after an error, 2 where double and f32 disagree.
#include "compiler/weights/ParameterValues.h"
#include "mlir/AsmParser/AsmParser.h"

#include <cstdio>
#include <cstring>

using namespace mille;

int main(int count, char **arguments) {
  mlir::MLIRContext context;
  context
      .loadDialect<transformer::TransformerDialect, mlir::func::FuncDialect>();
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

// Prints what value expressions evaluate to, in double and in f32.
//
//   parameter-values FOLDER EXPRESSION...
//   parameter-values --refusals FOLDER      what is not written or computed
//   parameter-values --once                 how often packing computes a number
//
// Exit status 1 after an error, 2 where double and f32 disagree.
#include "compiler/weights/ParameterValues.h"
#include "compiler/weights/Expression.h"
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

namespace {

// Numbers that count how often they are read.
class Counted final : public Expression {
public:
  using Expression::rows;
  Counted(llvm::ArrayRef<int64_t> of, int64_t &reads) : reads(reads) {
    shape.assign(of.begin(), of.end());
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    const int64_t size = rowSize();
    for (int64_t i = first * size; i < (first + count) * size; ++i)
      *into++ = double(i);
    reads += count * size;
  }

private:
  int64_t &reads;
};

} // namespace

// Rows of a few heads, of which each has others beside it, packed as a matrix
// and head by head: the largest number of times that a number is read.
static int64_t timesRead() {
  constexpr int64_t heads = 4, beside = 24, own = 16, depth = 8;
  int64_t most = 0;
  for (bool byHead : {false, true}) {
    int64_t reads = 0;
    ExpressionPtr all = std::make_unique<Counted>(
        llvm::ArrayRef<int64_t>{heads * beside, depth}, reads);
    ExpressionPtr rows =
        slice(reshape(std::move(all), {heads, beside, depth}), 1, 0, own, 1);
    ExpressionPtr packed =
        byHead
            ? pack(reshape(reshape(std::move(rows), {heads * own, depth}),
                           {heads, own, depth}),
                   {own, 1, 2})
            : pack(reshape(std::move(rows), {heads * own, depth}), {own, 1, 2});
    std::vector<float> into(packed->elements());
    packed->rows(0, packed->rowCount(), into.data());
    most = std::max(most, reads / (heads * beside * depth));
  }
  return most;
}

int main(int count, char **arguments) {
  mlir::MLIRContext context;
  context
      .loadDialect<transformer::TransformerDialect, mlir::func::FuncDialect>();
  if (count == 3 && strcmp(arguments[1], "--refusals") == 0) {
    std::printf("%d refused\n", refusals(arguments[2], context));
    return 0;
  }
  if (count == 2 && strcmp(arguments[1], "--once") == 0) {
    std::printf("read %lld times\n", (long long)timesRead());
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

// The numbers behind parameter value expressions (stored, drawn, slice, concat,
// times, pack, ...), one parameter at a time so that memory stays bounded.
#pragma once
#include "compiler/weights/TensorFile.h"
#include "dialects/transformer/Transformer.h"

namespace mille {

class Expression;

struct ParameterTensor {
  std::vector<int64_t> shape;
  std::vector<double> numbers; // row-major
};

class ParameterValues {
public:
  // Files named by `stored` are looked up in `folder`; symbols in `model`, a
  // symbol table holding transformer.parameter ops.
  ParameterValues(mlir::Operation *model, std::string folder);
  ~ParameterValues();

  // The value of an expression. `column` gives what a layer-table column
  // stands for in the layer at hand (null outside `layers`, or to fall through
  // to the model's parameters). In double, for the interpreter.
  mlir::FailureOr<ParameterTensor>
  evaluate(mlir::Attribute value, mlir::Location location,
           transformer::ResolveSymbol column = nullptr);

  // The same rounded to f32 straight into `into` (which has room for every
  // element). Streams stored f32 without doubling.
  mlir::LogicalResult evaluateF32(mlir::Attribute value,
                                  mlir::Location location,
                                  llvm::MutableArrayRef<float> into,
                                  transformer::ResolveSymbol column = nullptr);

  // The same as elements of `type` (f32, bf16, i8, i32), each rounded to
  // nearest, ties to even: what the weights file holds.
  mlir::LogicalResult evaluateAs(mlir::Type type, mlir::Attribute value,
                                 mlir::Location location,
                                 llvm::MutableArrayRef<char> into);

private:
  struct Files;
  std::unique_ptr<Expression> express(mlir::Attribute value,
                                      mlir::Location location,
                                      transformer::ResolveSymbol column);
  mlir::Operation *model;
  std::string folder;
  std::unique_ptr<Files> files;
};

} // namespace mille

// Evaluates value expressions of parameters (stored, drawn, slice, concat,
// times, pack, ...). Must hold one parameter at a time, to bound memory.
#pragma once
#include "compiler/weights/TensorFile.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/StringMap.h"

namespace mille {

// Of a parameter, by its name: how much each input column matters to what the
// model says. Blocks are rounded so that columns that matter more lose less.
using Importance = llvm::StringMap<std::vector<double>>;

class Expression;

struct ParameterTensor {
  std::vector<int64_t> shape;
  std::vector<double> numbers; // row-major
};

class ParameterValues {
public:
  // Looks up the files of `stored` in `folder`, and symbols in `model`, a
  // symbol table with transformer.parameter ops.
  ParameterValues(mlir::Operation *model, std::string folder);
  ~ParameterValues();

  // What values in blocks are rounded by from now on.
  void roundBy(Importance measured) { importance = std::move(measured); }

  // The value of an expression in double, for the interpreter. `column`
  // resolves a column of the layer table in the current layer; if it is null or
  // returns null, the symbol is a parameter of the model.
  mlir::FailureOr<ParameterTensor>
  evaluate(mlir::Attribute value, mlir::Location location,
           transformer::ResolveSymbol column = nullptr);

  // The same, some rows at a time: `take` gets the first one's index and the
  // numbers.
  mlir::LogicalResult
  evaluateRows(mlir::Attribute value, mlir::Location location,
               transformer::ResolveSymbol column,
               llvm::function_ref<void(int64_t, llvm::ArrayRef<double>)> take);

  // The same in f32, written to `into`, which has room for every element.
  // Stored f32 is copied without a detour through double.
  mlir::LogicalResult evaluateF32(mlir::Attribute value,
                                  mlir::Location location,
                                  llvm::MutableArrayRef<float> into,
                                  transformer::ResolveSymbol column = nullptr);

  // The same as elements of `type` (f32, bf16, i8, i32) for the weights file,
  // each rounded to nearest, ties to even; some rows at a time, so that memory
  // is needed for these alone. Fails, too, where `take` does.
  using TakeBytes =
      llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<char>)>;
  mlir::LogicalResult evaluateAs(mlir::Type type, mlir::Attribute value,
                                 mlir::Location location, TakeBytes take);

private:
  struct Files;
  std::unique_ptr<Expression> express(mlir::Attribute value,
                                      mlir::Location location,
                                      transformer::ResolveSymbol column);
  mlir::Operation *model;
  std::string folder;
  std::unique_ptr<Files> files;
  Importance importance;
};

} // namespace mille

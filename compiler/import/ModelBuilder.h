// The state of one walk over a ModelSpec; Build.cpp and BuildBranch.cpp hold its
// functions. Not for anyone else.
#pragma once
#include "compiler/import/Build.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace mille::import {

class ModelBuilder {
public:
  ModelBuilder(const ModelSpec &spec, WeightSource &weights,
          const BuildOptions &options, mlir::MLIRContext &context);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Value = mlir::Value;
  struct Input {
    std::string name;
    mlir::RankedTensorType type;
    mlir::DictionaryAttr attributes;
  };

  mlir::Location where(mlir::LocationAttr at);
  mlir::RankedTensorType stream(int64_t channels); // [batch, tokens, channels]
  static Dimension dim(const Extent &a);
  static Dimension dim(const Extent &a, const Extent &b);

  // Declares a parameter once; the same name again is the same parameter.
  mlir::FlatSymbolRefAttr parameter(llvm::StringRef name, Role role,
                                    llvm::SmallVector<Dimension, 2> shape,
                                    mlir::LocationAttr at, double init = 0);
  void declare(llvm::StringRef name, llvm::ArrayRef<Dimension> shape,
               mlir::Attribute value, mlir::LocationAttr at);
  Value linear(Value input, llvm::StringRef name, Role role, Dimension out,
               Dimension in, bool bias, mlir::LocationAttr at,
               double scale = 1);
  Value apply(Value input, mlir::FlatSymbolRefAttr weight,
              mlir::FlatSymbolRefAttr bias, int64_t out, mlir::LocationAttr at,
              double scale = 1);
  transformer::NormAttr norm(const Norm &norm, llvm::StringRef name);
  transformer::ScaleAttr scale(const Scale &scale, const Unit &unit,
                               llvm::StringRef slot, int64_t layer);
  mlir::ArrayAttr norms(const PerLayer<Norm> &slot, const Unit &unit,
                        llvm::StringRef name, int64_t layer, bool shared);

  Value embed();
  Value residual(Value x, const Unit &unit, int64_t layer);
  Value attend(Value u, const Branch &branch, int64_t layer);
  Value feedForward(Value u, const Branch &branch, int64_t layer);
  void splitFused(const FeedForward &ffn, llvm::StringRef name,
                  llvm::StringRef suffix, llvm::ArrayRef<Dimension> rest,
                  mlir::LocationAttr at);
  Value head(Value x);
  Value pooled(Value x);

  void declareInputs();
  Value input(llvm::StringRef name);
  void keep(Value x, int64_t index, mlir::LocationAttr at);
  void describe(transformer::ModelOp model);

  const ModelSpec &spec;
  WeightSource &weights;
  const BuildOptions &options;
  mlir::MLIRContext &context;
  mlir::OpBuilder op;
  mlir::Type f32;
  mlir::func::FuncOp forward;
  std::vector<Input> inputs;
  llvm::StringSet<> made;
};

} // namespace mille::import

// Makes parameters that are computed from others, for passes that fold factors.
// Must not decide what to fold.
#pragma once
#include "compiler/rewrite/Cost.h"
#include "dialects/transformer/Transformer.h"

#include <string>

namespace mille::rewrite {

class Derive {
public:
  explicit Derive(transformer::ModelOp model);

  // A parameter with the value `value`. Its name is that of `from` with `how`
  // after the owner: @o.weight -> @o_scaled.weight. Equal values share one
  // parameter.
  mlir::FlatSymbolRefAttr parameter(mlir::FlatSymbolRefAttr from,
                                    llvm::StringRef how, mlir::Attribute value);

  // factor * @symbol. The factor is a number, or the symbol of a scalar or of a
  // vector with one number per row.
  mlir::FlatSymbolRefAttr scaled(mlir::FlatSymbolRefAttr symbol,
                                 mlir::Attribute factor);

private:
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> known;
};

// The number of linears that read each weight. A fold into a weight is free if
// all of them take the same factor.
class WeightReaders {
public:
  explicit WeightReaders(transformer::ModelOp model);
  size_t count(mlir::FlatSymbolRefAttr weight) const {
    return counts.lookup(weight);
  }

private:
  llvm::DenseMap<mlir::Attribute, size_t> counts;
};

// The cost of a fold into a weight that another linear reads without the
// factor.
Cost costOfCopy(transformer::LinearOp linear);

// The factors that a pass wants to fold into each weight.
class SameFactors {
public:
  void add(mlir::FlatSymbolRefAttr weight, mlir::Attribute factor);
  // Whether all readers of the weight take one factor.
  bool all(mlir::FlatSymbolRefAttr weight, const WeightReaders &readers) const;

private:
  struct Taken {
    mlir::Attribute factor;
    size_t count = 0;
    bool differ = false;
  };
  llvm::DenseMap<mlir::Attribute, Taken> taken;
};

bool isPowerOfTwo(double value);

} // namespace mille::rewrite

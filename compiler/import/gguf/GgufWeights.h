// Turns tensors of GGUF files into the parameters of a family by undoing the
// changes of converters. Must only move and add numbers, so that all stay
// exact.
#pragma once
#include "compiler/import/HuggingFace.h"
#include "compiler/import/gguf/Architectures.h"

namespace mille::import {

// The family with the names of tensors in GGUF files.
Family withGgufNames(const Architecture &architecture);

class GgufWeights : public WeightSource {
public:
  // `family`: withGgufNames(architecture), which outlives this.
  GgufWeights(const Architecture &architecture, const Family &family,
              StoredTensors &tensors, mlir::LocationAttr at, Problems &problems,
              mlir::MLIRContext &context)
      : architecture(architecture), tensors(tensors), context(context),
        stored(family, tensors, at, problems, context) {}
  mlir::Attribute value(const Wanted &wanted) override;
  bool differ(llvm::StringRef tied, llvm::StringRef to) override {
    return stored.differ(tied, to);
  }
  void noteUnused() { stored.noteUnused(); }

private:
  mlir::Attribute reshaped(mlir::Attribute value,
                           llvm::ArrayRef<int64_t> shape);
  mlir::Attribute permuted(mlir::Attribute value,
                           llvm::ArrayRef<int64_t> order);
  mlir::Attribute halvesOfHeads(mlir::Attribute value, const Wanted &wanted);
  mlir::Attribute keysAndValues(const Wanted &wanted);

  const Architecture &architecture;
  StoredTensors &tensors;
  mlir::MLIRContext &context;
  FamilyWeights stored;
};

} // namespace mille::import

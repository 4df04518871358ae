// Initial weights by recipe: a distribution for each role of a parameter.
#pragma once
#include "compiler/import/WeightSource.h"

namespace mille::import {

enum class Scheme { bert, gpt2, llama, deepnorm, xavier, he, lecun };
llvm::ArrayRef<llvm::StringRef> schemeNames();

class Recipe : public WeightSource {
public:
  Recipe(Scheme scheme, uint64_t seed, int64_t layers,
         mlir::MLIRContext &context)
      : scheme(scheme), seed(seed), layers(layers), context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;

private:
  double deviation(const Wanted &wanted) const;
  Scheme scheme;
  uint64_t seed;
  int64_t layers;
  mlir::MLIRContext &context;
};

// Every element 0: a model's shape without its weights.
class NoWeights : public WeightSource {
public:
  explicit NoWeights(mlir::MLIRContext &context) : context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;

private:
  mlir::MLIRContext &context;
};

} // namespace mille::import

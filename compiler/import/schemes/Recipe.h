// Makes initial weights by the table in Schemes.h, which has a distribution for
// each role of a parameter. Must not draw numbers.
#pragma once
#include "compiler/import/Problems.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/schemes/Schemes.h"

namespace mille::import {

// A weight that a recipe made, under its name in files.
struct MadeWeight {
  std::string name;
  llvm::SmallVector<int64_t> shape;
  mlir::Attribute value;
};

// Reports each unit of `spec` for which the scheme is not defined, with the
// reason.
void checkScheme(Scheme scheme, const ModelSpec &spec, Problems &problems);

// The placement that a rule of the table requires.
Placement placementOf(const Unit &unit, int64_t layer);

// The value of a formula of the table, given the names that a stack defines.
class DepthNames {
public:
  DepthNames(const ModelSpec &spec, const Stack &stack);
  double
  value(llvm::StringRef formula,
        llvm::ArrayRef<std::pair<llvm::StringRef, double>> more = {}) const;
  Stacks which; // never `any`

private:
  llvm::SmallVector<std::pair<llvm::StringRef, double>> names;
};

class Recipe : public WeightSource {
public:
  Recipe(Scheme scheme, uint64_t seed, const ModelSpec &spec,
         mlir::MLIRContext &context)
      : entry(entryOf(scheme)), seed(seed), spec(spec), context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;

  std::vector<MadeWeight> made; // in the order of requests

private:
  struct Filling {
    transformer::Distribution distribution = transformer::Distribution::fixed;
    double mean = 0, deviation = 0, cut = 0;
    bool operator==(const Filling &other) const {
      return distribution == other.distribution && mean == other.mean &&
             deviation == other.deviation && cut == other.cut;
    }
  };
  Filling filling(const Wanted &wanted, Role role, int64_t fanOut) const;
  Filling fill(const Rule &rule, const Wanted &wanted, int64_t fanOut) const;
  const Rule *ruleFor(const Wanted &wanted, Parts part, bool bias) const;
  mlir::Attribute drawn(const Filling &filling, llvm::StringRef stream,
                        llvm::ArrayRef<int64_t> shape) const;
  mlir::Attribute joined(const Wanted &wanted,
                         llvm::ArrayRef<Filling> fillings) const;

  const SchemeEntry &entry;
  uint64_t seed;
  const ModelSpec &spec;
  mlir::MLIRContext &context;
};

// Makes every element 0: for a model's shape without its weights.
class NoWeights : public WeightSource {
public:
  explicit NoWeights(mlir::MLIRContext &context) : context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;

private:
  mlir::MLIRContext &context;
};

} // namespace mille::import

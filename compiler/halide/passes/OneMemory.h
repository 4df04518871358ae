// Functions that lie in the memory of another function: the base class of
// passes that place them. Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <map>

namespace mille {

// Loads of a placed function get the name of the memory that it lies in, and
// its own allocation is removed.
class OneMemory : public Halide::Internal::IRMutator {
protected:
  using Expr = Halide::Expr;
  using Stmt = Halide::Internal::Stmt;
  using IRMutator::visit;

  bool isPlaced(const std::string &name) const { return memoryOf.count(name); }
  const std::string &nameOf(const std::string &name) const {
    auto found = memoryOf.find(name);
    return found == memoryOf.end() ? name : found->second;
  }

  Expr visit(const Halide::Internal::Load *op) override {
    return Halide::Internal::Load::make(op->type, nameOf(op->name),
                                        mutate(op->index), op->image, op->param,
                                        mutate(op->predicate), op->alignment);
  }
  Stmt visit(const Halide::Internal::Allocate *op) override {
    return isPlaced(op->name) ? mutate(op->body) : IRMutator::visit(op);
  }
  // The memory lives to the end of its scope, as the function in it does.
  Stmt visit(const Halide::Internal::Free *op) override {
    for (auto &[placed, memory] : memoryOf)
      if (op->name == placed || op->name == memory)
        return Halide::Internal::Evaluate::make(0);
    return op;
  }

  std::map<std::string, std::string> memoryOf; // of each placed function
};

} // namespace mille

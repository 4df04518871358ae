// Functions that lie in the memory of others: a base of passes over the lowered
// program. Private to this room.
#pragma once
#include "Halide.h"

#include <map>

namespace mille {

// Loads of what is `placed` get the name of the memory that it lies in, and it
// has none of its own.
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
  // The memory lives as long as what lies in it: to the end of its scope.
  Stmt visit(const Halide::Internal::Free *op) override {
    for (auto &[placed, memory] : memoryOf)
      if (op->name == placed || op->name == memory)
        return Halide::Internal::Evaluate::make(0);
    return op;
  }

  std::map<std::string, std::string> memoryOf; // of what is placed
};

} // namespace mille

// Halide reuses the stack memory of a freed allocation for a later allocation
// of the same type. Where the freed one was read at an index that is not a
// constant, LLVM cannot put the later one into registers, and stores a sum
// after each product: attention of 12 heads of 96 and of 80 took 1.6 times as
// long. So this pass allocates registers as elements of a type that no other
// allocation has.
// Must not change what is loaded and stored: loads and stores name their type.
#include "compiler/halide/passes/RegistersApart.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class RegistersApart : public IRMutator {
  using IRMutator::visit;
  Stmt visit(const Allocate *op) override {
    const int elements = op->constant_allocation_size();
    if (op->memory_type != MemoryType::Register || elements == 0)
      return IRMutator::visit(op);
    const Type unshared = UInt(64);
    const int bytes = elements * op->type.bytes();
    return Allocate::make(op->name, unshared, op->memory_type,
                          {(bytes + unshared.bytes() - 1) / unshared.bytes()},
                          op->condition, mutate(op->body));
  }
};

} // namespace

IRMutator *keepRegistersApart() { return new RegistersApart; }

} // namespace mille

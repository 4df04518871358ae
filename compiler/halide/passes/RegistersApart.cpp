// On the stack Halide gives what is allocated later the place of what is freed
// and of the same type. Where that was read by an index which is not a
// constant, LLVM makes no registers of the place, and stores a sum after each
// product: attention of 12 x 96 and 12 x 80 took 1.6 times as long. So what
// shall be registers is allocated as elements of a type that nothing else has.
// Must not change what is loaded and stored: both name their own type.
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
    const Type apart = UInt(64);
    const int bytes = elements * op->type.bytes();
    return Allocate::make(op->name, apart, op->memory_type,
                          {(bytes + apart.bytes() - 1) / apart.bytes()},
                          op->condition, mutate(op->body));
  }
};

} // namespace

IRMutator *keepRegistersApart() { return new RegistersApart; }

} // namespace mille

// Gives loads of parts the name of the words.
// Must not be used for words at a constant index: Halide describes such
// accesses to LLVM by their element type, and the two types differ.
#include "compiler/halide/attention/Words.h"
#include "compiler/halide/passes/OneMemory.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class ShareWords : public OneMemory {
public:
  explicit ShareWords(const std::vector<Words> &all) {
    for (const Words &w : all)
      memoryOf[w.parts.name()] = w.words.name();
  }

private:
  using OneMemory::visit;

  Stmt visit(const ProducerConsumer *op) override {
    if (isPlaced(op->name) && op->is_producer)
      return Evaluate::make(0);
    return OneMemory::visit(op);
  }
};

} // namespace

void readAsParts(Words &w, Type type, const Var &part,
                 const std::vector<Var> &arguments) {
  std::vector<Var> all{part};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<Expr> of(arguments.begin(), arguments.end());
  w.parts(all) = reinterpret(
      type, cast(UInt(type.bits()),
                 w.words(of) >> cast<uint32_t>(type.bits() * part)));
}

IRMutator *shareWords(const std::vector<Words> &all) {
  return new ShareWords(all);
}

} // namespace mille

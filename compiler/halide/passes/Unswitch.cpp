// Loop unswitching: LLVM does it for small loops only, and tests the condition
// of a large one in every iteration. Must not change what is computed.
#include "compiler/halide/passes/Unswitch.h"

#include "compiler/halide/passes/Loops.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// The first condition that lowering has found to be loop-invariant: a variable
// that is defined before the loop.
class FirstCondition : public IRVisitor {
public:
  Expr found;

private:
  using IRVisitor::visit;
  void visit(const IfThenElse *choice) override {
    if (!found.defined() && choice->condition.as<Variable>())
      found = choice->condition;
    IRVisitor::visit(choice);
  }
};

// A body in which a condition is known: where it does not hold, no later one
// does.
class Settled : public IRMutator {
public:
  Settled(const Expr &condition, bool value)
      : condition(condition), value(value) {}

private:
  using IRMutator::visit;
  Stmt visit(const IfThenElse *choice) override {
    if (!choice->condition.as<Variable>() ||
        (value && !equal(choice->condition, condition)))
      return IRMutator::visit(choice);
    if (value)
      return mutate(choice->then_case);
    return choice->else_case.defined() ? mutate(choice->else_case)
                                       : Evaluate::make(0);
  }
  Expr condition;
  bool value;
};

class UnswitchUpdate : public IRMutator {
public:
  explicit UnswitchUpdate(const std::string &function)
      : prefix(function + ".s1.") {}

private:
  using IRMutator::visit;
  Stmt visit(const For *loop) override {
    if (!starts_with(loop->name, prefix))
      return IRMutator::visit(loop);
    return unswitched(loop, [](const For *plain) { return Stmt(plain); });
  }
  std::string prefix;
};

} // namespace

IRMutator *unswitchUpdate(std::string function) {
  return new UnswitchUpdate(function);
}

Expr firstCondition(const Stmt &body) {
  FirstCondition first;
  body.accept(&first);
  return first.found;
}

Stmt unswitched(const For *loop, const std::function<Stmt(const For *)> &make) {
  const Expr first = firstCondition(loop->body);
  if (!first.defined())
    return make(loop);
  auto where = [&](bool value) {
    Stmt settled = loopLike(loop, loop->name, loop->min, loop->extent,
                            Settled(first, value).mutate(loop->body));
    return unswitched(settled.as<For>(), make);
  };
  return IfThenElse::make(first, where(true), where(false));
}

} // namespace mille

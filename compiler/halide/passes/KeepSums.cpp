// A kernel that adds to what its out holds would load and store each sum in
// every step of the loop over rows. LLVM moves few of these out of the loop,
// and none that is predicated.
// Must add in the order of the loop, and touch no place that the loop does not.
#include "compiler/halide/passes/KeepSums.h"

#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// The memory of the sums: `lanes` numbers for each store of the loop's body, in
// the order of the body.
struct Places {
  std::string out, sums;
  int used = 0;

  Expr take(int lanes) {
    Expr at = used;
    used += lanes;
    return lanes == 1 ? at : Ramp::make(at, 1, lanes);
  }
};

// A copy of the loop's body in which each store of a sum is a copy between its
// place in the out and its place in the sums.
class Copies : public IRMutator {
public:
  Copies(const Places &places, const std::string &loop, bool back)
      : places(places), loop(loop), back(back) {}

private:
  using IRMutator::visit;

  Stmt visit(const LetStmt *let) override {
    return mutate(substitute(let->name, let->value, let->body));
  }
  // Whether a step of the loop adds is nothing to the places.
  Stmt visit(const IfThenElse *op) override {
    if (!stmt_or_expr_uses_var(op->condition, loop) || op->else_case.defined())
      return IRMutator::visit(op);
    return mutate(op->then_case);
  }
  Stmt visit(const Store *store) override {
    const Type type = store->value.type();
    Expr at = places.take(type.lanes());
    Expr all = const_true(type.lanes());
    if (back)
      return Store::make(store->name,
                         Load::make(type, places.sums, at, Buffer<>(),
                                    Parameter(), all, ModulusRemainder()),
                         store->index, store->param, store->predicate,
                         store->alignment);
    return Store::make(places.sums,
                       Load::make(type, store->name, store->index, Buffer<>(),
                                  store->param, store->predicate,
                                  store->alignment),
                       at, Parameter(), all, ModulusRemainder());
  }

  Places places;
  const std::string &loop;
  bool back;
};

// Prefetches the place of each vector of sums in the next run of the loop.
class Ahead : public IRVisitor {
public:
  explicit Ahead(int ahead) : ahead(ahead) {}
  Stmt all;

private:
  using IRVisitor::visit;

  void visit(const Store *store) override {
    const Ramp *ramp = store->index.as<Ramp>();
    if (!ahead || !ramp || !is_const_one(ramp->stride))
      return;
    Stmt one = prefetchLine(store->name, 4, ramp->base + ahead);
    all = all.defined() ? Block::make(all, one) : one;
  }

  const int ahead;
};

// The loop's body over the sums.
class OverSums : public IRMutator {
public:
  OverSums(Places places, const std::string &loop, bool whole)
      : places(std::move(places)), loop(loop), whole(whole) {}
  Places places;
  Type element = Float(32);
  bool isPlain = true;

private:
  using IRMutator::visit;

  Stmt visit(const IfThenElse *op) override {
    if (!whole || stmt_or_expr_uses_var(op->condition, loop) ||
        op->else_case.defined())
      return IRMutator::visit(op);
    return mutate(op->then_case);
  }
  Stmt visit(const Store *store) override {
    const Type type = store->value.type();
    isPlain &= store->name == places.out;
    index = store->index;
    element = type.element_of();
    at = places.take(type.lanes());
    Expr value = mutate(store->value);
    return Store::make(places.sums, value, at, Parameter(),
                       const_true(type.lanes()), ModulusRemainder());
  }
  Expr visit(const Load *load) override {
    if (load->name != places.out)
      return IRMutator::visit(load);
    isPlain &= equal(load->index, index);
    return Load::make(load->type, places.sums, at, Buffer<>(), Parameter(),
                      const_true(load->type.lanes()), ModulusRemainder());
  }
  Stmt visit(const For *inner) override {
    isPlain = false;
    return inner;
  }
  Stmt visit(const Allocate *inner) override {
    isPlain = false;
    return inner;
  }

  const std::string &loop;
  const bool whole;
  Expr index, at;
};

class KeepSums : public IRMutator {
public:
  explicit KeepSums(KeptSums what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const For *loop) override {
    if (!isOver(loop, what.loop))
      return IRMutator::visit(loop);
    Places places{what.out, what.out + "_sums" + std::to_string(count)};
    OverSums over(places, loop->name, what.whole);
    Stmt body = over.mutate(loop->body);
    Stmt into = Copies(places, loop->name, false).mutate(loop->body),
         from = Copies(places, loop->name, true).mutate(loop->body);
    if (!over.isPlain || !over.places.used ||
        stmt_or_expr_uses_var(into, loop->name) ||
        stmt_or_expr_uses_var(from, loop->name))
      return IRMutator::visit(loop);
    ++count;
    Ahead ahead(what.ahead);
    from.accept(&ahead);
    std::vector<Stmt> parts{
        into, loopLike(loop, loop->name, loop->min, loop->extent, body), from};
    if (ahead.all.defined())
      parts.insert(parts.begin() + 1, ahead.all);
    Stmt all = Block::make(parts);
    return Allocate::make(places.sums, over.element, MemoryType::Register,
                          {over.places.used}, const_true(), all);
  }

  KeptSums what;
  int count = 0;
};

} // namespace

IRMutator *keepSums(KeptSums what) { return new KeepSums(std::move(what)); }

} // namespace mille

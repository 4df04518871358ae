// An element's index is item * each + its place in the item. Without the item
// the index is a constant, and constants make registers of memory.
// Must leave everything else as it is.
#include "compiler/halide/passes/ItemRegisters.h"

#include <map>

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

bool isItem(const std::string &name) {
  return name.find(".thread_id_") != std::string::npos;
}

// An expression for work-item 0, with all names replaced by their values.
class OfFirstItem : public IRMutator {
public:
  explicit OfFirstItem(const std::map<std::string, Expr> &values)
      : values(values) {}

private:
  using IRMutator::visit;
  Expr visit(const Variable *op) override {
    if (isItem(op->name))
      return make_zero(op->type);
    auto found = values.find(op->name);
    return found == values.end() ? Expr(op) : mutate(found->second);
  }
  const std::map<std::string, Expr> &values;
};

class ItemRegisters : public IRMutator {
public:
  ItemRegisters(const std::string &func, int each) : func(func), each(each) {}

private:
  using IRMutator::visit;

  bool isTheFunc(const std::string &name) const {
    return name == func || name.compare(0, func.size() + 1, func + ".") == 0;
  }
  Expr placeInItem(const Expr &index) const {
    Expr place = simplify(OfFirstItem(values).mutate(index));
    const Ramp *ramp = place.as<Ramp>();
    if (!is_const(ramp ? ramp->base : place))
      throw CompileError("a sum's place in its item is not known");
    return place;
  }

  template <typename T> auto inScope(const T *op) {
    std::map<std::string, Expr> outer = values;
    values[op->name] = op->value;
    auto result = IRMutator::visit(op);
    values = std::move(outer);
    return result;
  }
  Stmt visit(const LetStmt *op) override { return inScope(op); }
  Expr visit(const Let *op) override { return inScope(op); }
  Stmt visit(const Allocate *op) override {
    if (!isTheFunc(op->name))
      return IRMutator::visit(op);
    return Allocate::make(op->name, op->type, op->memory_type, {each},
                          op->condition, mutate(op->body), op->new_expr,
                          op->free_function, op->padding);
  }
  Expr visit(const Load *op) override {
    if (!isTheFunc(op->name))
      return IRMutator::visit(op);
    return Load::make(op->type, op->name, placeInItem(op->index), op->image,
                      op->param, op->predicate, ModulusRemainder());
  }
  Stmt visit(const Store *op) override {
    if (!isTheFunc(op->name))
      return IRMutator::visit(op);
    return Store::make(op->name, mutate(op->value), placeInItem(op->index),
                       op->param, op->predicate, ModulusRemainder());
  }

  const std::string func;
  const int each;
  std::map<std::string, Expr> values; // of names in scope
};

} // namespace

IRMutator *itemRegisters(const std::string &func, int each) {
  return new ItemRegisters(func, each);
}

} // namespace mille

// Where the loops of a statement read a buffer first.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/passes/Loops.h"

#include "Halide.h"

namespace mille {

// A value found inside a statement's loops, expressed by names that are known
// outside of the loops. Each loop is taken at its first iteration, except the
// loop `row`, which is taken at iteration `iteration`.
class FoundInLoops : public Halide::Internal::IRVisitor {
public:
  explicit FoundInLoops(const std::string &row = "", int iteration = 0)
      : row(row), iteration(iteration) {}
  Halide::Expr value;

protected:
  using Halide::Internal::IRVisitor::visit;

  void visit(const Halide::Internal::For *loop) override {
    within(loop->name, isOver(loop, row) ? loop->min + iteration : loop->min,
           loop->body);
  }
  void visit(const Halide::Internal::LetStmt *let) override {
    within(let->name, let->value, let->body);
  }
  void visit(const Halide::Internal::Let *let) override {
    within(let->name, let->value, let->body);
  }

private:
  template <typename Body>
  void within(const std::string &variable, const Halide::Expr &of,
              const Body &body) {
    const bool known = value.defined();
    body.accept(this);
    if (!known && value.defined())
      value = Halide::Internal::substitute(variable, of, value);
  }
  std::string row;
  int iteration;
};

// The first byte that is read of a buffer.
class FirstByte : public FoundInLoops {
public:
  FirstByte(const std::string &buffer, const std::string &row, int iteration)
      : FoundInLoops(row, iteration), buffer(buffer) {}

private:
  using FoundInLoops::visit;
  void visit(const Halide::Internal::Load *load) override {
    if (!value.defined() && load->name == buffer)
      value = Halide::cast<int64_t>(load->index) * load->type.bytes();
    FoundInLoops::visit(load);
  }
  std::string buffer;
};

// The first byte that loops read of a buffer; the loop `row` is taken at
// `iteration`.
inline Halide::Expr firstByte(const Halide::Internal::Stmt &loops,
                              const std::string &buffer, const std::string &row,
                              int iteration) {
  FirstByte found(buffer, row, iteration);
  loops.accept(&found);
  return found.value;
}

// How many rows of the input the iterations from `first` to `last` of the loop
// `row` read: past the last row they repeat it.
inline Halide::Expr rowsRead(const Halide::Internal::Stmt &loops,
                             const std::string &input, const std::string &row,
                             int first, int last, int rowBytes) {
  const Halide::Expr later = (firstByte(loops, input, row, last) -
                              firstByte(loops, input, row, first)) /
                             rowBytes;
  return Halide::Internal::simplify(Halide::cast<int>(later) + 1);
}

} // namespace mille

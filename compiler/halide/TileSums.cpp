// Must keep the loops' addresses: what is multiplied is what they read first.
#include "compiler/halide/TileSums.h"

#include "compiler/halide/Prefetch.h"
#include "compiler/halide/TileInstructions.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

constexpr int mostRows = 32; // of a call

bool isOver(const For *loop, const std::string &variable) {
  return ends_with(loop->name, "." + variable) ||
         ends_with(loop->name, "." + variable + ".rebased");
}

// What is found in a statement's loops, as of outside: at their first turn, but for one
// loop that may be at another.
class Found : public IRVisitor {
public:
  explicit Found(const std::string &row = "", int turn = 0) : row(row), turn(turn) {}
  Expr value;

protected:
  using IRVisitor::visit;

  void visit(const For *loop) override {
    within(loop->name, isOver(loop, row) ? loop->min + turn : loop->min, loop->body);
  }
  void visit(const LetStmt *let) override { within(let->name, let->value, let->body); }
  void visit(const Let *let) override { within(let->name, let->value, let->body); }

private:
  template <typename Body>
  void within(const std::string &variable, const Expr &of, const Body &body) {
    const bool known = value.defined();
    body.accept(this);
    if (!known && value.defined())
      value = substitute(variable, of, value);
  }
  std::string row;
  int turn;
};

// The byte that is read of a buffer.
class Place : public Found {
public:
  Place(const std::string &buffer, const std::string &row, int turn)
      : Found(row, turn), buffer(buffer) {}

private:
  using Found::visit;
  void visit(const Load *load) override {
    if (!value.defined() && load->name == buffer)
      value = cast<int64_t>(load->index) * load->type.bytes();
    Found::visit(load);
  }
  std::string buffer;
};

class Extent : public Found {
public:
  explicit Extent(const std::string &variable) : variable(variable) {}

private:
  using Found::visit;
  void visit(const For *loop) override {
    if (!value.defined() && isOver(loop, variable))
      value = loop->extent;
    else
      Found::visit(loop);
  }
  std::string variable;
};

// Under what condition loops do anything, and which of them has one of its turns.
class Condition : public IRVisitor {
public:
  Expr value = const_true();
  std::string loopOfTurns;

private:
  using IRVisitor::visit;

  void visit(const For *loop) override {
    IRVisitor::visit(loop);
    if (expr_uses_var(value, loop->name))
      loopOfTurns = loop->name;
  }
  void visit(const LetStmt *let) override {
    let->body.accept(this);
    value = substitute(let->name, let->value, value);
  }
  void visit(const IfThenElse *choice) override {
    IRVisitor::visit(choice);
    value = value && choice->condition;
  }
};

class SumInTileRegisters : public IRMutator {
public:
  explicit SumInTileRegisters(TileSums what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const For *loop) override {
    if (inSums && loop->name.find(what.sums + ".s1.") == 0)
      return sumsOf(loop);
    for (auto [name, value] : {std::pair{&what.panel, &panel}, std::pair{&what.tile, &tile}})
      if (!name->empty() && isOver(loop, *name)) {
        const Expr outer = *value, outerTiles = tiles;
        *value = Variable::make(Int(32), loop->name);
        if (value == &tile)
          tiles = loop->extent;
        Stmt inner = IRMutator::visit(loop);
        *value = outer;
        tiles = outerTiles;
        return inner;
      }
    return IRMutator::visit(loop);
  }

  Stmt visit(const ProducerConsumer *op) override {
    if (!op->is_producer || op->name != what.sums)
      return IRMutator::visit(op);
    if (!what.adds)
      return ProducerConsumer::make_produce(op->name, calls(op->body));
    inSums = true;
    Stmt body = mutate(op->body);
    inSums = false;
    return ProducerConsumer::make_produce(op->name, body);
  }

  // A step at a time where not every one is taken.
  Stmt sumsOf(const For *loop) const {
    Condition condition;
    loop->accept(&condition);
    if (condition.loopOfTurns != loop->name || !isOver(loop, what.step))
      return calls(loop);
    return For::make(loop->name, loop->min, loop->extent, loop->for_type,
                     loop->partition_policy, loop->device_api, calls(loop->body));
  }

  // One for 32 rows each.
  Stmt calls(const Stmt &loops) const {
    std::vector<Stmt> all;
    for (int first = 0; first < what.rows; first += mostRows)
      all.push_back(call(loops, first, std::min(first + mostRows, what.rows) - 1));
    Condition condition;
    loops.accept(&condition);
    if (!condition.loopOfTurns.empty())
      throw CompileError("tile registers cannot leave out turns of " + condition.loopOfTurns);
    const Expr any = simplify(condition.value);
    return is_const_one(any) ? Block::make(all) : IfThenElse::make(any, Block::make(all));
  }

  Stmt call(const Stmt &loops, int first, int last) const {
    std::vector<Expr> arguments;
    for (const std::string &buffer : {what.input, what.weight, what.sums}) {
      arguments.push_back(Variable::make(Handle(), buffer));
      arguments.push_back(simplify(byteAt(loops, buffer, first)));
    }
    Expr rowsLater = (byteAt(loops, what.input, last) - byteAt(loops, what.input, first)) /
                     what.rowBytes;
    const auto [next, lines] = askedFor(byteAt(loops, what.weight, 0));
    arguments.insert(arguments.end(),
                     {simplify(next), simplify(lines), simplify(cast<int>(rowsLater) + 1),
                      simplify(stepsOf(loops)), what.tileColumns, what.columnBytes,
                      what.rowBytes, what.stepBytes, what.groupBytes, what.weightStepBytes,
                      what.innerBytes, int(what.ofBytes), int(what.adds)});
    return Evaluate::make(Call::make(Int(32), tileSumsName, arguments, Call::Extern));
  }

  Expr byteAt(const Stmt &loops, const std::string &buffer, int turn) const {
    Place place(buffer, what.row, turn);
    loops.accept(&place);
    return place.value;
  }

  // Of 64 bytes. A loop of one turn is gone.
  Expr stepsOf(const Stmt &loops) const {
    if (what.step.empty())
      return what.innerBytes / 64;
    Extent extent(what.step);
    loops.accept(&extent);
    return extent.value.defined() ? max(extent.value, 0) : Expr(1);
  }

  // Each tile asks for its share of the panel that follows the one it reads: from which
  // byte, and lines.
  std::pair<Expr, Expr> askedFor(const Expr &read) const {
    if (!panel.defined() || !what.panelBytes) // or the last, partial one
      return {cast<int64_t>(0), 0};
    const int lines = what.panelBytes / lineBytes;
    Expr shares = tiles * what.slices, share = (lines + shares - 1) / shares;
    Expr number = panel % what.slices * tiles + tile;
    Expr next = (read / what.panelBytes + 1) * what.panelBytes;
    return {next + cast<int64_t>(number * share * lineBytes), share};
  }

  TileSums what;
  bool inSums = false;
  Expr panel, tile, tiles; // where the loops are, and the inner one's extent
};

} // namespace

IRMutator *sumInTileRegisters(TileSums what) {
  return new SumInTileRegisters(std::move(what));
}

} // namespace mille

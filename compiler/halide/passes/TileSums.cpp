// Must keep the loops' addresses: what is multiplied is what they read first.
#include "compiler/halide/passes/TileSums.h"

#include "compiler/halide/instructions/TileInstructions.h"
#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

constexpr int mostRows = 32; // of a call
// So many that what the sums need does not push the taker's values out of
// registers, so few that a core looks ahead to the next.
constexpr int rowsBetween = 4;
constexpr int sumsPlace = 4; // among a call's arguments

// What is found in a statement's loops, as of outside: at their first turn, but
// for one loop that may be at another.
class Found : public IRVisitor {
public:
  explicit Found(const std::string &row = "", int turn = 0)
      : row(row), turn(turn) {}
  Expr value;

protected:
  using IRVisitor::visit;

  void visit(const For *loop) override {
    within(loop->name, isOver(loop, row) ? loop->min + turn : loop->min,
           loop->body);
  }
  void visit(const LetStmt *let) override {
    within(let->name, let->value, let->body);
  }
  void visit(const Let *let) override {
    within(let->name, let->value, let->body);
  }

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

// Under what condition loops do anything, and which of them has one of its
// turns.
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

// A loop that the walk is in.
struct Turns {
  std::string loop;
  Expr min, extent;

  bool defined() const { return !loop.empty(); }
  Expr at() const { return Variable::make(Int(32), loop); }
};

class SumInTileRegisters : public IRMutator {
public:
  explicit SumInTileRegisters(TileSums what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const For *loop) override {
    if (inSums && loop->name.find(what.sums + ".s1.") == 0)
      return sumsOf(loop);
    for (auto [name, turns] :
         {std::pair{&what.panel, &panel}, std::pair{&what.tile, &tile}})
      if (!name->empty() && isOver(loop, *name))
        return within(*turns, loop);
    if (!what.taker.empty() && isOver(loop, what.taker) && following.defined())
      return between(loop);
    return IRMutator::visit(loop);
  }

  Stmt visit(const LetStmt *let) override {
    if (!inTurns())
      return IRMutator::visit(let);
    lets.push_back({let->name, let->value});
    Stmt inner = IRMutator::visit(let);
    lets.pop_back();
    return inner;
  }

  bool inTurns() const { return panel.defined() || tile.defined(); }

  // The first tile's sums come before the outermost of the loops.
  Stmt within(Turns &turns, const For *loop) {
    const bool isOutermost = !inTurns();
    const Turns outer = turns;
    turns = {loop->name, loop->min, loop->extent};
    Stmt inner = IRMutator::visit(loop);
    turns = outer;
    if (following.defined())
      throw CompileError("no loop takes the sums of tile registers");
    if (!isOutermost || !before.defined())
      return inner;
    inner = Block::make(before, inner);
    before = Stmt();
    return inner;
  }

  Stmt visit(const ProducerConsumer *op) override {
    if (!op->is_producer || op->name != what.sums)
      return IRMutator::visit(op);
    if (!what.taker.empty() && tile.defined())
      return ProducerConsumer::make_produce(op->name, storeAndOpen(op->body));
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
    return loopLike(loop, loop->name, loop->min, loop->extent,
                    calls(loop->body));
  }

  // One for 32 rows each.
  Stmt calls(const Stmt &loops) const {
    std::vector<Stmt> all;
    for (int first = 0; first < what.rows; first += mostRows)
      all.push_back(
          call(loops, first, std::min(first + mostRows, what.rows) - 1));
    const Expr any = conditionOf(loops);
    return is_const_one(any) ? Block::make(all)
                             : IfThenElse::make(any, Block::make(all));
  }

  Expr conditionOf(const Stmt &loops) const {
    Condition condition;
    loops.accept(&condition);
    if (!condition.loopOfTurns.empty())
      throw CompileError("tile registers cannot leave out turns of " +
                         condition.loopOfTurns);
    return simplify(condition.value);
  }

  // A call's arguments but for the steps' range and parts.
  struct Tile {
    std::vector<Expr> places;
    Expr rows, steps;

    bool defined() const { return rows.defined(); }
  };

  Tile tileOf(const Stmt &loops, int first, int last) const {
    std::vector<Expr> places;
    for (const std::string &buffer : {what.input, what.weight, what.sums}) {
      places.push_back(Variable::make(Handle(), buffer));
      places.push_back(simplify(byteAt(loops, buffer, first)));
    }
    Expr rowsLater =
        (byteAt(loops, what.input, last) - byteAt(loops, what.input, first)) /
        what.rowBytes;
    const auto [next, lines] = askedFor(byteAt(loops, what.weight, 0));
    places.insert(places.end(), {simplify(next), simplify(lines)});
    return {places, simplify(cast<int>(rowsLater) + 1),
            simplify(stepsOf(loops))};
  }

  Stmt call(const Tile &of, const Expr &from, const Expr &to, int parts) const {
    std::vector<Expr> arguments = of.places;
    arguments.insert(arguments.end(),
                     {of.rows, of.steps, from, to, what.tileColumns,
                      what.columnBytes, what.rowBytes, what.stepBytes,
                      what.groupBytes, what.weightStepBytes, what.innerBytes,
                      int(what.ofBytes), int(what.adds), parts});
    return Evaluate::make(
        Call::make(Int(32), tileSumsName, arguments, Call::Extern));
  }

  Stmt call(const Stmt &loops, int first, int last) const {
    const Tile all = tileOf(loops, first, last);
    return call(all, 0, all.steps, allParts);
  }

  // The registers' sums are this tile's; from here on they are the following
  // one's: below it, or the first of the next panel.
  Stmt storeAndOpen(const Stmt &loops) {
    if (what.rows > mostRows || !is_const_one(conditionOf(loops)))
      throw CompileError("a tile's sums that others take are of one call");
    const Tile own = tileOf(loops, 0, what.rows - 1);
    taken = own.rows;
    Expr below = tile.at() + 1, isLastDown = below >= tile.min + tile.extent;
    Expr down = select(isLastDown, tile.min, below), across, any = !isLastDown;
    Expr filled = tile.extent > 0;
    if (panel.defined()) {
      across = panel.at() + select(isLastDown, 1, 0);
      any = any || across < panel.min + panel.extent;
      filled = filled && panel.extent > 0;
    }
    following = at(own, down, across);
    following.rows = select(any, following.rows, 0);
    following.steps = select(any, following.steps, 0);
    Tile first = at(own, tile.min, panel.min);
    first.rows = select(filled, first.rows, 0);
    first.places[sumsPlace] = first.places[0]; // where nothing is stored yet
    first.places[sumsPlace + 1] = cast<int64_t>(0);
    before = call(first, 0, first.steps, opensSums | addsRest);
    return Block::make(call(own, 0, 0, storesSums),
                       call(following, 0, 0, opensSums));
  }

  // A tile by the numbers of its loops' turns.
  Tile at(Tile of, const Expr &down, const Expr &across) const {
    auto elsewhere = [&](Expr value) {
      for (size_t i = lets.size(); i-- > 0;)
        value = substitute(lets[i].first, lets[i].second, value);
      value = substitute(tile.loop, down, value);
      return panel.defined() ? substitute(panel.loop, across, value) : value;
    };
    for (Expr &place : of.places)
      place = elsewhere(place);
    of.rows = elsewhere(of.rows);
    return of;
  }

  // As many steps between some turns as between others, and after the last what
  // is left: all where each tile has weights of its own, which come from
  // memory. The longer they have for it the better.
  Stmt between(const For *loop) {
    const Tile next = following;
    following = Tile();
    const int turnsBetween = std::max(rowsBetween / what.takerRows, 1);
    Expr extent =
        min(loop->extent, (taken + what.takerRows - 1) / what.takerRows);
    Expr turn = Variable::make(Int(32), loop->name) - loop->min;
    Expr steps = select(tile.extent > 1, next.steps, 0);
    auto until = [&](const Expr &turns) {
      Expr rows = (turns + turnsBetween - 1) / turnsBetween * turnsBetween *
                  what.takerRows;
      return rows * steps / what.rows;
    };
    Stmt some = call(next, until(turn), until(turn + 1), 0);
    Stmt body = Block::make(IfThenElse::make(turn % turnsBetween == 0, some),
                            loop->body);
    return Block::make(loopLike(loop, loop->name, loop->min, extent, body),
                       call(next, until(max(extent, 0)), next.steps, addsRest));
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

  // Each tile asks for its share of the panel that follows the one it reads:
  // from which byte, and lines.
  std::pair<Expr, Expr> askedFor(const Expr &read) const {
    if (!panel.defined() || !what.panelBytes) // or the last, partial one
      return {cast<int64_t>(0), 0};
    const int lines = what.panelBytes / lineBytes;
    Expr shares = tile.extent * what.slices,
         share = (lines + shares - 1) / shares;
    Expr number = panel.at() % what.slices * tile.extent + tile.at();
    Expr next = (read / what.panelBytes + 1) * what.panelBytes;
    return {next + cast<int64_t>(number * share * lineBytes), share};
  }

  TileSums what;
  bool inSums = false;
  Turns panel, tile;                              // where the loops are
  std::vector<std::pair<std::string, Expr>> lets; // in them
  Tile following; // the tile whose sums are added while a taker takes another's
  Expr taken;     // rows of that other
  Stmt before;    // what comes before the outermost of the loops
};

} // namespace

IRMutator *sumInTileRegisters(TileSums what) {
  return new SumInTileRegisters(std::move(what));
}

} // namespace mille

// Finds the addresses and conditions of the loops that add a tile's products,
// and makes the calls that replace these loops.
// Must keep the loops' addresses: a call reads from where the loops read first.
#include "compiler/halide/passes/TileSums.h"

#include "compiler/halide/instructions/TileInstructions.h"
#include "compiler/halide/passes/FirstByte.h"
#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

constexpr int mostRows = 32; // of one call
// Rows of the epilogue between two pieces of the next tile's sums. With fewer,
// the sums' operands would push the epilogue's values out of the registers;
// with more, a core could not look ahead to the next piece.
constexpr int rowsBetween = 4;
constexpr int sumsPlace = 4; // among a call's arguments

// The number of iterations of a loop.
class Extent : public FoundInLoops {
public:
  explicit Extent(const std::string &variable) : variable(variable) {}

private:
  using FoundInLoops::visit;
  void visit(const For *loop) override {
    if (!value.defined() && isOver(loop, variable))
      value = loop->extent;
    else
      FoundInLoops::visit(loop);
  }
  std::string variable;
};

// The condition under which a statement's loops do anything, and the loop, if
// any, whose iterations have different conditions.
class Condition : public IRVisitor {
public:
  Expr value = const_true();
  std::string dependsOn;

private:
  using IRVisitor::visit;

  void visit(const For *loop) override {
    IRVisitor::visit(loop);
    if (expr_uses_var(value, loop->name))
      dependsOn = loop->name;
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

// A loop that the walk is inside of.
struct Loop {
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
    for (auto [name, known] :
         {std::pair{&what.panel, &panel}, std::pair{&what.tile, &tile}})
      if (!name->empty() && isOver(loop, *name))
        return within(*known, loop);
    if (!what.epilogue.empty() && isOver(loop, what.epilogue) &&
        following.defined())
      return between(loop);
    return IRMutator::visit(loop);
  }

  Stmt visit(const LetStmt *let) override {
    if (!inLoops())
      return IRMutator::visit(let);
    lets.push_back({let->name, let->value});
    Stmt inner = IRMutator::visit(let);
    lets.pop_back();
    return inner;
  }

  bool inLoops() const { return panel.defined() || tile.defined(); }

  // The sums of the first tile are added before the outermost loop.
  Stmt within(Loop &known, const For *loop) {
    const bool isOutermost = !inLoops();
    const Loop outer = known;
    known = {loop->name, loop->min, loop->extent};
    Stmt inner = IRMutator::visit(loop);
    known = outer;
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
    if (!what.epilogue.empty() && tile.defined())
      return ProducerConsumer::make_produce(op->name, storeAndOpen(op->body));
    if (!what.adds)
      return ProducerConsumer::make_produce(op->name, calls(op->body));
    inSums = true;
    Stmt body = mutate(op->body);
    inSums = false;
    return ProducerConsumer::make_produce(op->name, body);
  }

  // One call for the loop over K, or one for each step where a condition leaves
  // steps out.
  Stmt sumsOf(const For *loop) const {
    Condition condition;
    loop->accept(&condition);
    if (condition.dependsOn != loop->name || !isOver(loop, what.step))
      return calls(loop);
    return loopLike(loop, loop->name, loop->min, loop->extent,
                    calls(loop->body));
  }

  // One call for each 32 rows.
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
    if (!condition.dependsOn.empty())
      throw CompileError("tile registers cannot leave out iterations of " +
                         condition.dependsOn);
    return simplify(condition.value);
  }

  // The arguments of a call, except the range of steps and the parts.
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
    const auto [next, lines] = prefetched(byteAt(loops, what.weight, 0));
    places.insert(places.end(), {simplify(next), simplify(lines)});
    return {places,
            rowsRead(loops, what.input, what.row, first, last, what.rowBytes),
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

  // Stores the sums of this tile, which the registers hold, and clears the
  // registers for the following tile: the tile below, or the first tile of the
  // next panel.
  Stmt storeAndOpen(const Stmt &loops) {
    if (what.rows > mostRows || !is_const_one(conditionOf(loops)))
      throw CompileError(
          "a tile's sums that an epilogue reads come from one call");
    const Tile current = tileOf(loops, 0, what.rows - 1);
    epilogueRows = current.rows;
    Expr below = tile.at() + 1, isLastDown = below >= tile.min + tile.extent;
    Expr down = select(isLastDown, tile.min, below), across, any = !isLastDown;
    Expr filled = tile.extent > 0;
    if (panel.defined()) {
      across = panel.at() + select(isLastDown, 1, 0);
      any = any || across < panel.min + panel.extent;
      filled = filled && panel.extent > 0;
    }
    following = at(current, down, across);
    following.rows = select(any, following.rows, 0);
    following.steps = select(any, following.steps, 0);
    Tile first = at(current, tile.min, panel.min);
    first.rows = select(filled, first.rows, 0);
    first.places[sumsPlace] = first.places[0]; // nothing is stored there yet
    first.places[sumsPlace + 1] = cast<int64_t>(0);
    before = call(first, 0, first.steps, opensSums | addsRest);
    return Block::make(call(current, 0, 0, storesSums),
                       call(following, 0, 0, opensSums));
  }

  // The arguments of `of` for another tile, by the numbers of its iterations.
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

  // The steps of K are shared evenly among the pauses between the epilogue's
  // iterations, and the rest follow the last one. Where each tile reads its own
  // weights, which come from memory, all steps follow the last iteration: the
  // prefetch has the longest time then.
  Stmt between(const For *loop) {
    const Tile next = following;
    following = Tile();
    const int iterationsBetween = std::max(rowsBetween / what.epilogueRows, 1);
    Expr extent = min(loop->extent, (epilogueRows + what.epilogueRows - 1) /
                                        what.epilogueRows);
    Expr iteration = Variable::make(Int(32), loop->name) - loop->min;
    Expr steps = select(tile.extent > 1, next.steps, 0);
    auto until = [&](const Expr &iterations) {
      Expr rows = (iterations + iterationsBetween - 1) / iterationsBetween *
                  iterationsBetween * what.epilogueRows;
      return rows * steps / what.rows;
    };
    Stmt some = call(next, until(iteration), until(iteration + 1), 0);
    Stmt body = Block::make(
        IfThenElse::make(iteration % iterationsBetween == 0, some), loop->body);
    return Block::make(loopLike(loop, loop->name, loop->min, extent, body),
                       call(next, until(max(extent, 0)), next.steps, addsRest));
  }

  Expr byteAt(const Stmt &loops, const std::string &buffer,
              int iteration) const {
    return firstByte(loops, buffer, what.row, iteration);
  }

  // The number of steps of 64 bytes. Halide removes a loop of one iteration.
  Expr stepsOf(const Stmt &loops) const {
    if (what.step.empty())
      return what.innerBytes / 64;
    Extent extent(what.step);
    loops.accept(&extent);
    return extent.value.defined() ? max(extent.value, 0) : Expr(1);
  }

  // Each tile prefetches its share of the panel after the one that it reads:
  // the first byte, and the number of lines.
  std::pair<Expr, Expr> prefetched(const Expr &read) const {
    if (!panel.defined() || !what.panelBytes) // or this is a partial panel
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
  Loop panel, tile;                               // the loops of this name
  std::vector<std::pair<std::string, Expr>> lets; // inside these loops
  Tile following;    // the tile whose products the epilogue's pauses add
  Expr epilogueRows; // of the tile whose sums the epilogue reads
  Stmt before;       // to be put before the outermost loop
};

} // namespace

IRMutator *sumInTileRegisters(TileSums what) {
  return new SumInTileRegisters(std::move(what));
}

} // namespace mille

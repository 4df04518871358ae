// A panel is read from far memory by its first tile and from L2 by the others.
// Without help the first waits for memory: this spreads the panel that follows
// over the first tiles of the panel before it, some cache lines in each step of K:
// one of the three or four where there are many tiles (over 16 tiles, a line in 4
// steps: the same, or 2 % slower), more where there are few rows.
// Must not change what is computed: an address past the last panel is a hint
// that goes nowhere.
#include "compiler/halide/Prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// The index of the first element that a body reads of a buffer.
class FirstRead : public IRVisitor {
public:
  explicit FirstRead(const std::string &name) : name(name) {}
  Expr index;

private:
  using IRVisitor::visit;
  void visit(const Load *load) override {
    if (load->name == name && !index.defined()) {
      const Ramp *ramp = load->index.as<Ramp>();
      index = ramp ? ramp->base : load->index;
    }
    IRVisitor::visit(load);
  }
  std::string name;
};

class PrefetchPanels : public IRMutator {
public:
  explicit PrefetchPanels(PanelPrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  static Expr variable(const std::string &name) {
    return Variable::make(Int(32), name);
  }

  // Keeps the loops around; the one over K gets the prefetch.
  Stmt visit(const For *loop) override {
    for (auto [name, value] :
         {std::pair{&what.panel, &panel}, std::pair{&what.tile, &tile}})
      if (endsWith(loop->name, "." + *name)) {
        Expr outer = *value;
        *value = variable(loop->name);
        (value == &panel ? panels : tiles) = loop->extent;
        Stmt inner = IRMutator::visit(loop);
        *value = outer;
        return inner;
      }
    if (loop->name.find(what.product + ".s1.") != 0)
      return IRMutator::visit(loop);
    FirstRead read(what.weight);
    loop->body.accept(&read);
    if (!read.index.defined() || !tile.defined() || !panel.defined())
      return IRMutator::visit(loop); // the last, partial panel
    return withPrefetch(loop, read.index);
  }

  static bool endsWith(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), std::string::npos, end) == 0;
  }

  // The loop as it is for tiles that have no share of the next panel. With fewer tiles
  // than all lines take each asks for more: of three lines two tiles for two, the second
  // beyond the panel's end.
  Stmt withPrefetch(const For *loop, const Expr &index) {
    Expr shares = sharesOf(what.lines);
    Stmt asking = askingFor(what.lines, loop, index);
    const int all = what.linesAlone;
    for (int lines = what.lines + 1; lines <= all; ++lines) {
      const int tilesShort = (all - 1) / (lines - 1); // of fewer lines, with so many
      if (tilesShort == (all - 1) / lines)
        continue;
      Expr few = tiles <= tilesShort;
      shares = select(few, sharesOf(lines), shares);
      asking = IfThenElse::make(few, askingFor(lines, loop, index), asking);
    }
    return IfThenElse::make(tile < shares, asking, loop);
  }

  // Elements that a tile asks for.
  int shareOf(int lines) const { return lineBytes / what.bytes * lines * what.steps; }
  int sharesOf(int lines) const {
    return (what.pieceElements + shareOf(lines) - 1) / shareOf(lines);
  }

  // The loop, in each step of which a tile asks for so many lines.
  Stmt askingFor(int lines, const For *loop, const Expr &index) const {
    const int line = lineBytes / what.bytes; // elements
    Expr start = substitute(loop->name, loop->min, index);
    // After a piece of the last panel comes the next piece of the first.
    Expr next = cast(start.type(), what.panelElements);
    if (what.pieceElements < what.panelElements)
      next = select(panel < panels - 1, next,
                    what.pieceElements - (panels - 1) * next);
    Expr ahead = start + next + tile * shareOf(lines);
    std::string name = loop->name + ".ahead";
    Stmt body = loop->body;
    for (int i = lines; i-- > 0;) {
      Expr address = variable(name) +
                     (variable(loop->name) - loop->min) * (line * lines) + i * line;
      body = Block::make(askFor(what.weight, what.bytes, simplify(address)), body);
    }
    Stmt asking = For::make(loop->name, loop->min, loop->extent, loop->for_type,
                            loop->partition_policy, loop->device_api, body);
    return LetStmt::make(name, simplify(ahead), asking);
  }

  PanelPrefetch what;
  Expr panel, tile, panels, tiles; // the loops' variables and extents
};

} // namespace

IRMutator *prefetchPanels(PanelPrefetch what) {
  return new PrefetchPanels(std::move(what));
}

} // namespace mille

// A panel is read from far memory by its first tile and from L2 by the others.
// This makes a loop over K ask for what it reads some steps later, and for its
// share of the panel that follows, spread over all tiles of the panel before
// it: many lines at once hold up the tiles that ask, and lines asked for early
// leave L2 again. The loop goes in groups of steps, so that asking and counting
// cost little beside the multiplying. BERT-base's matmuls in f32 on Cascade
// Lake: from 75 to 80 % of the peak to 88 to 90 at 128 rows, from 65 to 68 to
// 77 to 80 at 32. What follows is asked for into L2 where the CPU does that: on
// its way into L1 a line takes one of the few places that L1's misses have.
// BERT-base in f32 on a Xeon with AMX takes 4 % less time of 32 tokens and 1 %
// of 128 and 512; 1000 layers of 256 channels, whose weights come from memory,
// 3 %. Must not change what is computed: an address past the last panel is a
// hint that goes nowhere.
#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/Unswitch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// Of 3 to 12 steps all are within noise on Cascade Lake.
constexpr int stepsAhead = 6;
// What a group of steps asks for of the panel that follows. More gain nothing,
// also where the tiles are too few for all of it; fewer lose there.
constexpr int linesOfGroup = 2;

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
        *value = variable(loop->name) - loop->min;
        (value == &panel ? panels : tiles) = loop->extent;
        Stmt inner = IRMutator::visit(loop);
        *value = outer;
        return inner;
      }
    if (loop->name.find(what.product + ".s1.") != 0)
      return IRMutator::visit(loop);
    FirstRead read(what.weight);
    loop->body.accept(&read);
    if (!read.index.defined() || !tile.defined() || !panel.defined() ||
        what.steps < what.grouped)
      return IRMutator::visit(loop); // the last, partial panel
    return unswitched(
        loop, [&](const For *plain) { return inGroups(plain, read.index); });
  }

  static bool endsWith(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), std::string::npos, end) == 0;
  }

  // A loop in groups of steps, and one over the steps that make no group.
  Stmt inGroups(const For *loop, const Expr &index) const {
    const int groups = what.steps / what.grouped,
              rest = what.steps % what.grouped;
    Expr group = variable(loop->name + ".group"),
         ahead = variable(loop->name + ".ahead"),
         advance = variable(loop->name + ".advance");
    std::vector<Stmt> body;
    for (int i = 0; i < what.grouped; ++i) {
      Expr step = simplify(loop->min + group * what.grouped + i);
      askForOwn(body, substitute(loop->name, step + stepsAhead, index));
      for (int l = 0; l < linesOfGroup; ++l)
        if (l * what.grouped / linesOfGroup == i)
          askForNext(body, ahead + (group * linesOfGroup + l) * advance);
      body.push_back(substitute(loop->name, step, loop->body));
    }
    Stmt all =
        loopLike(loop, loop->name + ".group", 0, groups, Block::make(body));
    if (rest)
      all =
          Block::make(all, loopLike(loop, loop->name,
                                    simplify(loop->min + groups * what.grouped),
                                    rest, loop->body));
    Expr start = substitute(loop->name, loop->min, index);
    all = LetStmt::make(loop->name + ".ahead",
                        start + toNext(start.type()) +
                            tile * (groups * linesOfGroup * advance),
                        all);
    return LetStmt::make(loop->name + ".advance", advanceOf(groups), all);
  }

  void askForOwn(std::vector<Stmt> &body, const Expr &first) const {
    for (int l = 0; l < what.lines; ++l)
      body.push_back(
          askFor(what.weight, what.bytes, simplify(first + l * line())));
  }

  void askForNext(std::vector<Stmt> &body, const Expr &element) const {
    body.push_back(
        (what.intoL2 ? askForInL2 : askFor)(what.weight, what.bytes, element));
  }

  // Elements from a line asked for to the next: less than a line where the
  // tiles are more than take the whole piece.
  Expr advanceOf(int groups) const {
    Expr asked = tiles * (groups * linesOfGroup);
    return min((what.pieceElements + asked - 1) / asked, line());
  }

  // Elements to what is read next: after a piece of the last panel comes the
  // next piece of the first.
  Expr toNext(Type type) const {
    Expr next = cast(type, what.panelElements);
    if (what.pieceElements == what.panelElements)
      return next;
    return select(panel < panels - 1, next,
                  what.pieceElements - (panels - 1) * next);
  }

  int line() const { return lineBytes / what.bytes; } // elements

  PanelPrefetch what;
  Expr panel, tile, panels, tiles; // how far the loops are, and their extents
};

} // namespace

IRMutator *prefetchPanels(PanelPrefetch what) {
  return new PrefetchPanels(std::move(what));
}

} // namespace mille

// The first tile reads a panel from far memory, the other tiles read it from
// L2. This pass makes the loop over K prefetch what it reads some steps later,
// and a share of the next panel. The shares are spread over all tiles of a
// panel: many prefetches at once delay the tile that makes them, and lines that
// come too early leave L2 again. The loop is split into groups of steps, so
// that prefetches and counters cost little beside the products. BERT-base's
// matmuls in f32 on Cascade Lake: from 75 to 80 % of the peak to 88 to 90 at
// 128 rows, from 65 to 68 % to 77 to 80 at 32. The next panel goes into L2
// only, where the CPU can do that: a line on its way into L1 takes one of the
// few L1 miss buffers. BERT-base in f32 on a Xeon with AMX takes 4 % less time
// at 32 tokens and 1 % at 128 and 512; 1000 layers of 256 channels, whose
// weights come from memory, 3 %.
// On a Zen 5 the core's own prefetcher brings what the tile reads, and memory
// is fast enough for more lines of the next panel where tiles are few. With
// three lines and without its own prefetches 768 -> 3072, whose weights come
// from memory, takes 0.81 of the time at 16 rows in f32, 0.80 in bf16, 0.83 in
// bytes; 0.85 at 12 rows, 0.90 at 6. (Weights that lie in L3 take 1.05 at 12
// rows, and as long as before at 7 and 16.)
// On a Zen 4 memory gives one stream alone at its full speed: where one tile
// reads a panel, nothing asks for the next one. 768 -> 3072 from memory then
// takes 0.79 of the time at 1 row in f32 and in bf16, 0.74 at 7. Two tiles
// would take 0.78 at 12 rows and 0.93 at 16, but 1.08 at 16 rows of MiniLM in
// bf16, much of which lies in L3; three 0.97 to 0.99 at 19 and 1.03 to 1.05 at
// 24.
// Must not change what is computed: a prefetch past the last panel does
// nothing.
#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/Unswitch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// 3 to 12 steps ahead are within noise of each other on Cascade Lake.
constexpr int stepsAhead = 6;

// The index of the first element that a body reads of a buffer, without the
// names that only the body knows.
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
  template <typename Op> void replaceName(const Op *let) {
    const bool before = index.defined();
    IRVisitor::visit(let);
    if (!before && index.defined())
      index = substitute(let->name, let->value, index);
  }
  void visit(const Let *let) override { replaceName(let); }
  void visit(const LetStmt *let) override { replaceName(let); }
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

  // Keeps track of the outer loops; the loop over K gets the prefetches.
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
        what.steps < what.stepsOfGroup)
      return IRMutator::visit(loop); // a partial panel at the end
    return unswitched(
        loop, [&](const For *plain) { return inGroups(plain, read.index); });
  }

  static bool endsWith(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), std::string::npos, end) == 0;
  }

  // A loop over groups of steps, and a loop over the steps that are left.
  Stmt inGroups(const For *loop, const Expr &index) const {
    const int groups = what.steps / what.stepsOfGroup,
              rest = what.steps % what.stepsOfGroup, lines = what.linesOfGroup;
    // The index of a weight of more than 2^31 numbers has 64 bits.
    Expr start = firstOfPiece(substitute(loop->name, loop->min, index));
    Expr group = variable(loop->name + ".group"),
         ahead = Variable::make(start.type(), loop->name + ".ahead"),
         advance = variable(loop->name + ".advance");
    std::vector<Stmt> body;
    for (int i = 0; i < what.stepsOfGroup; ++i) {
      Expr step = simplify(loop->min + group * what.stepsOfGroup + i);
      if (what.ofTile)
        prefetchThisPanel(body,
                          substitute(loop->name, step + stepsAhead, index));
      for (int l = 0; l < lines; ++l)
        if (l * what.stepsOfGroup / lines == i)
          prefetchNextPanel(body, ahead + (group * lines + l) * advance);
      body.push_back(substitute(loop->name, step, loop->body));
    }
    Stmt all =
        loopLike(loop, loop->name + ".group", 0, groups, Block::make(body));
    if (rest)
      all = Block::make(
          all, loopLike(loop, loop->name,
                        simplify(loop->min + groups * what.stepsOfGroup), rest,
                        loop->body));
    all = LetStmt::make(loop->name + ".ahead",
                        start + ifTiles(toNext(start.type()) +
                                            tile * (groups * lines * advance),
                                        cast(start.type(), 0)),
                        all);
    return LetStmt::make(loop->name + ".advance", advanceOf(groups), all);
  }

  // Where the piece begins: a step of blocks may read their scales first.
  Expr firstOfPiece(const Expr &read) const {
    return simplify(read - read % what.pieceElements);
  }

  void prefetchThisPanel(std::vector<Stmt> &body, const Expr &first) const {
    for (int l = 0; l < what.lines; ++l)
      body.push_back(
          prefetchLine(what.weight, what.bytes, simplify(first + l * line())));
  }

  void prefetchNextPanel(std::vector<Stmt> &body, const Expr &element) const {
    body.push_back((what.intoL2 ? prefetchLineIntoL2 : prefetchLine)(
        what.weight, what.bytes, element));
  }

  // Elements from one prefetch to the next: less than a line where there are
  // more tiles than the whole piece needs. Too few tiles ask for what they read
  // themselves, which costs nothing.
  Expr advanceOf(int groups) const {
    Expr asked = tiles * (groups * what.linesOfGroup);
    Expr share = min((what.pieceElements + asked - 1) / asked, line());
    const int own = what.stepsOfGroup * what.lines * line();
    return ifTiles(share, own / what.linesOfGroup);
  }

  Expr ifTiles(const Expr &many, const Expr &few) const {
    return what.leastTiles > 1 ? select(tiles >= what.leastTiles, many, few)
                               : many;
  }

  // Elements from this piece to the one that is read next: a piece of the last
  // panel is followed by the next piece of the first panel.
  Expr toNext(Type type) const {
    Expr next = cast(type, what.panelElements);
    if (what.pieceElements == what.panelElements)
      return next;
    return select(panel < panels - 1, next,
                  what.pieceElements - (panels - 1) * next);
  }

  int line() const { return lineBytes / what.bytes; } // elements

  PanelPrefetch what;
  Expr panel, tile, panels, tiles; // iterations done, and extents
};

} // namespace

IRMutator *prefetchPanels(PanelPrefetch what) {
  return new PrefetchPanels(std::move(what));
}

} // namespace mille

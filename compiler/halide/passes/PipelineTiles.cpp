// Tiles are software-pipelined: the sums of a tile are parked in L1, and its
// epilogue is cut into pieces (rows, or one vector of a row) that alternate
// with groups of steps of the next tile. The pipeline runs through all tiles of
// all panels; the epilogue of the very last tile follows alone. Without it the
// multipliers stood still for most of an epilogue, and while its loads and
// stores waited: a core looks ahead over some 300 instructions, and over fewer
// that wait. Share of a Zen 4's peak at 128 rows: bytes 768 -> 3072 from 93.8
// to 96.3 %, with GELU from 88.1 to 94.2 (90.7 where a piece is a row), 384 ->
// 1536 with GELU from 79.8 to 88.7; bf16 with GELU from 95.8 to 98; f32 256 ->
// 1024 from 88.6 to 90. On a Cascade Lake, which looks ahead over 224, it waits
// for one vector's polynomial, while those of several rows overlap: there a
// piece is all rows of a tile. With GELU, in pieces of a row and of all, f32
// reaches, at 128 rows, 77 and 80 % of its peak (256 -> 1024), 85 and 87 (384
// -> 1536), 90.5 and 91.4 (768 -> 3072), bytes 40 and 44, 51 and 54.5, 67 and
// 69. Without a polynomial pieces of a row are better (f32 95 and 92.5).
// Must not change what is computed: a tile's rows of the out depend on no other
// tile.
#include "compiler/halide/passes/PipelineTiles.h"

#include "compiler/halide/passes/Loops.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// The most groups of steps after one piece of the epilogue. Of 1 to 6 none was
// better than 3 on Zen 4 at 16, 32 and 128 rows; without a limit 3072 -> 768
// took up to 3 % longer at 512 rows in a model.
constexpr int mostGroups = 3;

using Lets = std::vector<std::pair<std::string, Expr>>;

Expr variable(const std::string &name) { return Variable::make(Int(32), name); }

// The range of a loop.
struct LoopRange {
  std::string loop;
  Expr min, extent;

  explicit LoopRange(const For *loop)
      : loop(loop->name), min(loop->min), extent(loop->extent) {}
  Expr at() const { return variable(loop); }
  Expr last() const { return min + extent - 1; }
};

// A row's statement with a single iteration of its loop over vectors.
class OneVector : public IRMutator {
public:
  OneVector(const std::string &vector, const Expr &iteration)
      : vector(vector), iteration(iteration) {}

private:
  using IRMutator::visit;
  Stmt visit(const For *loop) override {
    if (!isOver(loop, vector))
      return IRMutator::visit(loop);
    return loopLike(loop, loop->name, iteration, 1, loop->body);
  }
  const std::string vector;
  const Expr iteration;
};

// The epilogue's loop over a tile's rows, and the names that are defined around
// it, outermost first.
class FindEpilogue : public IRVisitor {
public:
  explicit FindEpilogue(const TilePipeline &what) : what(what) {}
  const For *loop = nullptr;
  Lets lets;
  int rows = 0;    // 0: there is no such loop, or more than one
  int vectors = 1; // iterations of the loop over a row's vectors

private:
  using IRVisitor::visit;
  void visit(const LetStmt *let) override {
    around.push_back({let->name, let->value});
    let->body.accept(this);
    around.pop_back();
  }
  void visit(const For *found) override {
    if (isOver(found, what.vector))
      vectors = iterationsOf(found);
    if (isOver(found, what.row)) {
      rows = loop ? 0 : iterationsOf(found);
      loop = found;
      lets = around;
    }
    IRVisitor::visit(found);
  }
  // The number of iterations, 0 where it is not a constant.
  static int iterationsOf(const For *loop) {
    return is_const_zero(loop->min)
               ? int(as_const_int(loop->extent).value_or(0))
               : 0;
  }
  const TilePipeline &what;
  Lets around;
};

// Parks the sums in another memory. They are needed until the next tile's
// products are done, so the tile's statement neither allocates nor frees it.
class ParkElsewhere : public IRMutator {
public:
  ParkElsewhere(const std::string &from, const std::string &to)
      : from(from), to(to) {}
  Type type;
  int elements = 0;

protected:
  using IRMutator::visit;
  Stmt visit(const Allocate *allocate) override {
    if (allocate->name != from)
      return IRMutator::visit(allocate);
    type = allocate->type;
    elements = allocate->constant_allocation_size();
    return mutate(allocate->body);
  }
  Stmt visit(const Free *free) override {
    return free->name == from ? Evaluate::make(0) : Stmt(free);
  }
  Stmt visit(const Store *store) override {
    if (store->name != from)
      return IRMutator::visit(store);
    return Store::make(to, mutate(store->value), mutate(store->index),
                       store->param, store->predicate, store->alignment);
  }
  Expr visit(const Load *load) override {
    if (load->name != from)
      return IRMutator::visit(load);
    return Load::make(load->type, to, mutate(load->index), load->image,
                      load->param, load->predicate, load->alignment);
  }

private:
  const std::string from, to;
};

// The epilogue of the tile before.
struct Epilogue {
  int rows, vectors; // its pieces: groups of rows x vectors of a row
  Expr any;          // whether there is a tile before
  std::function<Stmt(const Expr &row, const Expr &vector)> piece;
};

// A tile's statement without its epilogue, and with the epilogue of the tile
// before between its products.
class Interleave : public ParkElsewhere {
public:
  Interleave(const TilePipeline &what, const std::string &park,
             Epilogue epilogue)
      : ParkElsewhere(what.park, park), what(what),
        epilogue(std::move(epilogue)) {}
  bool done = false;

private:
  using ParkElsewhere::visit;

  // One iteration follows the last row's: it has all groups that are left.
  Stmt visit(const For *loop) override {
    if (isOver(loop, what.row))
      return Evaluate::make(0);
    if (loop->name.find(what.product + ".s1.") != 0 ||
        !ends_with(loop->name, ".group"))
      return IRMutator::visit(loop);
    done = true;
    const auto &[rows, vectors, any, piece] = epilogue;
    const int groups = int(as_const_int(loop->extent).value_or(0));
    const int each = std::clamp(groups / (rows * vectors), 1, mostGroups);
    const std::string ofRow = loop->name + ".row",
                      ofVector = loop->name + ".vector";
    Expr row = variable(ofRow), vector = variable(ofVector), isRow = row < rows;
    Expr first = min((row * vectors + vector) * each, loop->extent);
    Expr next = select(isRow, min(first + each, loop->extent), loop->extent);
    Stmt products = loopLike(loop, loop->name, first, next - first, loop->body);
    Stmt pair = Block::make(IfThenElse::make(any && isRow, piece(row, vector)),
                            products);
    pair = loopLike(loop, ofVector, 0, select(isRow, vectors, 1), pair);
    return loopLike(loop, ofRow, 0, rows + 1, pair);
  }

  const TilePipeline &what;
  const Epilogue epilogue;
};

class PipelineTiles : public IRMutator {
public:
  explicit PipelineTiles(TilePipeline what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const LetStmt *let) override {
    if (!panel)
      return IRMutator::visit(let);
    lets.push_back({let->name, let->value});
    Stmt inner = IRMutator::visit(let);
    lets.pop_back();
    return inner;
  }

  Stmt visit(const For *loop) override {
    if (panel && isOver(loop, what.tile))
      return pipelined(loop);
    if (!isOver(loop, what.panel))
      return IRMutator::visit(loop);
    panel = loop;
    Stmt inner = IRMutator::visit(loop);
    panel = nullptr;
    for (const Parked &tile : last)
      inner = Allocate::make(tile.park, tile.type, MemoryType::Stack,
                             {tile.elements}, const_true(),
                             Block::make(inner, tile.epilogue));
    last.clear();
    return inner;
  }

  Stmt pipelined(const For *loop) {
    const LoopRange across(panel), down(loop);
    FindEpilogue found(what);
    loop->body.accept(&found);
    if (!found.rows || !found.vectors || dependsOnPanel(down))
      return loop;
    Lets names{{across.loop, Expr()}, {down.loop, Expr()}};
    names.insert(names.end(), lets.begin(), lets.end());
    names.insert(names.end(), found.lets.begin(), found.lets.end());
    const std::string park = what.park + "." + std::to_string(parks);
    const Stmt row = ParkElsewhere(what.park, park).mutate(found.loop->body);
    const int together = what.rowsTogether;
    auto piece = [&](const Expr &number, const Expr &vector) {
      Stmt one = OneVector(what.vector, vector).mutate(row);
      one = together == 1 ? substitute(found.loop->name, number, one)
                          : loopLike(found.loop, found.loop->name,
                                     number * together, together, one);
      return renamed(one, names, before);
    };
    Expr isTop = down.at() == down.min,
         isFirst = isTop && across.at() == across.min;
    Interleave interleave(
        what, park, {found.rows / together, found.vectors, !isFirst, piece});
    Stmt body = interleave.mutate(loop->body);
    if (!interleave.done) // the last, partial panel
      return loop;
    ++parks;
    body = withNames(names, before, across.at() - select(isTop, 1, 0),
                     select(isTop, down.last(), down.at() - 1), body);
    Stmt rows = loopLike(found.loop, found.loop->name, 0, found.rows, row);
    rows = withNames(names, ofLast, across.last(), outside(down.last()),
                     renamed(rows, names, ofLast));
    last.push_back({park, interleave.type, interleave.elements,
                    IfThenElse::make(
                        across.extent > 0 && outside(down.extent) > 0, rows)});
    return loopLike(loop, loop->name, loop->min, loop->extent, body);
  }

  // A value of the loop over panels, by names that are known outside of it.
  Expr outside(Expr value) const {
    for (size_t i = lets.size(); i-- > 0;)
      value = substitute(lets[i].first, lets[i].second, value);
    return value;
  }
  bool dependsOnPanel(const LoopRange &down) const {
    return expr_uses_var(outside(down.min), panel->name) ||
           expr_uses_var(outside(down.extent), panel->name);
  }

  // Suffixes of a tile's names where they mean another tile. Lets hold the two
  // loops' names first, then those defined in the loops.
  static constexpr const char *before = ".before", *ofLast = ".last";

  template <typename Part>
  static Part renamed(Part part, const Lets &names, const char *as) {
    for (const auto &[name, value] : names)
      part =
          substitute(name,
                     value.defined() ? Variable::make(value.type(), name + as)
                                     : variable(name + as),
                     part);
    return part;
  }
  static Stmt withNames(const Lets &names, const char *as, const Expr &panel,
                        const Expr &tile, Stmt body) {
    for (size_t i = names.size(); i-- > 2;)
      body = LetStmt::make(names[i].first + as,
                           renamed(names[i].second, names, as), body);
    body = LetStmt::make(names[1].first + as, tile, body);
    return LetStmt::make(names[0].first + as, panel, body);
  }

  // The epilogue of the last tile of a loop over tiles.
  struct Parked {
    std::string park;
    Type type;
    int elements;
    Stmt epilogue;
  };

  TilePipeline what;
  const For *panel = nullptr; // the loop over panels that the walk is inside of
  Lets lets;                  // between that loop and a loop over tiles
  std::vector<Parked> last;   // one for each of its loops over tiles
  int parks = 0;
};

} // namespace

IRMutator *pipelineTiles(TilePipeline what) {
  return new PipelineTiles(std::move(what));
}

} // namespace mille

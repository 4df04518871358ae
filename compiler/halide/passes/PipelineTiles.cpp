// Tiles are software-pipelined: a tile's sums are left parked, and its epilogue
// comes in pieces between the next tile's products, a piece and some groups of
// steps; of all tiles of all panels, then the last one's by itself. A piece is
// a row or one vector of it. A core looks ahead over some 300 instructions, and
// over fewer that wait: the multipliers stood still for most of an epilogue,
// and where its stores and loads waited. On Zen 4, of the peak at 128 rows:
// bytes 768 -> 3072 from 93.8 to 96.3 %, with GELU from 88.1 to 94.2 (a row a
// piece: 90.7), 384 -> 1536 with GELU from 79.8 to 88.7; bf16 with GELU from
// 95.8 to 98, 256 -> 1024 in f32 from 88.6 to 90. Must not change what is
// computed: a tile's rows of the out depend on no other tile.
#include "compiler/halide/passes/PipelineTiles.h"

#include "compiler/halide/passes/Loops.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// Groups of steps that come with a piece, where there are so many. Of 1 to 6 on
// Zen 4 no other was better of 16, 32 and 128 rows; as many as there are took
// up to 3 % longer for 3072 -> 768 of 512 rows in a model.
constexpr int mostOfPiece = 3;

using Lets = std::vector<std::pair<std::string, Expr>>;

Expr variable(const std::string &name) { return Variable::make(Int(32), name); }

// A loop's turns.
struct Turns {
  std::string loop;
  Expr min, extent;

  explicit Turns(const For *loop)
      : loop(loop->name), min(loop->min), extent(loop->extent) {}
  Expr at() const { return variable(loop); }
  Expr last() const { return min + extent - 1; }
};

// A row's statement with one turn of its loop over vectors.
class OneVector : public IRMutator {
public:
  OneVector(const std::string &vector, const Expr &turn)
      : vector(vector), turn(turn) {}

private:
  using IRMutator::visit;
  Stmt visit(const For *loop) override {
    if (!isOver(loop, vector))
      return IRMutator::visit(loop);
    return loopLike(loop, loop->name, turn, 1, loop->body);
  }
  const std::string vector;
  const Expr turn;
};

// The loop over a tile's rows that takes its sums, and what its names mean,
// outermost first.
class FindEpilogue : public IRVisitor {
public:
  explicit FindEpilogue(const TilePipeline &what) : what(what) {}
  const For *loop = nullptr;
  Lets lets;
  int rows = 0;    // none where there is no such loop, or more than one
  int vectors = 1; // of a row, that have a loop

private:
  using IRVisitor::visit;
  void visit(const LetStmt *let) override {
    around.push_back({let->name, let->value});
    let->body.accept(this);
    around.pop_back();
  }
  void visit(const For *found) override {
    if (isOver(found, what.vector))
      vectors = turnsOf(found);
    if (isOver(found, what.row)) {
      rows = loop ? 0 : turnsOf(found);
      loop = found;
      lets = around;
    }
    IRVisitor::visit(found);
  }
  // None where that is not known.
  static int turnsOf(const For *loop) {
    return is_const_zero(loop->min)
               ? int(as_const_int(loop->extent).value_or(0))
               : 0;
  }
  const TilePipeline &what;
  Lets around;
};

// What is parked in another memory. It is needed until the next tile's
// products, so that nothing here begins or ends it.
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

// Another tile's epilogue.
struct Epilogue {
  int rows, vectors; // of a row, that are pieces
  Expr any;          // whether there is one
  std::function<Stmt(const Expr &row, const Expr &vector)> piece;
};

// A tile's statement without its own epilogue, but with another one's between
// its products.
class Interleave : public ParkElsewhere {
public:
  Interleave(const TilePipeline &what, const std::string &park,
             Epilogue epilogue)
      : ParkElsewhere(what.park, park), what(what),
        epilogue(std::move(epilogue)) {}
  bool done = false;

private:
  using ParkElsewhere::visit;

  // After the last row's turns there is one more, for all groups that are left.
  Stmt visit(const For *loop) override {
    if (isOver(loop, what.row))
      return Evaluate::make(0);
    if (loop->name.find(what.product + ".s1.") != 0 ||
        !ends_with(loop->name, ".group"))
      return IRMutator::visit(loop);
    done = true;
    const auto &[rows, vectors, any, piece] = epilogue;
    const int groups = int(as_const_int(loop->extent).value_or(0));
    const int each = std::clamp(groups / (rows * vectors), 1, mostOfPiece);
    const std::string ofRow = loop->name + ".row",
                      ofVector = loop->name + ".vector";
    Expr row = variable(ofRow), vector = variable(ofVector), isRow = row < rows;
    Expr first = min((row * vectors + vector) * each, loop->extent);
    Expr next = select(isRow, min(first + each, loop->extent), loop->extent);
    Stmt products = loopLike(loop, loop->name, first, next - first, loop->body);
    Stmt turn = Block::make(IfThenElse::make(any && isRow, piece(row, vector)),
                            products);
    turn = loopLike(loop, ofVector, 0, select(isRow, vectors, 1), turn);
    return loopLike(loop, ofRow, 0, rows + 1, turn);
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
    const Turns across(panel), down(loop);
    FindEpilogue found(what);
    loop->body.accept(&found);
    if (!found.rows || !found.vectors || dependsOnPanel(down))
      return loop;
    Lets names{{across.loop, Expr()}, {down.loop, Expr()}};
    names.insert(names.end(), lets.begin(), lets.end());
    names.insert(names.end(), found.lets.begin(), found.lets.end());
    const std::string park = what.park + "." + std::to_string(parks);
    const Stmt row = ParkElsewhere(what.park, park).mutate(found.loop->body);
    auto piece = [&](const Expr &turn, const Expr &vector) {
      Stmt one = OneVector(what.vector, vector).mutate(row);
      return renamed(substitute(found.loop->name, turn, one), names, before);
    };
    Expr isTop = down.at() == down.min,
         isFirst = isTop && across.at() == across.min;
    Interleave interleave(what, park,
                          {found.rows, found.vectors, !isFirst, piece});
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

  // What is in the loop over panels has no meaning outside.
  Expr outside(Expr value) const {
    for (size_t i = lets.size(); i-- > 0;)
      value = substitute(lets[i].first, lets[i].second, value);
    return value;
  }
  bool dependsOnPanel(const Turns &down) const {
    return expr_uses_var(outside(down.min), panel->name) ||
           expr_uses_var(outside(down.extent), panel->name);
  }

  // What a tile's names are where they mean another one's: the loops' first,
  // then others.
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

  // The last tile of a loop, after all.
  struct Parked {
    std::string park;
    Type type;
    int elements;
    Stmt epilogue;
  };

  TilePipeline what;
  const For *panel = nullptr; // that the walk is in
  Lets lets;                  // between it and a loop over tiles
  std::vector<Parked> last;   // of its loops over tiles
  int parks = 0;
};

} // namespace

IRMutator *pipelineTiles(TilePipeline what) {
  return new PipelineTiles(std::move(what));
}

} // namespace mille

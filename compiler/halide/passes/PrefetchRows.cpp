// The rows of a head's values lie a whole row of the projection apart, which is
// too far for the hardware's prefetcher, and in a long sequence they do not fit
// in L1. This pass prefetches the row some steps ahead. Attention of 12 heads
// of 64 on Cascade Lake: 1.08 to 1.1 times as fast for 128 tokens, 1.1 to 1.13
// times for 512; 4 steps ahead gain less, 16 do not gain more.
// Must not change what is computed: a prefetch past the last row does nothing.
#include "compiler/halide/passes/Loops.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/Unswitch.h"

#include "llvm/ADT/STLExtras.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// One element of each cache line in which a body reads a vector or a number. A
// vector of every other number spans twice as many lines.
class LinesRead : public IRVisitor {
public:
  LinesRead(const std::string &name, int bytes)
      : name(name), elements(lineBytes / bytes) {}
  std::vector<Expr> firsts;
  bool innermost = true;

private:
  using IRVisitor::visit;
  void visit(const Load *load) override {
    const Ramp *ramp = load->index.as<Ramp>();
    if (load->name == name && ramp && is_const_one(ramp->stride))
      add(ramp->base);
    if (load->name == name && ramp && is_const(ramp->stride, 2))
      for (int at = 0; at < 2 * ramp->lanes; at += elements)
        add(ramp->base + at);
    if (load->name == name && load->type.is_scalar())
      add(load->index);
    IRVisitor::visit(load);
  }
  void visit(const For *loop) override {
    innermost = false;
    IRVisitor::visit(loop);
  }
  void visit(const Let *let) override {
    inside.push(let->name, let->value);
    IRVisitor::visit(let);
  }
  void visit(const LetStmt *let) override {
    let->value.accept(this);
    known.emplace_back(let->name, let->value);
    let->body.accept(this);
    known.pop_back();
  }
  void add(Expr first) {
    for (auto name = known.rbegin(); name != known.rend(); ++name)
      first = substitute(name->first, name->second, first);
    if (expr_uses_vars(first, inside)) // names that end with the value
      return;
    if (llvm::none_of(firsts, [&](const Expr &other) {
          return can_prove(abs(first - other) < elements);
        }))
      firsts.push_back(first);
  }
  Scope<Expr> inside;
  std::vector<std::pair<std::string, Expr>> known; // names of the body
  std::string name;
  int elements; // in a cache line
};

class PrefetchRows : public IRMutator {
public:
  explicit PrefetchRows(RowPrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;
  Stmt visit(const For *loop) override {
    if (loop->name.find(what.reader + ".s") != 0)
      return IRMutator::visit(loop);
    LinesRead read(what.buffer, what.bytes);
    loop->body.accept(&read);
    if (!read.innermost || read.firsts.empty())
      return IRMutator::visit(loop);
    Expr later = Variable::make(Int(32), loop->name) + what.steps;
    std::vector<Stmt> body;
    for (const Expr &first : read.firsts)
      body.push_back(prefetchLine(what.buffer, what.bytes,
                                  substitute(loop->name, later, first)));
    if (what.conditional) {
      const Expr condition = firstCondition(loop->body);
      if (!condition.defined())
        return IRMutator::visit(loop);
      body = {IfThenElse::make(condition, Block::make(body))};
    }
    body.push_back(loop->body);
    return loopLike(loop, loop->name, loop->min, loop->extent,
                    Block::make(body));
  }
  RowPrefetch what;
};

// A load stands in a store's value, or in a name that is defined before it.
class PrefetchFar : public IRMutator {
public:
  explicit PrefetchFar(FarPrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;
  Stmt visit(const Store *store) override {
    if (store->name != what.writer)
      return store;
    return prefetched(store->value, store);
  }
  Stmt visit(const LetStmt *let) override {
    return prefetched(let->value, IRMutator::visit(let));
  }
  Stmt prefetched(const Expr &value, Stmt stmt) const {
    LinesRead read(what.buffer, what.bytes);
    value.accept(&read);
    for (const Expr &first : read.firsts)
      stmt = Block::make((what.intoL2 ? prefetchLineIntoL2 : prefetchLine)(
                             what.buffer, what.bytes, first + what.elements),
                         stmt);
    return stmt;
  }
  FarPrefetch what;
};

// Square s asks for its share of each stream of four rows, in the order in
// which they lie in memory: of rows that are read side by side, several in one
// page, the core's own prefetcher follows none, and prefetches into L1 of what
// memory holds fill the few buffers of its misses. On a Zen 4, from memory in
// pages of 2 MiB, packing 256 x 256 takes 17 us where prefetches of the next
// rows into L1, as they are read, took 25; 1024 x 256 74 and 128, 256 x 1024 58
// and 104, 768 x 768 141 and 225 (a loop in C, the least of five, beside other
// machines). Streams of two rows are slower.
class PrefetchSquares : public IRMutator {
public:
  explicit PrefetchSquares(SquaresPrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;
  static constexpr int rowsOfStream = 4;

  Stmt visit(const For *loop) override {
    LinesRead read(what.buffer, what.bytes);
    if (isOver(loop, what.squares))
      loop->body.accept(&read);
    if (read.firsts.empty())
      return IRMutator::visit(loop);
    const Expr square = Variable::make(Int(32), loop->name) - loop->min,
               columns = loop->extent * what.columns,
               share = square * (rowsOfStream * what.columns),
               first = substitute(loop->name, loop->min, read.firsts.front());
    Expr row = 0; // of a stream
    for (int i = 1; i < rowsOfStream; ++i)
      row += select(share >= i * columns, 1, 0);
    const Expr start = first + share + row * (what.rowElements - columns);
    const int line = lineBytes / what.bytes;
    std::vector<Stmt> body;
    for (int stream = 0; stream < what.rows; stream += rowsOfStream)
      for (int at = 0; at < rowsOfStream * what.columns; at += line)
        body.push_back(prefetchLineIntoL2(
            what.buffer, what.bytes,
            start + (what.elementsAhead() + stream * what.rowElements + at)));
    body.push_back(loop->body);
    return loopLike(loop, loop->name, loop->min, loop->extent,
                    Block::make(body));
  }
  SquaresPrefetch what;
};

// Pass p over the rows of a chunk asks for one line of each of `part` rows, as
// the first pass over the next tile reads them: line p % lines, of the rows
// from part * (p / lines) on. An iteration adds some rows and asks once. These
// rows are a loop of their own: in one block of instructions LLVM would put the
// prefetches of all of them behind the products of the last, where they wait
// for each other.
class PrefetchNextTile : public IRMutator {
public:
  explicit PrefetchNextTile(NextTilePrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;
  static constexpr int part = 64;

  Stmt visit(const For *loop) override {
    if (isOver(loop, what.passes)) {
      const Expr outer = pass;
      pass = Variable::make(Int(32), loop->name) - loop->min;
      Stmt all = IRMutator::visit(loop);
      pass = outer;
      return all;
    }
    if (loop->name.find(what.reader + ".s") != 0 || !pass.defined())
      return IRMutator::visit(loop);
    LinesRead read(what.buffer, what.bytes);
    loop->body.accept(&read);
    if (!read.innermost || read.firsts.empty())
      return IRMutator::visit(loop);
    const std::string name = loop->name + ".rows";
    Expr step = Variable::make(Int(32), name);
    const int lines = int(read.firsts.size()), line = lineBytes / what.bytes,
              rows = what.chunk / part;
    Expr row = loop->min + pass / lines * part + step;
    Stmt ask =
        prefetchLineIntoL2(what.buffer, what.bytes,
                           substitute(loop->name, row, read.firsts.front()) +
                               what.columns + pass % lines * line);
    Stmt some =
        loopLike(loop, loop->name, loop->min + step * rows, rows, loop->body);
    Expr whole = loop->extent / rows;
    return Block::make(loopLike(loop, name, 0, whole, Block::make(ask, some)),
                       loopLike(loop, loop->name, loop->min + whole * rows,
                                loop->extent - whole * rows, loop->body));
  }

  NextTilePrefetch what;
  Expr pass;
};

// The address that the first loop of a Func's update reads, and the names that
// are defined around it, outermost first; a loop's has no value.
class ReadAside : public IRVisitor {
public:
  explicit ReadAside(const AsidePrefetch &what) : what(what) {}
  Expr address;
  std::vector<std::pair<std::string, Expr>> names;

private:
  using IRVisitor::visit;
  void visit(const For *loop) override {
    around.emplace_back(loop->name, Expr());
    LinesRead read(what.buffer, what.bytes);
    if (loop->name.find(what.reader + ".s") == 0)
      loop->body.accept(&read);
    if (!read.innermost || read.firsts.empty()) {
      IRVisitor::visit(loop);
    } else if (!address.defined()) {
      address = read.firsts.front();
      names = around;
    }
    around.pop_back();
  }
  void visit(const LetStmt *let) override {
    around.emplace_back(let->name, let->value);
    IRVisitor::visit(let);
    around.pop_back();
  }
  const AsidePrefetch &what;
  std::vector<std::pair<std::string, Expr>> around;
};

class PrefetchAside : public IRMutator {
public:
  explicit PrefetchAside(AsidePrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;
  Stmt visit(const For *loop) override {
    open.push(loop->name);
    Stmt stmt;
    if (isOver(loop, what.together)) {
      ReadAside inside(what);
      loop->body.accept(&inside);
      read = &inside;
      stmt = IRMutator::visit(loop);
      read = nullptr;
    } else if (read && read->address.defined() &&
               loop->name.find(what.writer + ".s") == 0 &&
               isOver(loop, what.writeTile)) {
      stmt = withLines(loop);
    } else {
      stmt = IRMutator::visit(loop);
    }
    open.pop(loop->name);
    return stmt;
  }
  Stmt visit(const LetStmt *let) override {
    open.push(let->name);
    Stmt stmt = IRMutator::visit(let);
    open.pop(let->name);
    return stmt;
  }
  // The address of the reader at the tile's first element: names that are not
  // defined here are what they are there, or 0 if they are of its other loops.
  Stmt withLines(const For *loop) const {
    Expr tile = Variable::make(Int(32), loop->name) * what.tiles,
         address = read->address;
    for (auto at = read->names.rbegin(); at != read->names.rend(); ++at) {
      const auto &[name, value] = *at;
      if (ends_with(name, "." + what.readTile))
        address = substitute(name, tile, address);
      else if (!open.contains(name))
        address = substitute(name, value.defined() ? value : 0, address);
    }
    std::vector<Stmt> body;
    for (int i = 0; i < what.lines; ++i)
      body.push_back(prefetchLineIntoL2(
          what.buffer, what.bytes, address + i * (lineBytes / what.bytes)));
    body.push_back(loop->body);
    return loopLike(loop, loop->name, loop->min, loop->extent,
                    Block::make(body));
  }
  AsidePrefetch what;
  const ReadAside *read = nullptr; // of the loop `together` that is open
  Scope<> open;                    // names that are defined here
};

} // namespace

IRMutator *prefetchAside(AsidePrefetch what) {
  return new PrefetchAside(std::move(what));
}

IRMutator *prefetchNextTile(NextTilePrefetch what) {
  return new PrefetchNextTile(std::move(what));
}

IRMutator *prefetchRows(RowPrefetch what) {
  return new PrefetchRows(std::move(what));
}

IRMutator *prefetchSquares(SquaresPrefetch what) {
  return new PrefetchSquares(std::move(what));
}

IRMutator *prefetchFar(FarPrefetch what) {
  return new PrefetchFar(std::move(what));
}

} // namespace mille

// Where K is long neither a panel nor the rows that it meets stay in L2. So all
// tiles of all panels do one chunk of K before any tile does the next chunk;
// between chunks a tile's sums wait in their place of the out. The down
// projection of BERT-base, K = 3072, on Zen 5: 5 to 7 % less time at 32 rows, 1
// to 3 % at 128, 2 to 4 % at 512; on Zen 4 3 % less at 32, but 1 to 2 % more
// than software-pipelined tiles at 128 and 512.
// Must add in the order of K, so that bits are the same as without chunks.
#include "compiler/halide/passes/Chunks.h"

#include "compiler/halide/passes/Loops.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// The one load of a buffer in an expression, if there is one.
class OnlyLoad : public IRVisitor {
public:
  explicit OnlyLoad(const std::string &name) : name(name) {}
  const Load *found = nullptr;
  int count = 0;

private:
  using IRVisitor::visit;
  void visit(const Load *load) override {
    if (load->name == name) {
      found = load;
      ++count;
    }
    IRVisitor::visit(load);
  }
  std::string name;
};

// An epilogue without the statement that frees the sums, which must follow
// every variant of the epilogue.
class WithoutFree : public IRMutator {
public:
  explicit WithoutFree(const std::string &name) : name(name) {}
  Stmt end;

private:
  using IRMutator::visit;
  Stmt visit(const Free *free) override {
    if (free->name != name)
      return free;
    end = free;
    return Evaluate::make(0);
  }
  std::string name;
};

// The stores of an epilogue as plain copies: of the sums to the out, or back.
class Copies : public IRMutator {
public:
  Copies(const Chunks &what, bool back) : what(what), back(back) {}
  bool plain = true;

private:
  using IRMutator::visit;
  Stmt visit(const Store *store) override {
    OnlyLoad sums(what.product);
    store->value.accept(&sums);
    if (store->name != what.out || sums.count != 1 ||
        sums.found->type.lanes() != store->value.type().lanes()) {
      plain = false;
      return store;
    }
    const Load *sum = sums.found;
    if (!back)
      return Store::make(store->name, sum, store->index, store->param,
                         store->predicate, store->alignment);
    Expr parked = Load::make(sum->type, store->name, store->index, Buffer<>(),
                             store->param, store->predicate, store->alignment);
    return Store::make(sum->name, parked, sum->index, Parameter(),
                       store->predicate, sum->alignment);
  }
  const Chunks &what;
  bool back;
};

class ChunkSums : public IRMutator {
public:
  explicit ChunkSums(Chunks what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const For *loop) override {
    std::string end = "." + what.panel;
    if (loop->name.size() > end.size() &&
        loop->name.compare(loop->name.size() - end.size(), end.size(), end) ==
            0) {
      name = loop->name + ".chunk";
      sums = epilogues = others = 0;
      Stmt body = mutate(loop->body);
      name.clear();
      if (!sums || sums != epilogues || others)
        return loop;
      Stmt panels = loopLike(loop, loop->name, loop->min, loop->extent, body);
      return For::make(loop->name + ".chunk", 0, count, ForType::Serial,
                       Partition::Never, loop->device_api, panels);
    }
    if (name.empty() || loop->name.find(what.product + ".s1.") != 0)
      return IRMutator::visit(loop);
    const IntImm *steps = loop->extent.as<IntImm>();
    if (!steps || !is_const_zero(loop->min) || !back.defined()) {
      ++others;
      return loop;
    }
    ++sums;
    count = int(steps->value) / what.steps;
    Expr chunk = Variable::make(Int(32), name);
    Stmt part =
        loopLike(loop, loop->name, chunk * what.steps, what.steps, loop->body);
    return Block::make(IfThenElse::make(chunk > 0, back), part);
  }

  Stmt visit(const Block *block) override {
    const auto *produce = block->first.as<ProducerConsumer>();
    if (name.empty() || !produce || !produce->is_producer ||
        produce->name != what.product)
      return IRMutator::visit(block);
    WithoutFree keep(what.product);
    Stmt epilogue = keep.mutate(block->rest);
    Copies into(what, true), from(what, false);
    back = into.mutate(epilogue);
    Stmt park = from.mutate(epilogue);
    if (!into.plain || !from.plain || !keep.end.defined()) {
      ++others;
      return block;
    }
    ++epilogues;
    Stmt first = mutate(block->first); // sets count
    back = Stmt();
    Expr last = Variable::make(Int(32), name) == count - 1;
    Stmt after = IfThenElse::make(last, epilogue, park);
    return Block::make({first, after, keep.end});
  }

  Chunks what;
  std::string name; // the loop over chunks
  Stmt back;
  int sums = 0, epilogues = 0;
  int others = 0; // loops of another form; any one forbids chunks
  int count = 1;
};

} // namespace

IRMutator *chunkSums(Chunks what) { return new ChunkSums(std::move(what)); }

} // namespace mille

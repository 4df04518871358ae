// A tile begins with its columns' sums, and its epilogue reads their biases and steps: a
// few lines of each, which the first tile of a panel would wait for, twice, where weights
// come from memory. This makes each tile ask for those of the panel that follows: to ask
// again costs less than to ask whether another tile did. BERT-base in int8 on Zen 4 takes
// 1.2 % less time of 16 tokens and 0.3 % of 32.
// Must not change what is computed: an address past the last panel is a hint that goes
// nowhere.
#include "compiler/halide/Loops.h"
#include "compiler/halide/Prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class PrefetchColumns : public IRMutator {
public:
  explicit PrefetchColumns(ColumnPrefetch what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const For *loop) override {
    if (isOver(loop, what.panel)) {
      panel = Variable::make(Int(32), loop->name);
      Stmt inner = IRMutator::visit(loop);
      panel = Expr();
      return inner;
    }
    if (!isOver(loop, what.tile) || !panel.defined()) // a single panel has no loop
      return IRMutator::visit(loop);
    Stmt body = loop->body;
    for (const ColumnPrefetch::Numbers &numbers : what.numbers)
      for (int n = 0; n < numbers.ofPanel; n += lineBytes / numbers.bytes)
        body = Block::make(askFor(numbers.buffer, numbers.bytes,
                                  (panel + 1) * numbers.ofPanel + n), body);
    return loopLike(loop, loop->name, loop->min, loop->extent, body);
  }

  ColumnPrefetch what;
  Expr panel;
};

} // namespace

IRMutator *prefetchColumns(ColumnPrefetch what) {
  return new PrefetchColumns(std::move(what));
}

} // namespace mille

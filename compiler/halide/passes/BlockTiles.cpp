// Must keep the loops' addresses: a call reads from where the loops read first.
#include "compiler/halide/passes/BlockTiles.h"

#include "compiler/halide/instructions/BlockTileInstructions.h"
#include "compiler/halide/passes/FirstByte.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class SumBlocks : public IRMutator {
public:
  explicit SumBlocks(BlockTiles what) : what(std::move(what)) {}

private:
  using IRMutator::visit;

  Stmt visit(const ProducerConsumer *op) override {
    if (!op->is_producer || op->name != what.sums)
      return IRMutator::visit(op);
    return ProducerConsumer::make_produce(op->name, callFor(op->body));
  }

  Stmt callFor(const Stmt &loops) const {
    std::vector<Expr> arguments;
    for (const std::string &buffer : {what.input, what.weight, what.sums}) {
      const Expr first = firstByte(loops, buffer, what.row, 0);
      if (!first.defined())
        throw CompileError("no loop of a block's sums reads " + buffer);
      arguments.push_back(Variable::make(Handle(), buffer));
      arguments.push_back(simplify(first));
    }
    arguments.insert(arguments.end(),
                     {rowsRead(loops, what.input, what.row, 0,
                               what.tileRows - 1, what.rowBytes),
                      what.tileRows, what.accumulators, what.blocks, what.parts,
                      what.partBytes, what.rowBytes, what.groupBytes,
                      what.weightBlockBytes});
    return Evaluate::make(
        Call::make(Int(32), blockTilesName, arguments, Call::Extern));
  }

  BlockTiles what;
};

} // namespace

IRMutator *sumBlocksInTileRegisters(BlockTiles what) {
  return new SumBlocks(std::move(what));
}

} // namespace mille

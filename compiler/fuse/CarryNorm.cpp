// Moves a norm at the beginning of a layer to the end of the layer before,
// where the sum that it reads is computed; the loop hands its result over.
// Must not change what is normed, nor by which parameters.
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"
#include "mlir/IR/IRMapping.h"

#include <set>

namespace mille {
#define GEN_PASS_DEF_CARRYNORM
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;
using kernel::LayersOp;
using kernel::RowsOp;
using kernel::WeightOp;

namespace {

bool isNormOf(Operation *op, Value value) {
  auto rows = dyn_cast<RowsOp>(op);
  return rows && rows.getNorm() && rows.getIndices().empty() &&
         rows.getInputs()[0] == value &&
         llvm::count(rows.getInputs(), value) == 1;
}

// The norms of `value` in `block` whose other inputs are parameters or made
// outside `loop`, in order.
SmallVector<RowsOp> normsOf(Value value, Block *block, LayersOp loop) {
  SmallVector<RowsOp> norms;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != block || !isNormOf(user, value))
      continue;
    auto norm = cast<RowsOp>(user);
    if (llvm::all_of(norm.getInputs().drop_front(), [&](Value input) {
          return input.getDefiningOp<WeightOp>() ||
                 !loop->isAncestor(input.getParentBlock()->getParentOp());
        }))
      norms.push_back(norm);
  }
  llvm::sort(norms,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return norms;
}

// The symbols of an op's weights, each once, in order of appearance.
SmallVector<FlatSymbolRefAttr> symbolsOf(RowsOp op) {
  SmallVector<FlatSymbolRefAttr> symbols;
  for (Value input : op.getInputs())
    if (auto weight = input.getDefiningOp<WeightOp>())
      transformer::forEachSymbol(weight.getValue(),
                                 [&](FlatSymbolRefAttr name) {
                                   if (!llvm::is_contained(symbols, name))
                                     symbols.push_back(name);
                                 });
  return symbols;
}

// A weight's value with its op's symbols replaced by `by`, in their order.
Attribute replaced(Attribute value, ArrayRef<FlatSymbolRefAttr> symbols,
                   ArrayRef<Attribute> by) {
  return transformer::replaceSymbols(value, [&](FlatSymbolRefAttr symbol) {
    return by[llvm::find(symbols, symbol) - symbols.begin()];
  });
}

// Whether two norms are equal except for the symbols of their parameters.
bool sameNorm(RowsOp a, RowsOp b) {
  if (a.getNormAttr() != b.getNormAttr() ||
      a.getInputs().getTypes() != b.getInputs().getTypes() ||
      a.getOut().getType() != b.getOut().getType() ||
      !sameScalar(a.getBody(), b.getBody()))
    return false;
  auto ofA = symbolsOf(a), ofB = symbolsOf(b);
  if (ofA.size() != ofB.size())
    return false;
  SmallVector<Attribute> asA(ofA.begin(), ofA.end());
  for (auto [x, y] :
       llvm::drop_begin(llvm::zip(a.getInputs(), b.getInputs()))) {
    auto first = x.getDefiningOp<WeightOp>(),
         second = y.getDefiningOp<WeightOp>();
    if (!first && !second && x == y)
      continue;
    if (!first || !second ||
        replaced(second.getValue(), ofB, asA) != first.getValue())
      return false;
  }
  return true;
}

// `norm` of `value` with its parameters' symbols replaced by `by`.
Value copyNorm(OpBuilder &builder, RowsOp norm, Value value,
               ArrayRef<Attribute> by) {
  auto symbols = symbolsOf(norm);
  IRMapping mapping;
  mapping.map(norm.getInputs()[0], value);
  for (Value input : norm.getInputs().drop_front())
    if (auto weight = input.getDefiningOp<WeightOp>())
      mapping.map(input,
                  WeightOp::create(builder, weight.getLoc(), weight.getType(),
                                   replaced(weight.getValue(), symbols, by)));
  Operation *destination = norm.getOut().getDefiningOp();
  mapping.map(norm.getOut(), builder.clone(*destination)->getResult(0));
  return builder.clone(*norm, mapping)->getResult(0);
}

class Carrier {
public:
  explicit Carrier(LayersOp loop) : loop(loop) {}

  void run() {
    if (loop.getStream().size() != 1 || !findNorms())
      return;
    findLastNorms();
    addColumns();
    rebuild();
  }

private:
  // Finds the norms at the beginning of every body, which must be alike; false
  // where there are none.
  bool findNorms() {
    for (Region &body : loop.getBodyRegions())
      leading.push_back(normsOf(body.getArgument(0), &body.front(), loop));
    size_t count = leading.front().size();
    auto alike = [](RowsOp a, RowsOp b) {
      return sameNorm(a, b) && a.getOut().getDefiningOp<tensor::EmptyOp>();
    };
    return count && llvm::all_of(leading, [&](ArrayRef<RowsOp> norms) {
             return norms.size() == count &&
                    std::equal(norms.begin(), norms.end(),
                               leading.front().begin(), alike);
           });
  }

  // The norm that the last layer carries becomes the model's final norm, where
  // that is alike; where there is no final norm the value is dropped.
  void findLastNorms() {
    Value stream = loop.getOutcomes().front();
    auto after = normsOf(stream, loop->getBlock(), loop);
    for (RowsOp norm : leading.front()) {
      auto *found = llvm::find_if(after, [&](RowsOp candidate) {
        return sameNorm(norm, candidate) &&
               !llvm::is_contained(last, candidate);
      });
      last.push_back(found == after.end() ? RowsOp() : *found);
    }
  }

  // What the symbols of norm `number` of layer `layer` stand for.
  SmallVector<Attribute> parameters(size_t layer, size_t number) {
    SmallVector<Attribute> values;
    for (auto symbol : symbolsOf(leading[loop.getBodies()[layer]][number]))
      values.push_back(loop.entryOf(layer, symbol));
    return values;
  }

  // A column per parameter of the next layer's norms: next.layers.*.attn...
  void addColumns() {
    MLIRContext *context = loop.getContext();
    Operation *model = loop->getParentOfType<transformer::ModelOp>();
    for (auto [body, names] : llvm::enumerate(loop.getSlots())) {
      auto all = llvm::to_vector(cast<ArrayAttr>(names));
      next.emplace_back();
      for (RowsOp norm : leading[body]) {
        next.back().emplace_back();
        for (auto symbol : symbolsOf(norm)) {
          std::string name = "next." + symbol.getValue().str();
          while (llvm::is_contained(all, StringAttr::get(context, name)) ||
                 SymbolTable::lookupSymbolIn(model, name))
            name = "next." + name;
          all.push_back(StringAttr::get(context, name));
          next.back().back().push_back(FlatSymbolRefAttr::get(context, name));
        }
      }
      slots.push_back(ArrayAttr::get(context, all));
    }
    size_t layers = loop.getBodies().size();
    for (size_t layer = 0; layer < layers; ++layer) {
      auto row = llvm::to_vector(loop.entriesOf(layer));
      for (size_t number = 0; number < last.size(); ++number) {
        if (layer + 1 < layers)
          row.append(parameters(layer + 1, number));
        else if (last[number])
          llvm::append_range(row, symbolsOf(last[number]));
        else
          row.append(parameters(0, number));
      }
      table.push_back(ArrayAttr::get(context, row));
    }
  }

  void rebuild() {
    OpBuilder builder(loop);
    Value stream = loop.getStream().front();
    SmallVector<Value> initial{stream};
    for (auto [number, norm] : llvm::enumerate(leading.front()))
      initial.push_back(copyNorm(builder, leading[loop.getBodies()[0]][number],
                                 stream, parameters(0, number)));
    for (auto [body, region] : llvm::enumerate(loop.getBodyRegions()))
      rewriteBody(region.front(), body);

    // The loop does not hand over a stream that only norms read.
    bool dead = llvm::all_of(loop.getBodyRegions(),
                             [](Region &body) {
                               return body.getArgument(0).use_empty();
                             }) &&
                llvm::all_of(loop.getOutcomes().front().getUsers(),
                             [&](Operation *user) {
                               auto norm = dyn_cast<RowsOp>(user);
                               return norm && llvm::is_contained(last, norm);
                             });
    if (dead) {
      initial.erase(initial.begin());
      for (Region &body : loop.getBodyRegions()) {
        body.front().eraseArgument(0);
        body.front().getTerminator()->eraseOperand(0);
      }
    }

    OperationState state(loop.getLoc(), LayersOp::getOperationName());
    LayersOp::build(builder, state, TypeRange(ValueRange(initial)), initial,
                    builder.getArrayAttr(slots), loop.getBodiesAttr(),
                    builder.getArrayAttr(table), loop.getReverseAttr(),
                    loop->getNumRegions());
    for (auto [from, to] : llvm::zip(loop->getRegions(), state.regions))
      to->takeBody(from);
    auto carried = cast<LayersOp>(builder.create(state));
    if (!dead)
      loop.getOutcomes().front().replaceAllUsesWith(carried.getResult(0));
    for (auto [number, norm] : llvm::enumerate(last)) {
      if (!norm)
        continue;
      norm.getResult().replaceAllUsesWith(
          carried.getResult(number + (dead ? 0 : 1)));
      norm.erase();
    }
    loop.erase();
  }

  void rewriteBody(Block &block, size_t body) {
    Operation *yield = block.getTerminator();
    OpBuilder builder(yield);
    Value stream = yield->getOperand(0);
    SmallVector<Value> yielded{stream};
    for (auto [norm, names] : llvm::zip(leading[body], next[body])) {
      SmallVector<Attribute> by(names.begin(), names.end());
      yielded.push_back(copyNorm(builder, norm, stream, by));
      BlockArgument carried =
          block.addArgument(norm.getResult().getType(), norm.getLoc());
      norm.getResult().replaceAllUsesWith(carried);
    }
    // A yield of the norm now yields the argument instead.
    yielded.front() = yield->getOperand(0);
    yield->setOperands(yielded);
    for (RowsOp norm : leading[body])
      norm.erase();
  }

  LayersOp loop;
  SmallVector<SmallVector<RowsOp>> leading; // [body][number]
  SmallVector<RowsOp> last;                 // [number], null: none
  SmallVector<SmallVector<SmallVector<FlatSymbolRefAttr>>> next;
  SmallVector<Attribute> slots, table;
};

struct CarryNorm : mille::impl::CarryNormBase<CarryNorm> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      SmallVector<LayersOp> loops;
      function.walk([&](LayersOp loop) { loops.push_back(loop); });
      for (LayersOp loop : loops)
        if (!loop.getReverse()) // whose next layer is the one before
          Carrier(loop).run();
      eraseDead(function);
    }
  }
};

} // namespace

// Finds the ops that outputs depend on, and clones them.
// Must not change the entry that it reads.
#include "compiler/entries/Slice.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;

StringRef mille::entries::inputName(func::FuncOp entry, unsigned number) {
  auto name = entry.getArgAttrOfType<StringAttr>(number, "transformer.name");
  return name ? name.getValue() : StringRef();
}

StringRef mille::entries::outputName(func::FuncOp entry, unsigned number) {
  auto name = entry.getResultAttrOfType<StringAttr>(number, "transformer.name");
  return name ? name.getValue() : StringRef();
}

Value mille::entries::outputValue(func::FuncOp entry, unsigned number) {
  return entry.getBody().front().getTerminator()->getOperand(number);
}

bool mille::entries::readsSizeOnly(OpOperand &operand) {
  return isa<transformer::TokenNumbersOp, transformer::DistanceBiasOp,
             transformer::PairBiasOp>(operand.getOwner());
}

namespace {

// The operands of an op and of the ops in it, if they are defined outside it.
template <typename Each> void eachRead(Operation *op, const Each &each) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      Region *from = operand.get().getParentRegion();
      if (!op->isAncestor(from->getParentOp()))
        each(operand);
    }
  });
}

} // namespace

Needs mille::entries::needsOf(ArrayRef<Value> outputs, ArrayRef<Value> given) {
  Needs needs;
  SmallVector<Value> open(outputs);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (llvm::is_contained(given, value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      needs.arguments.insert(value);
      continue;
    }
    if (!needs.ops.insert(op))
      continue;
    eachRead(op, [&](OpOperand &operand) {
      if (!readsSizeOnly(operand))
        open.push_back(operand.get());
    });
  }
  return needs;
}

llvm::SmallSetVector<unsigned, 4>
mille::entries::requiredInputs(func::FuncOp entry, unsigned output) {
  llvm::SmallSetVector<unsigned, 4> inputs;
  for (Value argument : needsOf(outputValue(entry, output)).arguments) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    if (!entry.getArgAttr(number, "transformer.default"))
      inputs.insert(number);
  }
  return inputs;
}

namespace {

class Slice {
public:
  Slice(func::FuncOp from, ArrayRef<unsigned> outputs, int64_t cut)
      : from(from), outputs(outputs), cut(cut) {
    SmallVector<Value> values, given;
    for (unsigned output : outputs)
      values.push_back(outputValue(from, output));
    if (cut >= 0)
      given.push_back(outputValue(from, cut));
    needs = needsOf(values, given);
  }

  func::FuncOp make(StringRef name) {
    OpBuilder builder(from.getContext());
    builder.setInsertionPointToEnd(from->getBlock());
    SmallVector<Type> inputTypes, outputTypes;
    SmallVector<DictionaryAttr> inputAttrs, outputAttrs;
    for (BlockArgument argument : from.getArguments())
      if (needs.arguments.contains(argument)) {
        inputTypes.push_back(argument.getType());
        inputAttrs.push_back(from.getArgAttrDict(argument.getArgNumber()));
      }
    if (cut >= 0) {
      inputTypes.push_back(outputValue(from, cut).getType());
      inputAttrs.push_back(from.getResultAttrDict(cut));
    }
    for (unsigned output : outputs) {
      outputTypes.push_back(outputValue(from, output).getType());
      outputAttrs.push_back(from.getResultAttrDict(output));
    }
    auto entry =
        func::FuncOp::create(builder, from.getLoc(), name,
                             builder.getFunctionType(inputTypes, outputTypes));
    function_interface_impl::setAllArgAttrDicts(entry, inputAttrs);
    function_interface_impl::setAllResultAttrDicts(entry, outputAttrs);
    fill(builder, entry);
    return entry;
  }

private:
  void fill(OpBuilder &builder, func::FuncOp entry) {
    Block *block = entry.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    IRMapping to;
    unsigned next = 0;
    for (BlockArgument argument : from.getArguments())
      if (needs.arguments.contains(argument))
        to.map(argument, block->getArgument(next++));
    if (cut >= 0)
      to.map(outputValue(from, cut), block->getArgument(next++));
    for (Operation &op : from.getBody().front().without_terminator())
      if (isPart(op)) {
        // An operand that is read for its size only may be replaced by any
        // input.
        eachRead(&op, [&](OpOperand &operand) {
          if (readsSizeOnly(operand) && !to.contains(operand.get()))
            to.map(operand.get(), block->getArgument(0));
        });
        builder.clone(op, to);
      }
    SmallVector<Value> results;
    for (unsigned output : outputs)
      results.push_back(to.lookup(outputValue(from, output)));
    func::ReturnOp::create(builder, from.getLoc(), results);
  }

  // The keep ops of a needed value are part of the entry too.
  bool isPart(Operation &op) {
    auto keep = dyn_cast<transformer::KeepOp>(op);
    if (!keep)
      return needs.ops.contains(&op);
    Operation *made = keep.getInput().getDefiningOp();
    return made ? needs.ops.contains(made)
                : needs.arguments.contains(keep.getInput());
  }

  func::FuncOp from;
  ArrayRef<unsigned> outputs;
  int64_t cut;
  Needs needs;
};

} // namespace

func::FuncOp mille::entries::makeSlice(func::FuncOp entry, StringRef name,
                                       ArrayRef<unsigned> outputs,
                                       int64_t cut) {
  return Slice(entry, outputs, cut).make(name);
}

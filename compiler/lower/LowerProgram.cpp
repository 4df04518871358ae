// Lowers each planned entry to host code: a launch for each kernel op, a
// call for each step of the runtime, and the layer loop as a loop over the
// weights table. Must not choose anything: plan has.
#include "compiler/lower/HostCode.h"
#include "compiler/lower/LaunchOperands.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/ModelData.h"
#include "compiler/lower/Prepared.h"
#include "compiler/lower/Updates.h"
#include "dialects/kernel/Joined.h"
#include "dialects/kernel/RowSpace.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "runtime/abi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille;
using namespace mille::kernel;
using namespace mille::lower;

namespace {

// Local arrays that each launch fills anew, large enough for the largest
// launch.
struct Frame {
  Value buffers, dimensions, stages, scalars;
};

// What the entries of one program share.
struct Program {
  Program(Operation *model, const WeightTable &table,
          const LowerOptions &options, ModuleOp module)
      : module(module), table(table), options(options),
        types(module.getContext()), constants(module, types),
        data(module, types, constants, options),
        shared(sharedSignatureOf(model)) {
    HostCode::emitDescribe(module, types, constants);
  }

  ModuleOp module;
  const WeightTable &table;
  const LowerOptions &options;
  AbiTypes types;
  ConstantPool constants;
  ModelData data;
  SharedSignature shared;
};

class EntryLowering {
public:
  EntryLowering(func::FuncOp entry, Program &program)
      : forward(entry), program(program), table(program.table),
        options(program.options), types(program.types),
        constants(program.constants), data(program.data),
        code(program.module, types, constants,
             options.name + "_" + entry.getName().str()) {}

  LogicalResult run(std::vector<EntryData> &entries) {
    makeFrame();
    bindArguments();
    if (failed(lowerBlock(forward.getBody().front())))
      return failure();
    code.finish();
    entries.push_back(
        {forward.getName().str(), code.function.getSymName().str(), signature,
         arenaSizesOf(forward), removablePaddingOf(forward), bindings.tables});
    return success();
  }

private:
  void makeFrame() {
    int64_t buffers = 1, stages = 1, scalars = 1;
    forward.walk([&](Operation *op) {
      SmallVector<Operation *> kernels = kernelsOf(*op);
      int64_t launchBuffers = 0, launchScalars = 0;
      for (Operation *kernel : kernels)
        for (OpOperand *operand : operandsOfKernel(kernel))
          ++(isMemref(operand->get()) ? launchBuffers : launchScalars);
      buffers = std::max(buffers, launchBuffers);
      scalars = std::max(scalars, launchScalars);
      stages = std::max<int64_t>(stages, kernels.size());
    });
    frame.buffers = code.local(types.buffer, buffers);
    frame.dimensions =
        code.local(types.dimension, buffers * MILLE_MAX_DIMENSIONS);
    frame.stages = code.local(types.stage, stages);
    frame.scalars = code.local(types.i32, scalars);
  }

  void bindArguments() {
    Value numbers = code.runField(abi::run::sizes);
    for (const SizeInfo &size : signature.sizes)
      runSizes[size.name] =
          code.load(types.i64, numbers, program.shared.size(size.name));
    batch = runSizes[sizes::batch];
    tokenRows = code.runField(abi::run::token_rows);
    paddedRows = code.runField(abi::run::padded_rows);
    arena = code.runField(abi::run::arena);
    fixedBytes = i64(arenaSizesOf(forward).fixedBytes);
    weights = code.runField(abi::run::weights);
    weightOffsets = code.runField(abi::run::table);
    Value inputs = code.runField(abi::run::inputs),
          outputs = code.runField(abi::run::outputs);
    bindings.states = code.runField(abi::run::states);
    unsigned first = sizeArguments(forward);
    for (unsigned i = 0; i < first; ++i)
      index[forward.getArgument(i)] = runSizes.lookup(sizeName(forward, i));
    bindings.tokens = sizeArgument(forward, sizes::tokens);
    int64_t input = 0, output = 0;
    for (unsigned i = first; i < forward.getNumArguments(); ++i) {
      if (isState(forward, i))
        continue; // its entries have addresses
      bool isOutput = !!forward.getArgAttr(i, "kernel.output");
      const TensorInfo &info =
          isOutput ? signature.outputs[output] : signature.inputs[input];
      BlockArgument argument = forward.getArgument(i);
      address[argument] = isOutput ? code.load(types.ptr, outputs, output++)
                                   : code.load(types.ptr, inputs, input++);
      auto shape =
          transformer::ShapeAttr::get(types.i32.getContext(), info.shape);
      extent[argument] =
          rowsIn(rowSpaceOfShape(shape, cast<MemRefType>(argument.getType())));
    }
  }

  Value rowsIn(const RowSpace &space) {
    Value rows = space.size == sizes::tokens ? tokenRows
                 : space.size.empty()
                     ? batch
                     : code.multiply(batch, runSizes.lookup(space.size));
    return space.times == 1
               ? rows
               : code.multiply(rows, code.number(types.i64, space.times));
  }

  LogicalResult lowerBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (failed(lowerOp(op)))
        return failure();
      if (updated.contains(&op))
        code.call("mille_update", {code.run}, /*status=*/true);
    }
    return success();
  }

  LogicalResult lowerOp(Operation &op) {
    if (isGenerated(&op) || isa<LaunchOp>(op))
      return lowerLaunch(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<ArenaOp, RecallOp, WeightOp, GradientOp, LayersOp, RowBlocksOp,
              arith::ConstantOp, arith::MulIOp, arith::AddIOp>(
            [&](auto typed) { return lower(typed); })
        .Default(
            [&](Operation *other) { return lowerPrepared(other, bindings); });
  }

  //===-- Values ----------------------------------------------------------===//

  LogicalResult lower(arith::ConstantOp op) {
    if (auto value = dyn_cast<IntegerAttr>(op.getValue()))
      index[op.getResult()] = code.number(types.i64, value.getInt());
    return success();
  }
  LogicalResult lower(arith::MulIOp op) {
    // Where padding was removed there are fewer rows than batch * tokens, so a
    // product of both becomes the run's own number of rows.
    auto space = rowSpaceOfSize(op.getResult());
    index[op.getResult()] = space && space->size == sizes::tokens
                                ? rowsIn(*space)
                                : code.multiply(index.lookup(op.getLhs()),
                                                index.lookup(op.getRhs()));
    return success();
  }
  LogicalResult lower(arith::AddIOp op) {
    index[op.getResult()] =
        code.add(index.lookup(op.getLhs()), index.lookup(op.getRhs()));
    return success();
  }

  LogicalResult lower(ArenaOp op) {
    Value bytes = i64(op.getOffset());
    if (op.getPerLayer())
      bytes = code.add(bytes, code.multiply(layer, i64(*op.getPerLayer())));
    if (!op.getFixed())
      bytes = code.add(fixedBytes, code.multiply(paddedRows, bytes));
    address[op.getResult()] = code.byteAddress(arena, bytes);
    auto type = cast<MemRefType>(op.getType());
    extent[op.getResult()] = type.hasStaticShape() && type.getRank() > 1
                                 ? fixedRows(type)
                                 : index.lookup(op.getRows());
    return success();
  }

  // What kernels of a buffer without rows of the run call its rows: its last
  // dimension but one.
  Value fixedRows(MemRefType type) {
    const int64_t rank = type.getRank();
    return i64(rank > 1    ? type.getDimSize(rank - 2)
               : rank == 1 ? type.getDimSize(0)
                           : 1);
  }

  LogicalResult lower(RecallOp op) {
    int64_t buffer = op.getIndex();
    auto argument = cast<BlockArgument>(op.getState());
    int64_t number = program.shared.state(
        signature.states[stateNumber(argument.getArgNumber())].name);
    for (int64_t before = 0; before < number; ++before)
      buffer += program.shared.states[before].shape[0].count;
    Value entry = i64(buffer);
    if (layer)
      entry = code.add(entry, layer);
    address[op.getResult()] = code.load(
        types.ptr, code.element(types.ptr, bindings.states, {entry}), 0);
    extent[op.getResult()] = index.lookup(op.getRows());
    return success();
  }

  // Which of the entry's states an argument is.
  int64_t stateNumber(unsigned argument) {
    int64_t number = 0;
    for (unsigned i = 0; i < argument; ++i)
      number += isState(forward, i);
    return number;
  }

  LogicalResult lower(WeightOp op) {
    extent[op.getResult()] = batch; // never used: a weight's sizes are fixed
    return placeInTable(op, weights, layerRow ? layerRow : weightOffsets);
  }
  LogicalResult lower(GradientOp op) {
    extent[op.getResult()] =
        fixedRows(cast<MemRefType>(op.getResult().getType()));
    Value offsets = code.runField(abi::run::gradient_table);
    if (layerRow)
      offsets = code.element(types.i64, offsets, {rowPlace});
    return placeInTable(op, code.runField(abi::run::gradients), offsets);
  }
  LogicalResult placeInTable(Operation *op, Value memory, Value offsets) {
    auto place = table.place.find(op);
    assert(place != table.place.end() && "the table has all weights");
    Value offset = code.load(types.i64, offsets, place->second);
    address[op->getResult(0)] = code.byteAddress(memory, offset);
    return success();
  }

  //===-- Launches --------------------------------------------------------===//

  LogicalResult lowerLaunch(Operation &op) {
    // Destinations inside a launch are addresses, which are computed before it.
    if (auto launch = dyn_cast<LaunchOp>(op))
      for (Operation &inner : launch.getBody().front().without_terminator())
        if (!isGenerated(&inner) && failed(lowerOp(inner)))
          return failure();
    SmallVector<Operation *> kernels = kernelsOf(op);
    if (kernels.empty())
      return success();
    int32_t buffer = 0, scalar = 0;
    for (auto [number, kernel] : llvm::enumerate(kernels))
      fillStage(kernel, number, buffer, scalar);
    Value out = outOf(kernels.front());
    code.call("mille_launch",
              {code.run, frame.stages,
               code.number(types.i32, int64_t(kernels.size())),
               extent.lookup(out)},
              /*status=*/true);
    return success();
  }

  // Attention's scalars are queries, keys, first.
  static constexpr int64_t keyScalars = 1 << 1, firstScalars = 1 << 2;

  void fillStage(Operation *kernel, int32_t number, int32_t &buffer,
                 int32_t &scalar) {
    KernelInfo info = options.describe(kernel);
    Value firstBuffer = code.element(types.buffer, frame.buffers, {buffer});
    Value firstScalar = code.element(types.i32, frame.scalars, {scalar});
    uint32_t buffers = 0, scalars = 0;
    int64_t stacked = 0, tokenBuffers = 0, tokenScalars = 0;
    for (OpOperand *one : operandsOfKernel(kernel)) {
      OpOperand &operand = *one;
      Value value = operand.get();
      if (!isMemref(value)) {
        tokenScalars |= int64_t(value == bindings.tokens) << scalars;
        code.store(code.to32(index.lookup(value)),
                   code.element(types.i32, frame.scalars, {scalar++}));
        ++scalars;
      } else if (isBuffer(operand)) {
        stacked |= int64_t(isStacked(operand)) << buffers;
        tokenBuffers |= int64_t(hasRowPerToken(value)) << buffers;
        code.describe(code.element(types.buffer, frame.buffers, {buffer}),
                      code.element(types.dimension, frame.dimensions,
                                   {buffer * MILLE_MAX_DIMENSIONS}),
                      address.lookup(value), shapeOf(operand, types, constants),
                      extent.lookup(value));
        ++buffer;
        ++buffers;
      }
    }
    assert(buffers == info.bufferCount && scalars == info.scalarCount &&
           "who describes a kernel counts its operands");
    Value zero = i64(0), sequence = sequenceRows(kernel),
          starts = startsOf(kernel), past = pastOf(kernel);
    // Among the keys of another stream queries have no place.
    auto attention = dyn_cast<AttentionOp>(kernel);
    const bool placed = past && attention && attention.getCausal();
    auto parts = inOrder<abi::stage::Field, Value>(
        {{abi::stage::kernel, code.addressOf(data.kernelOf(info))},
         {abi::stage::buffers, firstBuffer},
         {abi::stage::scalars, firstScalar},
         {abi::stage::sequence_rows, sequence ? index.lookup(sequence) : zero},
         {abi::stage::starts,
          starts ? address.lookup(starts) : code.addressOf("")},
         {abi::stage::entries, i64(stackOf(kernel))},
         {abi::stage::stacked, i64(stacked)},
         {abi::stage::token_buffers, code.number(types.i32, tokenBuffers)},
         {abi::stage::token_scalars, code.number(types.i32, tokenScalars)},
         {abi::stage::past, past ? address.lookup(past) : code.addressOf("")},
         {abi::stage::key_scalars,
          code.number(types.i32, past ? keyScalars : 0)},
         {abi::stage::first_scalars,
          code.number(types.i32, placed ? firstScalars : 0)}});
    for (auto [part, value] : llvm::enumerate(parts))
      code.store(value, code.element(types.stage, frame.stages,
                                     {number, int32_t(part)}));
  }

  //===-- The layer loop --------------------------------------------------===//

  // loop(layer, in, out, ...): row = table + first + layer * entries;
  // switch (row[0])
  LogicalResult lower(LayersOp op) {
    const WeightTable::Layers *block = nullptr;
    for (const WeightTable::Layers &candidate : table.layers)
      if (candidate.op == op)
        block = &candidate;
    assert(block && "the weights table has all stacks of the model");
    OpBuilder &builder = code.builder;
    SmallVector<Type> carried(op.getStream().size() + 1, types.ptr);
    carried.front() = types.i64;
    Block *head = code.newBlock(carried);
    Block *next = code.newBlock(), *done = code.newBlock();
    Value layers = code.opaque(op.getBodies().size());
    SmallVector<Value> initial{code.number(types.i64, 0)};
    for (Value buffer : op.getStream())
      initial.push_back(address.lookup(buffer));
    LLVM::BrOp::create(builder, code.loc, initial, head);

    builder.setInsertionPointToEnd(head);
    Value turn = head->getArgument(0);
    layer = op.getReverse() ? code.subtract(code.subtract(layers, i64(1)), turn)
                            : turn;
    rowPlace = code.add(i64(block->firstEntry),
                        code.multiply(layer, i64(block->rowEntries)));
    layerRow = code.element(types.i64, weightOffsets, {rowPlace});
    if (failed(lowerBodies(op, head->getArguments().drop_front(), next)))
      return failure();

    builder.setInsertionPointToEnd(next);
    Value following = code.add(turn, i64(1));
    Value more = LLVM::ICmpOp::create(
        builder, code.loc, LLVM::ICmpPredicate::ult, following, layers);
    // The next layer reads what this one wrote: each pair of buffers is
    // swapped.
    SmallVector<Value> turned{following};
    for (unsigned i = 1; i < head->getNumArguments(); i += 2)
      turned.append({head->getArgument(i + 1), head->getArgument(i)});
    LLVM::CondBrOp::create(builder, code.loc, more, head, turned, done,
                           ValueRange());
    builder.setInsertionPointToEnd(done);
    layer = layerRow = nullptr;
    return success();
  }

  LogicalResult lowerBodies(LayersOp op, ValueRange stream, Block *next) {
    OpBuilder &builder = code.builder;
    SmallVector<Block *> entries;
    SmallVector<int32_t> numbers;
    for (unsigned body = 1; body < op->getNumRegions(); ++body) {
      entries.push_back(code.newBlock());
      numbers.push_back(body);
    }
    Block *zeroth = code.newBlock();
    if (entries.empty())
      LLVM::BrOp::create(builder, code.loc, zeroth);
    else
      LLVM::SwitchOp::create(builder, code.loc,
                             code.to32(code.load(types.i64, layerRow, 0)),
                             zeroth, ValueRange(), numbers, entries,
                             SmallVector<ValueRange>(entries.size()));
    entries.insert(entries.begin(), zeroth);
    for (auto [region, entry] : llvm::zip(op->getRegions(), entries)) {
      builder.setInsertionPointToEnd(entry);
      Block &body = region.front();
      for (auto [argument, buffer] :
           llvm::zip_equal(body.getArguments(), stream)) {
        address[argument] = buffer;
        extent[argument] =
            extent.lookup(op.getStream()[argument.getArgNumber()]);
      }
      for (const Update &update : updatesOf(op, region.getRegionNumber()))
        updated.insert(update.after);
      if (failed(lowerBlock(body)))
        return failure();
      LLVM::BrOp::create(builder, code.loc, next);
    }
    return success();
  }

  //===-- Blocks of rows --------------------------------------------------===//

  // loop(first): the rows from `first` on, `rows` of them or what is left.
  LogicalResult lower(RowBlocksOp op) {
    OpBuilder &builder = code.builder;
    Value all = extent.lookup(op.getInputs().front()), most = i64(op.getRows());
    Block *head = code.newBlock({types.i64}), *done = code.newBlock();
    LLVM::BrOp::create(builder, code.loc, i64(0), head);
    builder.setInsertionPointToEnd(head);
    Value first = head->getArgument(0), left = code.subtract(all, first);
    Value isLast = LLVM::ICmpOp::create(builder, code.loc,
                                        LLVM::ICmpPredicate::ule, left, most);
    Value rows = LLVM::SelectOp::create(builder, code.loc, isLast, left, most);
    Block &body = op.getBody().front();
    index[body.getArgument(0)] = rows;
    for (auto [argument, whole] :
         llvm::zip_equal(body.getArguments().drop_front(), op->getOperands())) {
      Value before = code.multiply(first, i64(bytesOfRow(whole)));
      address[argument] = code.byteAddress(address.lookup(whole), before);
      extent[argument] = rows;
    }
    if (failed(lowerBlock(body)))
      return failure();
    LLVM::CondBrOp::create(builder, code.loc, isLast, done, ValueRange(), head,
                           ValueRange(code.add(first, most)));
    builder.setInsertionPointToEnd(done);
    return success();
  }

  Value i64(int64_t value) { return code.number(types.i64, value); }

  func::FuncOp forward;
  Program &program;
  const WeightTable &table;
  const LowerOptions &options;
  const AbiTypes &types;
  ConstantPool &constants;
  ModelData &data;
  HostCode code;
  Signature signature = signatureOf(forward);
  Frame frame;
  llvm::StringMap<Value> runSizes; // by name
  Value batch, tokenRows, paddedRows, arena, fixedBytes, weights, weightOffsets;
  Value layerRow, rowPlace;            // in the loop
  llvm::DenseSet<Operation *> updated; // what a call of mille_update follows
  Bindings bindings{code, types, constants, signature, program.shared};
  Value &layer = bindings.layer;
  DenseMap<Value, Value> &address = bindings.address;
  DenseMap<Value, Value> &extent = bindings.extent;
  DenseMap<Value, Value> &index = bindings.index;
};

} // namespace

Status mille::lowerProgram(Operation *model, const WeightTable &table,
                           const LowerOptions &options,
                           OwningOpRef<ModuleOp> &module) {
  SmallVector<func::FuncOp> entries = entriesOf(model);
  if (entries.empty()) {
    model->emitError("has no entry");
    return Status::bug;
  }
  for (func::FuncOp entry : entries)
    if (!entry->hasAttr("kernel.arena_bytes_per_row")) {
      entry.emitError("is not planned");
      return Status::bug;
    }
  if (failed(checkTrained(model, table)))
    return Status::input;
  model->getContext()->loadDialect<LLVM::LLVMDialect>();
  module = ModuleOp::create(model->getLoc());
  Program program(model, table, options, *module);
  std::vector<EntryData> lowered;
  for (func::FuncOp entry : entries)
    if (failed(EntryLowering(entry, program).run(lowered)))
      return Status::bug;
  program.data.emitModel(model, lowered, program.shared, table);
  return failed(verify(*module)) ? Status::bug : Status::done;
}

// mille_model, field by field in the order of runtime/abi.h.
// Decides nothing: the plan and the kernels have.
#include "compiler/lower/ModelData.h"
#include "mlir/IR/Builders.h"
#include "runtime/abi.h"
#include "runtime/mille.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mille::lower {

std::string ModelData::kernelOf(const KernelInfo &info) {
  for (auto &[name, symbol] : kernels)
    if (name == info.name)
      return symbol;
  auto i32 = [&](uint64_t value) { return Constant::of(types.i32, value); };
  auto i64 = [&](uint64_t value) { return Constant::of(types.i64, value); };

  std::vector<Constant> functions; // [isa * 2 + few-or-many]
  Type function = LLVM::LLVMFunctionType::get(types.i32, {types.ptr});
  for (const Isa &isa : options.isas)
    for (RowClass rows : {RowClass::few, RowClass::many}) {
      std::string symbol = options.symbol(info, isa, rows);
      constants.declare(symbol, function);
      functions.push_back(Constant::address(types, symbol));
    }
  std::string table = constants.addArray("functions", types.ptr, functions);

  std::vector<Constant> rowDimension;
  for (size_t i = 0; i < AbiTypes::maxBuffers; ++i)
    rowDimension.push_back(Constant::of(
        types.i8, i < info.rowDimension.size() ? info.rowDimension[i] : -1));
  Constant value = Constant::aggregate(
      types.kernel,
      {text(info.name), i32(info.partition), i32(info.bufferCount),
       i32(info.scalarCount), i32(info.columnUnit), i32(info.rowUnit),
       i32(info.fewRows), i32(info.keyUnit), i64(info.flopsPerRow),
       i64(info.bytesWeights),
       Constant::aggregate(
           LLVM::LLVMArrayType::get(types.i8, AbiTypes::maxBuffers),
           rowDimension),
       Constant::address(types, table)});
  kernels.emplace_back(info.name, constants.add("kernel", value));
  scratchBytes = std::max(scratchBytes, info.scratchBytes);
  scratchBytesPerToken =
      std::max(scratchBytesPerToken, info.scratchBytesPerToken);
  return kernels.back().second;
}

static int64_t wordOf(const ShapeExtent &extent) {
  return !extent.isSize()               ? extent.count
         : extent.size == sizes::batch  ? MILLE_BATCH
         : extent.size == sizes::tokens ? MILLE_TOKENS
                                        : MILLE_DECODER_TOKENS;
}

Constant ModelData::tensorArray(ArrayRef<kernel::TensorInfo> infos) {
  std::vector<Constant> parts;
  for (const kernel::TensorInfo &info : infos) {
    std::vector<Constant> shape;
    for (size_t i = 0; i < 4; ++i)
      shape.push_back(Constant::of(
          types.i64, i < info.shape.size() ? wordOf(info.shape[i]) : 0));
    int64_t fallback = llvm::StringSwitch<int64_t>(info.fallback)
                           .Case("ones", MILLE_DEFAULT_ONES)
                           .Case("zeros", MILLE_DEFAULT_ZEROS)
                           .Case("positions", MILLE_DEFAULT_POSITIONS)
                           .Cases({"none", "last"}, MILLE_DEFAULT_LAST)
                           .Default(MILLE_REQUIRED);
    parts.push_back(Constant::aggregate(
        types.tensorInfo,
        {text(info.name),
         Constant::of(types.i32, info.isFloat ? MILLE_F32 : MILLE_I32),
         Constant::of(types.i32, info.shape.size()),
         Constant::aggregate(LLVM::LLVMArrayType::get(types.i64, 4), shape),
         Constant::of(types.i32, fallback), Constant::of(types.i32, 0),
         Constant::of(types.i64, info.below)}));
  }
  return Constant::address(
      types, constants.addArray("tensors", types.tensorInfo, std::move(parts)));
}

Constant ModelData::isaArray() {
  std::vector<Constant> parts;
  for (const Isa &isa : options.isas) {
    std::string backend;
    if (!isa.backend.empty()) {
      backend = "mille_" + isa.backend + "_backend";
      constants.declare(backend, types.i8);
    }
    parts.push_back(Constant::aggregate(
        types.isa, {text(isa.name), Constant::of(types.i64, isa.features),
                    Constant::address(types, backend)}));
  }
  return Constant::address(
      types, constants.addArray("isas", types.isa, std::move(parts)));
}

Constant ModelData::scheduleArray(ArrayRef<kernel::ScheduledScale> scales) {
  std::vector<Constant> parts;
  for (const kernel::ScheduledScale &scale : scales)
    parts.push_back(Constant::aggregate(
        types.schedule, {text(scale.name), Constant::real(types, scale.from),
                         Constant::real(types, scale.to),
                         Constant::of(types.i64, scale.steps)}));
  return Constant::address(
      types, parts.empty() ? ""
                           : constants.addArray("schedules", types.schedule,
                                                std::move(parts)));
}

Constant ModelData::stackArray(ArrayRef<WeightTable::Layers> layers) {
  auto i64 = [&](uint64_t value) { return Constant::of(types.i64, value); };
  std::vector<Constant> parts;
  for (const WeightTable::Layers &block : layers)
    parts.push_back(Constant::aggregate(
        types.stack, {i64(block.firstEntry), i64(block.rowEntries),
                      i64(block.bodies.size())}));
  return Constant::address(
      types, constants.addArray("stacks", types.stack, std::move(parts)));
}

static int64_t mostOf(const kernel::Signature &signature, StringRef name) {
  const kernel::SizeInfo *size = signature.size(name);
  return size ? size->most : 0;
}

void ModelData::emitModel(const kernel::Signature &signature,
                          const kernel::ArenaSizes &arena,
                          const kernel::RemovablePadding &padding,
                          const WeightTable &table, StringRef forward) {
  auto i32 = [&](uint64_t value) { return Constant::of(types.i32, value); };
  auto i64 = [&](uint64_t value) { return Constant::of(types.i64, value); };
  std::vector<Constant> pointers;
  for (auto &[name, symbol] : kernels)
    pointers.push_back(Constant::address(types, symbol));
  std::string embedded;
  if (options.embedWeights) {
    embedded = options.name + "_weights_data";
    constants.declare(embedded, types.i8);
  }
  Constant value = Constant::aggregate(
      types.model,
      {i32(MILLE_ABI_VERSION),
       i32(options.isas.size()),
       i32(signature.inputs.size()),
       i32(signature.outputs.size()),
       i32(kernels.size()),
       i32(mostOf(signature, sizes::tokens)),
       text(options.name),
       isaArray(),
       tensorArray(signature.inputs),
       tensorArray(signature.outputs),
       Constant::address(types,
                         constants.addArray("kernels", types.ptr, pointers)),
       i64(arena.bytesPerRow),
       i64(scratchBytes),
       i64(scratchBytesPerToken),
       i64(options.weightsBytes),
       i64(options.weightsHash),
       Constant::address(types, embedded),
       Constant::address(types, forward),
       i32(mostOf(signature, sizes::decoderTokens)),
       i32(arena.fixedTokens),
       i32(arena.slots),
       i32(signature.scales.size()),
       scheduleArray(signature.scales),
       i32(padding.ends),
       i32(padding.maskInput),
       i64(table.layers.size()),
       stackArray(table.layers)});
  std::string symbol = constants.add("model", value);

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto getter =
      LLVM::LLVMFuncOp::create(builder, loc, options.name + "_model",
                               LLVM::LLVMFunctionType::get(types.ptr, {}));
  builder.setInsertionPointToEnd(getter.addEntryBlock(builder));
  Value model = LLVM::AddressOfOp::create(builder, loc, types.ptr, symbol);
  LLVM::ReturnOp::create(builder, loc, model);
}

} // namespace mille::lower

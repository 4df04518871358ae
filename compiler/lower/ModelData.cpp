// The values of mille_model and of the structs that it points at, by the names
// of runtime/abi.def. Must not decide anything: plan and the kernels have.
#include "compiler/lower/ModelData.h"
#include "mlir/IR/Builders.h"
#include "runtime/abi.h"
#include "runtime/mille.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mille::lower {

// A constant of a struct: every field with its value.
template <typename Field>
static Constant record(Type type, ArrayRef<std::pair<Field, Constant>> fields) {
  return Constant::aggregate(type, inOrder<Field, Constant>(fields));
}

Constant ModelData::array(StringRef stem, Type element,
                          std::vector<Constant> parts) {
  return Constant::address(types,
                           constants.addArray(stem, element, std::move(parts)));
}

std::string ModelData::kernelOf(const KernelInfo &info) {
  for (auto &[name, symbol] : kernels)
    if (name == info.name)
      return symbol;

  std::vector<Constant> functions; // [isa * 2 + few-or-many]
  Type function = LLVM::LLVMFunctionType::get(types.i32, {types.ptr});
  for (const Target &isa : options.isas)
    for (RowClass rows : {RowClass::few, RowClass::many}) {
      std::string symbol = options.symbol(info, isa, rows);
      constants.declare(symbol, function);
      functions.push_back(Constant::address(types, symbol));
    }
  std::string table = constants.addArray("functions", types.ptr, functions);

  std::vector<Constant> rowDimension(info.rowDimension.begin(),
                                     info.rowDimension.end());
  rowDimension.resize(MILLE_MAX_BUFFERS, -1);
  using Field = abi::kernel::Field;
  Constant value = record<Field>(
      types.kernel, {{Field::name, text(info.name)},
                     {Field::partition, info.partition},
                     {Field::buffer_count, info.bufferCount},
                     {Field::scalar_count, info.scalarCount},
                     {Field::column_unit, info.columnUnit},
                     {Field::row_unit, info.rowUnit},
                     {Field::few_rows, info.fewRows},
                     {Field::key_unit, info.keyUnit},
                     {Field::flops_per_row, info.flopsPerRow},
                     {Field::bytes_weights, info.bytesWeights},
                     {Field::row_dimension,
                      Constant::aggregate(
                          LLVM::LLVMArrayType::get(types.i8, MILLE_MAX_BUFFERS),
                          rowDimension)},
                     {Field::functions, Constant::address(types, table)}});
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
  using Field = abi::tensor_info::Field;
  std::vector<Constant> parts;
  for (const kernel::TensorInfo &info : infos) {
    std::vector<Constant> shape;
    for (const ShapeExtent &extent : info.shape)
      shape.push_back(wordOf(extent));
    shape.resize(MILLE_MAX_DIMENSIONS, 0);
    int64_t fallback = llvm::StringSwitch<int64_t>(info.fallback)
                           .Case("ones", MILLE_DEFAULT_ONES)
                           .Case("zeros", MILLE_DEFAULT_ZEROS)
                           .Case("positions", MILLE_DEFAULT_POSITIONS)
                           .Cases({"none", "last"}, MILLE_DEFAULT_LAST)
                           .Default(MILLE_REQUIRED);
    parts.push_back(record<Field>(
        types.tensor_info,
        {{Field::name, text(info.name)},
         {Field::type, info.isFloat ? MILLE_F32 : MILLE_I32},
         {Field::rank, info.shape.size()},
         {Field::shape,
          Constant::aggregate(
              LLVM::LLVMArrayType::get(types.i64, MILLE_MAX_DIMENSIONS),
              shape)},
         {Field::fallback, fallback},
         {Field::reserved, 0},
         {Field::below, info.below}}));
  }
  return array("tensors", types.tensor_info, std::move(parts));
}

Constant ModelData::isaArray() {
  using Field = abi::isa::Field;
  std::vector<Constant> parts;
  for (const Target &isa : options.isas) {
    std::string backend;
    if (!isa.backend.empty()) {
      backend = "mille_" + isa.backend + "_backend";
      constants.declare(backend, types.i8);
    }
    parts.push_back(record<Field>(
        types.isa, {{Field::name, text(isa.name)},
                    {Field::features, isa.features},
                    {Field::backend, Constant::address(types, backend)}}));
  }
  return array("isas", types.isa, std::move(parts));
}

Constant ModelData::scheduleArray(ArrayRef<kernel::ScheduledScale> scales) {
  using Field = abi::schedule_info::Field;
  std::vector<Constant> parts;
  for (const kernel::ScheduledScale &scale : scales)
    parts.push_back(record<Field>(
        types.schedule_info, {{Field::name, text(scale.name)},
                              {Field::from, Constant::real(types, scale.from)},
                              {Field::to, Constant::real(types, scale.to)},
                              {Field::steps, scale.steps}}));
  return array("schedules", types.schedule_info, std::move(parts));
}

// What each body reads at the entries of its row behind its number; 0: nothing.
static std::vector<int64_t> bytesOfBodies(const WeightTable::Layers &block) {
  uint64_t width = block.rowEntries - 1;
  std::vector<int64_t> bytes(block.op->getNumRegions() * width, 0);
  for (auto [body, row] : llvm::zip(block.bodies, block.rows))
    for (auto [entry, weight] : llvm::enumerate(row))
      bytes[body * width + entry] = weight.bytes();
  return bytes;
}

Constant ModelData::wordArray(ArrayRef<int64_t> words) {
  return Constant::address(types,
                           words.empty() ? "" : constants.addWords(words));
}

Constant ModelData::stackArray(ArrayRef<WeightTable::Layers> layers) {
  using Field = abi::stack_info::Field;
  std::vector<Constant> parts;
  for (const WeightTable::Layers &block : layers)
    parts.push_back(record<Field>(
        types.stack_info, {{Field::first_entry, block.firstEntry},
                           {Field::row_entries, block.rowEntries},
                           {Field::layers, block.bodies.size()},
                           {Field::bodies, block.op->getNumRegions()},
                           {Field::bytes, wordArray(bytesOfBodies(block))}}));
  return array("stacks", types.stack_info, std::move(parts));
}

static int64_t mostOf(const kernel::Signature &signature, StringRef name) {
  const kernel::SizeInfo *size = signature.size(name);
  return size ? size->most : 0;
}

void ModelData::emitModel(const kernel::Signature &signature,
                          const kernel::ArenaSizes &arena,
                          const kernel::RemovablePadding &padding,
                          const WeightTable &table, StringRef forward) {
  std::vector<Constant> pointers;
  for (auto &[name, symbol] : kernels)
    pointers.push_back(Constant::address(types, symbol));
  std::vector<int64_t> placeBytes;
  for (const WeightEntry &entry : table.globals)
    placeBytes.push_back(entry.bytes());
  std::string embedded;
  if (options.embedWeights) {
    embedded = options.name + "_weights_data";
    constants.declare(embedded, types.i8);
  }
  using Field = abi::model::Field;
  Constant value = record<Field>(
      types.model,
      {{Field::abi_version, MILLE_ABI_VERSION},
       {Field::isa_count, options.isas.size()},
       {Field::input_count, signature.inputs.size()},
       {Field::output_count, signature.outputs.size()},
       {Field::kernel_count, kernels.size()},
       {Field::max_tokens, mostOf(signature, sizes::tokens)},
       {Field::name, text(options.name)},
       {Field::isas, isaArray()},
       {Field::inputs, tensorArray(signature.inputs)},
       {Field::outputs, tensorArray(signature.outputs)},
       {Field::kernels, array("kernels", types.ptr, std::move(pointers))},
       {Field::arena_bytes_per_row, arena.bytesPerRow},
       {Field::scratch_bytes, scratchBytes},
       {Field::scratch_bytes_per_token, scratchBytesPerToken},
       {Field::weights_bytes, options.weightsBytes},
       {Field::weights_hash, options.weightsHash},
       {Field::weights, Constant::address(types, embedded)},
       {Field::forward, Constant::address(types, forward)},
       {Field::max_decoder_tokens, mostOf(signature, sizes::decoderTokens)},
       {Field::fixed_tokens, arena.fixedTokens},
       {Field::slots, arena.slots},
       {Field::schedule_count, signature.scales.size()},
       {Field::schedules, scheduleArray(signature.scales)},
       {Field::padding_ends, padding.ends},
       {Field::mask_input, padding.maskInput},
       {Field::stack_count, table.layers.size()},
       {Field::stacks, stackArray(table.layers)},
       {Field::place_count, table.globals.size()},
       {Field::place_bytes, wordArray(placeBytes)},
       {Field::table_hash, options.tableHash}});
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

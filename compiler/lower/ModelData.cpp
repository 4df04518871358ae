// The values of mille_model and of the structs that it points at, by the names
// of runtime/abi.def. Must not decide anything: plan and the kernels have.
#include "compiler/lower/ModelData.h"
#include "dialects/kernel/HeldPanels.h"
#include "mlir/IR/Builders.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mille::lower {

Constant ModelData::array(StringRef stem, Type element,
                          std::vector<Constant> parts) {
  return Constant::address(types,
                           constants.addArray(stem, element, std::move(parts)));
}

std::string ModelData::kernelOf(const KernelInfo &info) {
  for (auto &[name, symbol] : kernels)
    if (name == info.name)
      return symbol;

  Type function = LLVM::LLVMFunctionType::get(types.i32, {types.ptr});
  auto tableOf = [&](ArrayRef<RowClass> variants) {
    std::vector<Constant> functions; // [isa * variants + variant]
    for (const Target &isa : options.isas)
      for (RowClass rows : variants) {
        std::string symbol = options.symbol(info, isa, rows);
        if (!symbol.empty())
          constants.declare(symbol, function);
        functions.push_back(Constant::address(types, symbol));
      }
    return constants.addArray("functions", types.ptr, functions);
  };
  std::string table = tableOf({RowClass::few, RowClass::many});
  std::string joins = info.stretchKeys ? tableOf({RowClass::join}) : "";

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
                     {Field::functions, Constant::address(types, table)},
                     {Field::joins, Constant::address(types, joins)},
                     {Field::part_bytes, info.partBytes},
                     {Field::part_rows, info.partRows},
                     {Field::stretch_keys, info.stretchKeys},
                     {Field::panels, info.panels}});
  kernels.emplace_back(info.name, constants.add("kernel", value));
  scratchBytes = std::max(scratchBytes, info.scratchBytes);
  scratchBytesPerToken =
      std::max(scratchBytesPerToken, info.scratchBytesPerToken);
  return kernels.back().second;
}

static int64_t wordOf(const ShapeExtent &extent,
                      const kernel::SharedSignature &shared) {
  return extent.isSize() ? ~shared.size(extent.size) : extent.count;
}

static int64_t codeOf(kernel::PortElement element) {
  switch (element) {
  case kernel::PortElement::i32:
    return MILLE_I32;
  case kernel::PortElement::f32:
    return MILLE_F32;
  case kernel::PortElement::bf16:
    return MILLE_BF16;
  case kernel::PortElement::i8:
    return MILLE_I8;
  case kernel::PortElement::f16:
    return MILLE_F16;
  }
  return MILLE_I32;
}

// An encoder's tokens that are remembered are at most what the session has room
// for, unless the model fixes how many they are.
static int64_t belowOf(const kernel::TensorInfo &info,
                       const kernel::SharedSignature &shared) {
  return info.name == kernel::sourceTokensName && !info.below
             ? ~shared.size(sizes::source)
             : info.below;
}

Constant ModelData::tensorArray(ArrayRef<kernel::TensorInfo> infos,
                                const kernel::SharedSignature &shared,
                                Operation *model) {
  using Field = abi::tensor_info::Field;
  std::vector<Constant> parts;
  for (const kernel::TensorInfo &info : infos) {
    const kernel::HeldPanels held =
        model ? kernel::heldPanels(model, info.name) : kernel::HeldPanels();
    std::vector<Constant> shape;
    for (const ShapeExtent &extent : info.shape)
      shape.push_back(wordOf(extent, shared));
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
         {Field::type, codeOf(info.element)},
         {Field::rank, info.shape.size()},
         {Field::shape,
          Constant::aggregate(
              LLVM::LLVMArrayType::get(types.i64, MILLE_MAX_DIMENSIONS),
              shape)},
         {Field::fallback, fallback},
         {Field::least, info.name == kernel::sourceTokensName},
         {Field::below, belowOf(info, shared)},
         {Field::windows, wordArray(held.windows)},
         {Field::heads, held.heads},
         {Field::keys, held.keys}}));
  }
  return array("tensors", types.tensor_info, std::move(parts));
}

Constant ModelData::sizeArray(const kernel::SharedSignature &shared) {
  using Field = abi::size_info::Field;
  auto pair = [](Type element, int64_t first, int64_t second) {
    return Constant::aggregate(
        LLVM::LLVMArrayType::get(element, 2),
        {Constant::of(element, first), Constant::of(element, second)});
  };
  auto sideOf = [&](const kernel::SizeInfo &size, unsigned axis) {
    return size.rule ? shared.size(size.rule->from[axis])
                     : int64_t(MILLE_NO_SIZE);
  };
  std::vector<Constant> parts;
  for (const kernel::SizeInfo &size : shared.sizes) {
    const kernel::SizeRule rule = size.rule.value_or(kernel::SizeRule());
    const bool given = size.isGiven();
    parts.push_back(record<Field>(
        types.size_info,
        {{Field::name, text(size.name)},
         {Field::most, size.most},
         {Field::multiple, size.multiple},
         {Field::from, pair(types.i32, sideOf(size, 0), sideOf(size, 1))},
         {Field::step,
          pair(types.i64, given ? 0 : rule.step[0], given ? 0 : rule.step[1])},
         {Field::prefix, rule.prefix},
         {Field::each, rule.each},
         {Field::up, rule.up},
         {Field::least, size.least}}));
  }
  return array("sizes", types.size_info, std::move(parts));
}

// The number of the input that counts the rows of an entry's states.
static int64_t pastInput(const kernel::Signature &signature) {
  for (auto [number, input] : llvm::enumerate(signature.inputs))
    if (input.name == kernel::pastName)
      return number;
  return MILLE_NO_INPUT;
}

Constant ModelData::entryOf(const EntryData &entry,
                            const kernel::SharedSignature &shared) {
  const kernel::Signature &own = entry.signature;
  uint64_t states = 0;
  for (const kernel::TensorInfo &state : own.states)
    states |= uint64_t(1) << shared.state(state.name);
  using Field = abi::entry::Field;
  return record<Field>(
      types.entry, {{Field::name, text(entry.name)},
                    {Field::forward, Constant::address(types, entry.symbol)},
                    {Field::input_count, own.inputs.size()},
                    {Field::output_count, own.outputs.size()},
                    {Field::inputs, tensorArray(own.inputs, shared)},
                    {Field::outputs, tensorArray(own.outputs, shared)},
                    {Field::arena_bytes_per_row, entry.arena.bytesPerRow},
                    {Field::arena_fixed_bytes, entry.arena.fixedBytes},
                    {Field::fixed_tokens, entry.arena.fixedTokens},
                    {Field::slots, entry.arena.slots},
                    {Field::padding_ends, entry.padding.ends},
                    {Field::mask_input, entry.padding.maskInput},
                    {Field::states, int64_t(states)},
                    {Field::past_input, pastInput(own)},
                    {Field::state_rows, entry.arena.stateRows},
                    {Field::table_count, entry.tables.count},
                    {Field::table_columns, entry.tables.columns},
                    {Field::table_rows, wordOf(entry.tables.rows, shared)}});
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

// The bytes that each body reads at each entry of its row after the body's
// number; 0: it does not read the entry.
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

void ModelData::emitModel(Operation *trained, ArrayRef<EntryData> entries,
                          const kernel::SharedSignature &shared,
                          const WeightTable &table) {
  std::vector<Constant> pointers, functions;
  for (auto &[name, symbol] : kernels)
    pointers.push_back(Constant::address(types, symbol));
  for (const EntryData &entry : entries)
    functions.push_back(entryOf(entry, shared));
  std::vector<int64_t> placeBytes;
  for (const WeightEntry &entry : table.globals)
    placeBytes.push_back(entry.bytes());
  std::string embedded;
  if (options.embedWeights) {
    embedded = options.name + "_weights_data";
    constants.declare(embedded, types.i8);
  }
  const int64_t tokens = shared.size(sizes::tokens);
  using Field = abi::model::Field;
  Constant value = record<Field>(
      types.model,
      {{Field::abi_version, MILLE_ABI_VERSION},
       {Field::isa_count, options.isas.size()},
       {Field::entry_count, entries.size()},
       {Field::size_count, shared.sizes.size()},
       {Field::state_count, shared.states.size()},
       {Field::kernel_count, kernels.size()},
       {Field::name, text(options.name)},
       {Field::isas, isaArray()},
       {Field::entries, array("entries", types.entry, std::move(functions))},
       {Field::sizes, sizeArray(shared)},
       {Field::states, tensorArray(shared.states, shared, trained)},
       {Field::kernels, array("kernels", types.ptr, std::move(pointers))},
       {Field::token_size, tokens < 0 ? int64_t(MILLE_NO_SIZE) : tokens},
       {Field::schedule_count, shared.scales.size()},
       {Field::schedules, scheduleArray(shared.scales)},
       {Field::scratch_bytes, scratchBytes},
       {Field::scratch_bytes_per_token, scratchBytesPerToken},
       {Field::weights_bytes, options.weights.bytes},
       {Field::weights_hash, options.weights.hash},
       {Field::weights, Constant::address(types, embedded)},
       {Field::stack_count, table.layers.size()},
       {Field::stacks, stackArray(table.layers)},
       {Field::place_count, table.globals.size()},
       {Field::place_bytes, wordArray(placeBytes)},
       {Field::table_hash, options.weights.tableHash},
       {Field::training, trainingOf(trained, entries, table)}});
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

// Mirrors runtime/abi.h, struct by struct in its order; initializers of
// globals. Emits no code.
#include "compiler/lower/AbiTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mille::lower {

AbiTypes::AbiTypes(MLIRContext *context) {
  Builder builder(context);
  i1 = builder.getI1Type();
  i8 = builder.getI8Type();
  i16 = builder.getIntegerType(16);
  i32 = builder.getI32Type();
  i64 = builder.getI64Type();
  f64 = builder.getF64Type();
  ptr = LLVM::LLVMPointerType::get(context);
  none = LLVM::LLVMVoidType::get(context);
  auto record = [&](ArrayRef<Type> fields) -> Type {
    return LLVM::LLVMStructType::getLiteral(context, fields);
  };
  auto array = [&](Type element, int64_t count) -> Type {
    return LLVM::LLVMArrayType::get(element, count);
  };
  dimension = record({i32, i32, i32, i32});
  // device, device_interface, host, flags, type as one word, dimensions,
  // dimension, padding
  buffer = record({i64, ptr, ptr, i64, i32, i32, ptr, ptr});
  // kernel, buffers, scalars, sequence_rows, starts, entries, stacked,
  // token_buffers, token_scalars
  stage = record({ptr, ptr, ptr, i64, ptr, i64, i64, i32, i32});
  // name, partition .. key_unit, flops_per_row, bytes_weights, row_dimension,
  // functions
  kernel = record({ptr, i32, i32, i32, i32, i32, i32, i32, i64, i64,
                   array(i8, maxBuffers), ptr});
  // batch, tokens, decoder_tokens, token_rows, padded_rows, arena, weights,
  // table, inputs, outputs
  run = record({i64, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr});
  tensorInfo = record({ptr, i32, i32, array(i64, 4), i32, i32, i64});
  isa = record({ptr, i64, ptr});
  // abi_version .. max_tokens, name, isas, inputs, outputs, kernels,
  // arena_bytes_per_row .. weights_hash, weights, forward,
  // max_decoder_tokens .. schedule_count, schedules, padding_ends, mask_input,
  // stack_count, stacks
  model = record({i32, i32, i32, i32, i32, i32, ptr, ptr, ptr,
                  ptr, ptr, i64, i64, i64, i64, i64, ptr, ptr,
                  i32, i32, i32, i32, ptr, i32, i32, i64, ptr});
  stack = record({i64, i64, i64});
  schedule = record({ptr, f64, f64, i64});
  // type, dimensions, (extent, -1: rows; stride) each
  shape = record({i32, i32, array(record({i32, i32}), maxDimensions)});
}

namespace {

// `value` built inside an initializer.
Value build(OpBuilder &builder, Location loc, const Constant &value) {
  if (!value.parts.empty()) {
    Value whole = LLVM::UndefOp::create(builder, loc, value.type);
    for (auto [index, part] : llvm::enumerate(value.parts))
      whole = LLVM::InsertValueOp::create(builder, loc, whole,
                                          build(builder, loc, part),
                                          ArrayRef<int64_t>(index));
    return whole;
  }
  if (!value.symbol.empty())
    return LLVM::AddressOfOp::create(builder, loc, value.type, value.symbol);
  if (isa<LLVM::LLVMPointerType>(value.type))
    return LLVM::ZeroOp::create(builder, loc, value.type);
  if (value.type.isF64())
    return LLVM::ConstantOp::create(
        builder, loc, value.type,
        builder.getF64FloatAttr(llvm::bit_cast<double>(value.number)));
  return LLVM::ConstantOp::create(
      builder, loc, value.type,
      builder.getIntegerAttr(value.type, value.number));
}

// What tells constants apart.
Attribute keyOf(Builder &builder, const Constant &value) {
  SmallVector<Attribute> key{TypeAttr::get(value.type),
                             builder.getI64IntegerAttr(value.number),
                             builder.getStringAttr(value.symbol)};
  for (const Constant &part : value.parts)
    key.push_back(keyOf(builder, part));
  return builder.getArrayAttr(key);
}

} // namespace

std::string ConstantPool::fresh(StringRef stem) {
  return (stem + "." + Twine(count[stem]++)).str();
}

std::string ConstantPool::add(StringRef stem, const Constant &value) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto [at, isNew] = byKey.try_emplace(keyOf(builder, value));
  if (!isNew)
    return at->second;
  at->second = fresh(stem);
  auto global = LLVM::GlobalOp::create(
      builder, module.getLoc(), value.type,
      /*isConstant=*/true, LLVM::Linkage::Private, at->second, Attribute());
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, module.getLoc(),
                         build(builder, module.getLoc(), value));
  return at->second;
}

std::string ConstantPool::addArray(StringRef stem, Type element,
                                   std::vector<Constant> parts) {
  if (parts.empty())
    return "";
  Type type = LLVM::LLVMArrayType::get(element, parts.size());
  return add(stem, Constant::aggregate(type, std::move(parts)));
}

std::string ConstantPool::addString(StringRef text) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  StringAttr bytes = builder.getStringAttr(text + Twine('\0'));
  auto [at, isNew] = byKey.try_emplace(bytes);
  if (!isNew)
    return at->second;
  at->second = fresh("text");
  LLVM::GlobalOp::create(builder, module.getLoc(),
                         LLVM::LLVMArrayType::get(types.i8, bytes.size()), true,
                         LLVM::Linkage::Private, at->second, bytes);
  return at->second;
}

std::string ConstantPool::addDense(Type element, DenseElementsAttr numbers) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto [at, isNew] = byKey.try_emplace(numbers);
  if (!isNew)
    return at->second;
  at->second = fresh("numbers");
  LLVM::GlobalOp::create(builder, module.getLoc(),
                         LLVM::LLVMArrayType::get(element, numbers.size()),
                         true, LLVM::Linkage::Private, at->second, numbers);
  return at->second;
}

std::string ConstantPool::addDoubles(ArrayRef<double> numbers) {
  auto type = RankedTensorType::get(int64_t(numbers.size()), types.f64);
  return addDense(types.f64, DenseElementsAttr::get(type, numbers));
}

std::string ConstantPool::addIntegers(ArrayRef<int32_t> numbers) {
  auto type = RankedTensorType::get(int64_t(numbers.size()), types.i32);
  return addDense(types.i32, DenseElementsAttr::get(type, numbers));
}

void ConstantPool::declare(StringRef symbol, Type type) {
  if (module.lookupSymbol(symbol))
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  if (auto function = dyn_cast<LLVM::LLVMFunctionType>(type))
    LLVM::LLVMFuncOp::create(builder, module.getLoc(), symbol, function);
  else
    LLVM::GlobalOp::create(builder, module.getLoc(), type, true,
                           LLVM::Linkage::External, symbol, Attribute());
}

} // namespace mille::lower

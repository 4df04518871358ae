// Emits host code, one small op at a time; repeated code is a function of the
// object. Must not optimise: LLVM does.
#include "compiler/lower/HostCode.h"

using namespace mlir;

namespace mille::lower {

HostCode::HostCode(InModule, ModuleOp module, const AbiTypes &types,
                   ConstantPool &constants)
    : builder(module.getContext()), loc(module.getLoc()), module(module),
      types(types), constants(constants) {}

void HostCode::emitDescribe(ModuleOp module, const AbiTypes &types,
                            ConstantPool &constants) {
  HostCode(InModule(), module, types, constants).emitDescribe();
}

HostCode::HostCode(ModuleOp module, const AbiTypes &types,
                   ConstantPool &constants, StringRef name)
    : HostCode(InModule(), module, types, constants) {
  builder.setInsertionPointToEnd(module.getBody());
  function = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(types.i32, {types.ptr}),
      LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  run = entry->getArgument(0);
  exit = newBlock({types.i32});
  builder.setInsertionPointToEnd(exit);
  LLVM::ReturnOp::create(builder, loc, exit->getArgument(0));
  builder.setInsertionPointToEnd(entry);
}

// describe(buffer, dimensions, host, shape, rows)
void HostCode::emitDescribe() {
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      types.none, {types.ptr, types.ptr, types.ptr, types.ptr, types.i64});
  auto describe = LLVM::LLVMFuncOp::create(builder, loc, "describe", type,
                                           LLVM::Linkage::Internal);
  describe.setNoInline(true);
  Block *entry = describe.addEntryBlock(builder);
  builder.setInsertionPointToEnd(entry);
  Value buffer = entry->getArgument(0), dimensions = entry->getArgument(1);
  Value shape = entry->getArgument(3);
  Value rows = to32(entry->getArgument(4)), zero = number(types.i32, 0);
  Value null = addressOf("");
  auto field = [&](abi::buffer::Field field, Value value) {
    store(value, element(types.buffer, buffer, {0, int32_t(field)}));
  };
  auto shapeField = [&](ArrayRef<LLVM::GEPArg> at) -> Value {
    return LLVM::LoadOp::create(builder, loc, types.i32,
                                element(types.shape, shape, at));
  };
  field(abi::buffer::device, number(types.i64, 0));
  field(abi::buffer::device_interface, null);
  field(abi::buffer::host, entry->getArgument(2));
  field(abi::buffer::flags, number(types.i64, 0));
  // One word for type_code, type_bits and type_lanes.
  field(abi::buffer::type_code, shapeField({0, 0}));
  field(abi::buffer::dimensions, shapeField({0, 1}));
  field(abi::buffer::dimension, dimensions);
  field(abi::buffer::padding, null);
  for (int i = 0; i < MILLE_MAX_DIMENSIONS; ++i) {
    Value extent = shapeField({0, 2, i, 0});
    Value isRows = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                        extent, zero);
    extent = LLVM::SelectOp::create(builder, loc, isRows, rows, extent);
    auto values = inOrder<abi::dimension::Field, Value>(
        {{abi::dimension::min, zero},
         {abi::dimension::extent, extent},
         {abi::dimension::stride, shapeField({0, 2, i, 1})},
         {abi::dimension::flags, zero}});
    for (auto [part, value] : llvm::enumerate(values))
      store(value, element(types.dimension, dimensions, {i, int32_t(part)}));
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

Value HostCode::number(Type type, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, type,
                                  builder.getIntegerAttr(type, value));
}

Value HostCode::real(double value) {
  return LLVM::ConstantOp::create(builder, loc, types.f64,
                                  builder.getF64FloatAttr(value));
}

Value HostCode::opaque(int64_t value) {
  std::string symbol = constants.add("count", Constant::of(types.i64, value));
  return LLVM::LoadOp::create(builder, loc, types.i64, addressOf(symbol),
                              /*alignment=*/8, /*isVolatile=*/true);
}

Value HostCode::addressOf(StringRef symbol) {
  if (symbol.empty())
    return LLVM::ZeroOp::create(builder, loc, types.ptr);
  return LLVM::AddressOfOp::create(builder, loc, types.ptr, symbol);
}

Value HostCode::multiply(Value a, Value b) {
  return LLVM::MulOp::create(builder, loc, a, b);
}

Value HostCode::add(Value a, Value b) {
  return LLVM::AddOp::create(builder, loc, a, b);
}

Value HostCode::subtract(Value a, Value b) {
  return LLVM::SubOp::create(builder, loc, a, b);
}

Value HostCode::to32(Value value) {
  return LLVM::TruncOp::create(builder, loc, types.i32, value);
}

Value HostCode::byteAddress(Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, types.ptr, types.i8, base,
                             ArrayRef<LLVM::GEPArg>(bytes));
}

Value HostCode::element(Type type, Value base, ArrayRef<LLVM::GEPArg> at) {
  return LLVM::GEPOp::create(builder, loc, types.ptr, type, base, at);
}

Value HostCode::load(Type type, Value base, int64_t index) {
  return LLVM::LoadOp::create(builder, loc, type,
                              element(type, base, {int32_t(index)}));
}

void HostCode::store(Value value, Value address) {
  LLVM::StoreOp::create(builder, loc, value, address);
}

Value HostCode::runField(abi::run::Field field) {
  auto fields = cast<LLVM::LLVMStructType>(types.run).getBody();
  return LLVM::LoadOp::create(builder, loc, fields[field],
                              element(types.run, run, {0, int32_t(field)}));
}

Value HostCode::local(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(builder, loc, types.ptr, type,
                                number(types.i64, count));
}

void HostCode::describe(Value buffer, Value dimensions, Value host,
                        StringRef shape, Value rows) {
  LLVM::CallOp::create(
      builder, loc, TypeRange(), "describe",
      ValueRange{buffer, dimensions, host, addressOf(shape), rows});
}

void HostCode::call(StringRef name, ArrayRef<Value> arguments, bool status) {
  SmallVector<Type> inputs;
  for (Value argument : arguments)
    inputs.push_back(argument.getType());
  auto type =
      LLVM::LLVMFunctionType::get(status ? types.i32 : types.none, inputs);
  constants.declare(name, type);
  auto called = LLVM::CallOp::create(
      builder, loc, status ? TypeRange(types.i32) : TypeRange(), name,
      arguments);
  if (!status)
    return;
  Value code = called.getResult();
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      code, number(types.i32, 0));
  Block *next = newBlock();
  LLVM::CondBrOp::create(builder, loc, failed, exit, ValueRange(code), next,
                         ValueRange());
  builder.setInsertionPointToEnd(next);
}

Block *HostCode::newBlock(ArrayRef<Type> arguments) {
  Block *block = new Block();
  function.getBody().push_back(block);
  for (Type type : arguments)
    block->addArgument(type, loc);
  return block;
}

void HostCode::finish() {
  LLVM::BrOp::create(builder, loc, ValueRange(number(types.i32, 0)), exit);
}

} // namespace mille::lower

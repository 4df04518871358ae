// LLVM types for the C types of runtime/abi.def, and initializers of globals.
// Must not emit code.
#include "compiler/lower/AbiTypes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/ErrorHandling.h"

#include <type_traits>

using namespace mlir;

namespace mille::lower {

namespace {

// The LLVM type of a C type. A struct has no fields that are structs.
template <typename T> Type typeOf(const AbiTypes &types) {
  if (std::is_pointer_v<T>)
    return types.ptr;
  if (std::is_same_v<T, double>)
    return types.f64;
  static_assert(std::is_pointer_v<T> || std::is_same_v<T, double> ||
                std::is_integral_v<T>);
  return IntegerType::get(types.ptr.getContext(), 8 * sizeof(T));
}

} // namespace

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
  // clang-format off
#define MILLE_STRUCT(NAME) NAME = record({
#define MILLE_FIELD(TYPE, NAME) typeOf<TYPE>(*this),
#define MILLE_ARRAY(TYPE, NAME, COUNT) array(typeOf<TYPE>(*this), COUNT),
#define MILLE_END(NAME) });
#include "runtime/abi.def"
  // clang-format on
  // type, dimensions, (extent, -1: rows; stride) each
  shape = record({i32, i32, array(record({i32, i32}), MILLE_MAX_DIMENSIONS)});
}

void refuseField(const char *name, size_t values) {
  llvm::reportFatalInternalError("field " + Twine(name) + " of abi.def has " +
                                 Twine(values) + " values");
}

Constant Constant::aggregate(Type type, std::vector<Constant> parts) {
  Constant whole = of(type, 0);
  whole.parts = std::move(parts);
  for (auto [index, part] : llvm::enumerate(whole.parts))
    if (auto record = dyn_cast<LLVM::LLVMStructType>(type); !part.type)
      part.type = record ? record.getBody()[index]
                         : cast<LLVM::LLVMArrayType>(type).getElementType();
  return whole;
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

// A text that differs for different constants.
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
  auto arrayOf = [&](std::vector<Constant> some) {
    Type type = LLVM::LLVMArrayType::get(element, some.size());
    return Constant::aggregate(type, std::move(some));
  };
  // An initializer is built part by part, and each step copies the whole: a
  // long array is a struct of pieces, which has the same bytes.
  constexpr size_t piece = 128;
  if (parts.size() <= piece)
    return add(stem, arrayOf(std::move(parts)));
  std::vector<Constant> pieces;
  SmallVector<Type> fields;
  for (auto at = parts.begin(); at != parts.end();) {
    auto end = at + std::min<ptrdiff_t>(piece, parts.end() - at);
    pieces.push_back(arrayOf({at, end}));
    fields.push_back(pieces.back().type);
    at = end;
  }
  Type type = LLVM::LLVMStructType::getLiteral(types.ptr.getContext(), fields);
  return add(stem, Constant::aggregate(type, std::move(pieces)));
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

std::string ConstantPool::addWords(ArrayRef<int64_t> numbers) {
  auto type = RankedTensorType::get(int64_t(numbers.size()), types.i64);
  return addDense(types.i64, DenseElementsAttr::get(type, numbers));
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

// Registers, constants, control flow and numbers in the llvm dialect, and the
// kernel's function around them. Must not choose what to compute.
#include "compiler/nvvm/Builder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace mille::nvvm {

// The oldest PTX with all instructions that kernels use. LLVM ends the process
// where the version is too low for one, so it is no option.
// Products of u8 by s8 need PTX 8.4.
constexpr llvm::StringLiteral chip = "sm_90a", features = "+ptx80",
                              featuresOfBytes = "+ptx84";
constexpr unsigned globalSpace = 1, sharedSpace = 3, clusterSpace = 7;
constexpr unsigned tensorMapBytes = 128;
constexpr llvm::StringLiteral sharedName = "shared_memory";

Reg Operand::as(Builder &builder, Type type) const {
  if (reg)
    return reg;
  return type.isF32() ? builder.real(real) : builder.constant(type, whole);
}

//===-- Operators ---------------------------------------------------------===//

template <typename OfWhole, typename OfReal>
static Reg binary(Reg a, const Operand &b) {
  Builder &builder = a.builder();
  Value other = b.as(builder, a.type()).value();
  Value result =
      a.type().isF32()
          ? OfReal::create(builder.ops(), a.value(), other).getResult()
          : OfWhole::create(builder.ops(), a.value(), other).getResult();
  return Reg(builder, result);
}

template <typename Op> static Reg whole(Reg a, const Operand &b) {
  Builder &builder = a.builder();
  Value other = b.as(builder, a.type()).value();
  return Reg(builder, Op::create(builder.ops(), a.value(), other).getResult());
}

Reg operator+(Reg a, Operand b) {
  return binary<LLVM::AddOp, LLVM::FAddOp>(a, b);
}
Reg operator-(Reg a, Operand b) {
  return binary<LLVM::SubOp, LLVM::FSubOp>(a, b);
}
Reg operator*(Reg a, Operand b) {
  return binary<LLVM::MulOp, LLVM::FMulOp>(a, b);
}
Reg operator/(Reg a, Operand b) { return whole<LLVM::UDivOp>(a, b); }
Reg operator%(Reg a, Operand b) { return whole<LLVM::URemOp>(a, b); }
Reg operator&(Reg a, Operand b) { return whole<LLVM::AndOp>(a, b); }
Reg operator|(Reg a, Operand b) { return whole<LLVM::OrOp>(a, b); }
Reg operator^(Reg a, Operand b) { return whole<LLVM::XOrOp>(a, b); }
Reg operator<<(Reg a, Operand b) { return whole<LLVM::ShlOp>(a, b); }
Reg operator>>(Reg a, Operand b) { return whole<LLVM::LShrOp>(a, b); }

static Reg compare(Reg a, const Operand &b, LLVM::ICmpPredicate ofWhole,
                   LLVM::FCmpPredicate ofReal) {
  Builder &builder = a.builder();
  Value other = b.as(builder, a.type()).value();
  Value result =
      a.type().isF32()
          ? LLVM::FCmpOp::create(builder.ops(), ofReal, a.value(), other)
                .getResult()
          : LLVM::ICmpOp::create(builder.ops(), ofWhole, a.value(), other)
                .getResult();
  return Reg(builder, result);
}

using IP = LLVM::ICmpPredicate;
using FP = LLVM::FCmpPredicate;
Reg eq(Reg a, Operand b) { return compare(a, b, IP::eq, FP::oeq); }
Reg ne(Reg a, Operand b) { return compare(a, b, IP::ne, FP::une); }
Reg lt(Reg a, Operand b) { return compare(a, b, IP::slt, FP::olt); }
Reg le(Reg a, Operand b) { return compare(a, b, IP::sle, FP::ole); }
Reg gt(Reg a, Operand b) { return compare(a, b, IP::sgt, FP::ogt); }
Reg ge(Reg a, Operand b) { return compare(a, b, IP::sge, FP::oge); }

//===-- The function ------------------------------------------------------===//

static Type parameterType(MLIRContext *context, uint32_t kind) {
  switch (kind) {
  case MILLE_ARGUMENT_TENSOR:
    return LLVM::LLVMPointerType::get(context);
  case MILLE_ARGUMENT_AMOUNT:
  case MILLE_ARGUMENT_SCALAR:
    return IntegerType::get(context, 32);
  default:
    return LLVM::LLVMPointerType::get(context, globalSpace);
  }
}

static void describeFunction(LLVM::LLVMFuncOp function, const Launch &launch,
                             OpBuilder &builder) {
  MLIRContext *context = function.getContext();
  auto set = [&](StringRef name, Attribute value) {
    function->setAttr(name, value);
  };
  set(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  set(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  set(NVVM::NVVMDialect::getReqntidAttrName(),
      builder.getDenseI32ArrayAttr({int32_t(launch.threads), 1, 1}));
  set(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  if (launch.cluster > 1)
    set(NVVM::NVVMDialect::getClusterDimAttrName(),
        builder.getDenseI32ArrayAttr({int32_t(launch.cluster), 1, 1}));
  auto map = LLVM::LLVMArrayType::get(builder.getI8Type(), tensorMapBytes);
  for (auto [i, argument] : llvm::enumerate(launch.arguments)) {
    if (argument.kind != MILLE_ARGUMENT_TENSOR)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(map));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(64));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        UnitAttr::get(context));
  }
}

Builder::Builder(MLIRContext &context, const Launch &launch)
    : builder(UnknownLoc::get(&context), &context), half(launch.half) {
  context.loadDialect<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  module = ModuleOp::create(builder.getLoc());
  (*module)->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                     builder.getUnitAttr());
  builder.setInsertionPointToStart(module->getBody());
  auto device = gpu::GPUModuleOp::create(builder, "device");
  builder.setInsertionPointToStart(device.getBody());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, bytes, false, LLVM::Linkage::External,
                         sharedName, Attribute(), 1024, sharedSpace);
  llvm::SmallVector<Type> types;
  for (const mille_launch_argument &argument : launch.arguments)
    types.push_back(parameterType(&context, argument.kind));
  auto kernel = LLVM::LLVMFuncOp::create(
      builder, launch.entry,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), types));
  describeFunction(kernel, launch, builder);
  function = kernel;
  entry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
}

OwningOpRef<ModuleOp> Builder::finish() {
  LLVM::ReturnOp::create(builder, ValueRange());
  auto device = *module->getOps<gpu::GPUModuleOp>().begin();
  device.setTargetsAttr(builder.getArrayAttr(NVVM::NVVMTargetAttr::get(
      builder.getContext(), 3, "nvptx64-nvidia-cuda", chip,
      multipliesBytes ? featuresOfBytes : features)));
  return std::move(module);
}

void Builder::noteHarmless(llvm::StringRef why) {
  builder.getInsertionBlock()->back().setAttr("harmless",
                                              builder.getStringAttr(why));
}

Reg Builder::argument(unsigned number) {
  return reg(entry->getArgument(number));
}

Type Builder::i1() { return builder.getI1Type(); }
Type Builder::i8() { return builder.getI8Type(); }
Type Builder::i16() { return builder.getI16Type(); }
Type Builder::i32() { return builder.getI32Type(); }
Type Builder::i64() { return builder.getI64Type(); }
Type Builder::bf16() { return builder.getBF16Type(); }
Type Builder::f16() { return builder.getF16Type(); }
Type Builder::f32() { return builder.getF32Type(); }
Type Builder::generic() {
  return LLVM::LLVMPointerType::get(builder.getContext());
}
Type Builder::global() {
  return LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
}
Type Builder::shared() {
  return LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
}
Type Builder::clusterShared() {
  return LLVM::LLVMPointerType::get(builder.getContext(), clusterSpace);
}
Type Builder::vectorOf(unsigned count, Type element) {
  return VectorType::get({int64_t(count)}, element);
}

// Constants stand once, at the function's start.
Reg Builder::placed(Attribute number, Type type) {
  Value &value = constants[number];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    value = LLVM::ConstantOp::create(builder, type, number);
  }
  return reg(value);
}

Reg Builder::constant(Type type, int64_t number) {
  const unsigned width = type.getIntOrFloatBitWidth();
  return placed(builder.getIntegerAttr(
                    type, llvm::APInt(width, uint64_t(number), false, true)),
                type);
}

Reg Builder::real(double number) {
  return placed(builder.getF32FloatAttr(float(number)), f32());
}

Reg Builder::undefined(Type type) {
  return reg(LLVM::UndefOp::create(builder, type));
}

//===-- Control flow ------------------------------------------------------===//

static llvm::SmallVector<Value> valuesOf(const Regs &regs) {
  llvm::SmallVector<Value> values;
  for (Reg reg : regs)
    values.push_back(reg.value());
  return values;
}

// A block after the current one, with arguments of these types.
static Block *blockAfter(ImplicitLocOpBuilder &builder, TypeRange types = {}) {
  OpBuilder::InsertionGuard guard(builder);
  Block *current = builder.getInsertionBlock();
  llvm::SmallVector<Location> locations(types.size(), builder.getLoc());
  return builder.createBlock(current->getParent(),
                             std::next(current->getIterator()), types,
                             locations);
}

void Builder::ifThen(Reg condition, Then then) {
  Block *done = blockAfter(builder), *inner = blockAfter(builder);
  LLVM::CondBrOp::create(builder, condition.value(), inner, done);
  builder.setInsertionPointToStart(inner);
  then();
  LLVM::BrOp::create(builder, ValueRange(), done);
  builder.setInsertionPointToStart(done);
}

void Builder::ifElse(Reg condition, Then then, Then otherwise) {
  Block *done = blockAfter(builder), *second = blockAfter(builder),
        *first = blockAfter(builder);
  LLVM::CondBrOp::create(builder, condition.value(), first, second);
  builder.setInsertionPointToStart(first);
  then();
  LLVM::BrOp::create(builder, ValueRange(), done);
  builder.setInsertionPointToStart(second);
  otherwise();
  LLVM::BrOp::create(builder, ValueRange(), done);
  builder.setInsertionPointToStart(done);
}

static Regs argumentsOf(Builder &builder, Block *block) {
  Regs regs;
  for (BlockArgument argument : block->getArguments())
    regs.push_back(Reg(builder, argument));
  return regs;
}

Regs Builder::ifValues(Reg condition, Values then, const Regs &otherwise) {
  auto others = valuesOf(otherwise);
  Block *done = blockAfter(builder, ValueRange(others).getTypes());
  Block *inner = blockAfter(builder);
  LLVM::CondBrOp::create(builder, condition.value(), inner, ValueRange(), done,
                         others);
  builder.setInsertionPointToStart(inner);
  Regs own = then();
  LLVM::BrOp::create(builder, valuesOf(own), done);
  builder.setInsertionPointToStart(done);
  return argumentsOf(*this, done);
}

static LLVM::LoopAnnotationAttr withoutCopies(MLIRContext *context) {
  const BoolAttr disabled = BoolAttr::get(context, true);
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, disabled, {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {});
}

Regs Builder::loop(const Regs &initial,
                   llvm::function_ref<Reg(const Regs &)> condition,
                   llvm::function_ref<Regs(const Regs &)> body, bool whole) {
  auto first = valuesOf(initial);
  Block *done = blockAfter(builder), *inner = blockAfter(builder);
  Block *head = blockAfter(builder, ValueRange(first).getTypes());
  LLVM::BrOp::create(builder, first, head);
  builder.setInsertionPointToStart(head);
  Regs values = argumentsOf(*this, head);
  LLVM::CondBrOp::create(builder, condition(values).value(), inner, done);
  builder.setInsertionPointToStart(inner);
  Regs next = body(values);
  auto back = LLVM::BrOp::create(builder, valuesOf(next), head);
  if (whole)
    back.setLoopAnnotationAttr(withoutCopies(builder.getContext()));
  builder.setInsertionPointToStart(done);
  return values;
}

//===-- Numbers -----------------------------------------------------------===//

Reg Builder::select(Reg condition, Operand then, Operand otherwise) {
  // A number takes the type of the other one, or i32.
  Reg first = then.as(*this, i32());
  Reg second = otherwise.as(*this, first.type());
  if (first.type() != second.type())
    first = then.as(*this, second.type());
  return reg(LLVM::SelectOp::create(builder, condition.value(), first.value(),
                                    second.value()));
}

Reg Builder::fma(Reg a, Operand b, Operand c) {
  return reg(LLVM::FMAOp::create(builder, a.value(), b.as(*this, f32()).value(),
                                 c.as(*this, f32()).value()));
}

Reg Builder::divide(Reg a, Operand b) { return whole<LLVM::FDivOp>(a, b); }
Reg Builder::maxnum(Reg a, Operand b) { return whole<LLVM::MaxNumOp>(a, b); }
Reg Builder::minnum(Reg a, Operand b) { return whole<LLVM::MinNumOp>(a, b); }
Reg Builder::maximum(Reg a, Operand b) { return whole<LLVM::MaximumOp>(a, b); }
Reg Builder::minimum(Reg a, Operand b) { return whole<LLVM::MinimumOp>(a, b); }
Reg Builder::maxSigned(Reg a, Operand b) { return whole<LLVM::SMaxOp>(a, b); }
Reg Builder::minSigned(Reg a, Operand b) { return whole<LLVM::SMinOp>(a, b); }

Reg Builder::negative(Reg a) {
  return reg(LLVM::FNegOp::create(builder, a.value()));
}
Reg Builder::absolute(Reg a) {
  return reg(LLVM::FAbsOp::create(builder, a.value()));
}
Reg Builder::widenTo(Reg a, Type type) {
  return reg(LLVM::ZExtOp::create(builder, type, a.value()));
}
Reg Builder::widen(Reg a) { return widenTo(a, i64()); }
Reg Builder::widenSigned(Reg a) {
  return reg(LLVM::SExtOp::create(builder, i64(), a.value()));
}
Reg Builder::truncate(Reg a, Type type) {
  return reg(LLVM::TruncOp::create(builder, type, a.value()));
}
Reg Builder::bits(Reg a, Type type) {
  return reg(LLVM::BitcastOp::create(builder, type, a.value()));
}
Reg Builder::toFloat(Reg a) {
  return reg(LLVM::SIToFPOp::create(builder, f32(), a.value()));
}
Reg Builder::toInteger(Reg a) {
  return reg(LLVM::FPToSIOp::create(builder, i32(), a.value()));
}

Reg Builder::intrinsic(llvm::StringRef name, Reg a) {
  return reg(LLVM::CallIntrinsicOp::create(
                 builder, a.type(), builder.getStringAttr("llvm.nvvm." + name),
                 a.value())
                 .getResults());
}

Reg Builder::exp2(Reg a) { return intrinsic("ex2.approx.ftz.f32", a); }
Reg Builder::log2(Reg a) { return intrinsic("lg2.approx.ftz.f", a); }
Reg Builder::reciprocal(Reg a) { return intrinsic("rcp.approx.ftz.f", a); }
Reg Builder::rsqrt(Reg a) { return intrinsic("rsqrt.approx.ftz.f", a); }
Reg Builder::sqrt(Reg a) { return intrinsic("sqrt.approx.ftz.f", a); }
Reg Builder::sin(Reg a) { return intrinsic("sin.approx.ftz.f", a); }
Reg Builder::cos(Reg a) { return intrinsic("cos.approx.ftz.f", a); }
Reg Builder::tanh(Reg a) {
  return reg(
      LLVM::TanhOp::create(builder, a.value(), LLVM::FastmathFlags::afn));
}

//===-- Vectors -----------------------------------------------------------===//

Reg Builder::vector(const Regs &values) {
  Reg result = undefined(vectorOf(values.size(), values.front().type()));
  for (auto [i, value] : llvm::enumerate(values))
    result = reg(LLVM::InsertElementOp::create(
        builder, result.value(), value.value(), constant(i).value()));
  return result;
}

Regs Builder::elements(Reg from) {
  Regs values;
  for (int64_t i = 0, e = cast<VectorType>(from.type()).getNumElements(); i < e;
       ++i)
    values.push_back(reg(LLVM::ExtractElementOp::create(builder, from.value(),
                                                        constant(i).value())));
  return values;
}

Reg Builder::packAs(Type type, Reg low, Reg high) {
  Reg pair = vector({low, high});
  return bits(
      reg(LLVM::FPTruncOp::create(builder, vectorOf(2, type), pair.value())),
      i32());
}

Reg Builder::packBf16(Reg low, Reg high) { return packAs(bf16(), low, high); }

Reg Builder::packHalf(Reg low, Reg high) {
  return packAs(halfType(), low, high);
}

Reg Builder::packE4m3(llvm::ArrayRef<Reg> four) {
  auto pack = [&](Reg low, Reg high) {
    return widenTo(
        reg(NVVM::ConvertF32x2ToF8x2Op::create(
            builder, i16(), high.value(), low.value(), NVVM::FPRoundingMode::RN,
            NVVM::SaturationMode::SATFINITE, /*relu=*/false,
            Float8E4M3FNType::get(builder.getContext()))),
        i32());
  };
  return pack(four[0], four[1]) | pack(four[2], four[3]) << 16;
}

Regs Builder::unpackBf16(Reg word) {
  return {bits(word << 16, f32()), bits(word & int64_t(0xffff0000), f32())};
}

Regs Builder::unpackHalf(Reg word) {
  if (half == Half::bf16)
    return unpackBf16(word);
  Reg pair = bits(word, vectorOf(2, f16()));
  return elements(
      reg(LLVM::FPExtOp::create(builder, vectorOf(2, f32()), pair.value())));
}

Reg Builder::toHalf(Reg a) {
  return bits(reg(LLVM::FPTruncOp::create(builder, halfType(), a.value())),
              i16());
}

Reg Builder::fromHalf(Reg a) { return unpackHalf(widenTo(a, i32()))[0]; }

Type Builder::halfType() { return half == Half::f16 ? f16() : bf16(); }

} // namespace mille::nvvm

// The walk over a kernel, memory accesses and arithmetic. Must not know the
// instructions of the device (LowerOps.cpp).
#include "compiler/emulate/Lower.h"
#include "compiler/emulate/Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mille::emulate;
using namespace mlir;

// ---- building

static std::string whereIs(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue().rsplit('/').second.empty()
                ? file.getFilename().getValue()
                : file.getFilename().getValue().rsplit('/').second)
               .str() +
           ":" + std::to_string(file.getLine());
  return "";
}

int Lowering::placeOf(Operation *op, Guard guard) {
  Place place;
  place.op = op->getName().getStringRef().str();
  place.where = whereIs(op->getLoc());
  place.guard = guard;
  if (guard != Guard::none)
    place.number = guards[int(guard)]++;
  if (auto reason = op->getAttrOfType<StringAttr>("harmless"))
    place.harmless = reason.str();
  into.places.push_back(place);
  return int(into.places.size()) - 1;
}

Value Lowering::constant(Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i32(),
                                  builder.getI32IntegerAttr(int32_t(value)));
}

Value Lowering::as(Location loc, Value pointer, Type type) {
  return pointer.getType() == type
             ? pointer
             : LLVM::AddrSpaceCastOp::create(builder, loc, type, pointer);
}

Value Lowering::plainCall(Location loc, StringRef name, Values arguments,
                          Type result) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types;
  for (Value &argument : arguments) {
    if (isa<LLVM::LLVMPointerType>(argument.getType()))
      argument = as(loc, argument, pointer);
    types.push_back(argument.getType());
  }
  Type wanted = result;
  if (result && isa<LLVM::LLVMPointerType>(result))
    wanted = pointer;
  Type returned =
      wanted ? wanted : LLVM::LLVMVoidType::get(builder.getContext());
  std::string symbol = "mille_emulate_" + name.str();
  if (!into.module->lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard keep(builder);
    builder.setInsertionPointToStart(into.module->getBody());
    LLVM::LLVMFuncOp::create(builder, loc, symbol,
                             LLVM::LLVMFunctionType::get(returned, types));
  }
  auto call = LLVM::CallOp::create(
      builder, loc, wanted ? TypeRange(wanted) : TypeRange(),
      SymbolRefAttr::get(builder.getContext(), symbol), arguments);
  return result ? as(loc, call.getResult(), result) : Value();
}

Value Lowering::call(Operation *op, StringRef name, Values arguments,
                     Type result, Guard guard) {
  arguments.insert(arguments.begin(),
                   constant(op->getLoc(), placeOf(op, guard)));
  return plainCall(op->getLoc(), name, arguments, result);
}

void Lowering::replace(Operation *op, Value with) {
  if (op->getNumResults())
    op->getResult(0).replaceAllUsesWith(with);
  op->erase();
}

Value Lowering::scratch(Location loc) {
  return plainCall(loc, "scratch", {},
                   LLVM::LLVMPointerType::get(builder.getContext()));
}

Value Lowering::element(Location loc, Value pointer, int64_t words) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), i32(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(words)});
}

// ---- memory and numbers

std::optional<bool> Lowering::rewriteMemory(Operation *op) {
  Value address;
  Type type;
  int kind = 0;
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    address = load.getAddr();
    type = load.getType();
  } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    address = store.getAddr();
    type = store.getValue().getType();
    kind = 1;
  } else if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    address = atomic.getPtr();
    type = atomic.getType();
    kind = 2;
  } else {
    return std::nullopt;
  }
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  int64_t bytes = int64_t(DataLayout::closest(op).getTypeSize(type));
  if (space != 1 && space != 5)
    into.granule = unsigned(std::min<int64_t>(into.granule, bytes));
  call(op, "access",
       {address, constant(op->getLoc(), bytes), constant(op->getLoc(), kind),
        constant(op->getLoc(), space)});
  return true;
}

// One rounding, whatever the host's own conversion does.
static StringRef roundingOf(Type element) {
  return element.isBF16() ? "to_bf16" : element.isF16() ? "to_f16" : "";
}

std::optional<bool> Lowering::rewriteNumber(Operation *op) {
  Location loc = op->getLoc();
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    StringRef name =
        llvm::StringSwitch<StringRef>(intrinsic.getIntrin())
            .Case("llvm.nvvm.ex2.approx.ftz.f32", "exp2")
            .Cases({"llvm.nvvm.ex2.approx.f32", "llvm.nvvm.ex2.approx.ftz.f",
                    "llvm.nvvm.ex2.approx.f"},
                   "exp2")
            .Cases({"llvm.nvvm.lg2.approx.ftz.f", "llvm.nvvm.lg2.approx.f"},
                   "log2")
            .Cases({"llvm.nvvm.rcp.approx.ftz.f", "llvm.nvvm.rcp.approx.f"},
                   "reciprocal")
            .Cases({"llvm.nvvm.rsqrt.approx.ftz.f", "llvm.nvvm.rsqrt.approx.f"},
                   "reciprocal_root")
            .Cases({"llvm.nvvm.sqrt.approx.ftz.f", "llvm.nvvm.sqrt.approx.f"},
                   "root")
            .Default("");
    if (name.empty()) {
      op->emitOpError() << "'" << intrinsic.getIntrin()
                        << "' is not modelled by the emulator";
      return false;
    }
    replace(op, plainCall(loc, name, llvm::to_vector(op->getOperands()),
                          op->getResult(0).getType()));
    return true;
  }
  if (auto two = dyn_cast<NVVM::ConvertF32x2ToF8x2Op>(op)) {
    if (!isa<Float8E4M3FNType>(two.getDstTy()) ||
        two.getRnd() != NVVM::FPRoundingMode::RN || two.getRelu())
      return refuse(op, "a rounding other than to the nearest e4m3");
    replace(op, plainCall(loc, "to_e4m3x2", {two.getA(), two.getB()},
                          op->getResult(0).getType()));
    return true;
  }
  auto narrow = dyn_cast<LLVM::FPTruncOp>(op);
  if (!narrow)
    return std::nullopt;
  Type type = narrow.getType(), element = getElementTypeOrSelf(type);
  StringRef name = roundingOf(element);
  if (name.empty())
    return true;
  Type i16 = builder.getI16Type();
  auto one = [&](Value from) -> Value {
    return LLVM::BitcastOp::create(builder, loc, element,
                                   plainCall(loc, name, {from}, i16));
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector) {
    replace(op, one(narrow.getArg()));
    return true;
  }
  Value result = LLVM::UndefOp::create(builder, loc, type);
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value index = constant(loc, i);
    Value from =
        LLVM::ExtractElementOp::create(builder, loc, narrow.getArg(), index);
    result =
        LLVM::InsertElementOp::create(builder, loc, result, one(from), index);
  }
  replace(op, result);
  return true;
}

LogicalResult Lowering::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  using Step = std::optional<bool> (Lowering::*)(Operation *);
  for (Step step : {&Lowering::rewriteMemory, &Lowering::rewriteNumber,
                    &Lowering::rewriteRegister, &Lowering::rewriteBarrier,
                    &Lowering::rewriteCopy, &Lowering::rewriteProduct,
                    &Lowering::rewriteWarp})
    if (std::optional<bool> done = (this->*step)(op))
      return success(*done);
  bool known = isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) &&
               !isa<LLVM::MemcpyOp, LLVM::MemsetOp, LLVM::AtomicCmpXchgOp>(op);
  return known ? success()
               : LogicalResult(op->emitOpError()
                               << "is not modelled by the emulator");
}

// ---- the module

// Variables in shared memory: offsets, then calls in place of addresses. The
// one without a size is what the launch asks for, behind the others.
static void placeShared(Lowered &into, Lowering &lowering) {
  llvm::StringMap<int64_t> offsets;
  SmallVector<LLVM::GlobalOp> shared;
  int64_t bytes = 0;
  auto place = [&](bool sized) {
    for (LLVM::GlobalOp global : shared) {
      auto size =
          int64_t(DataLayout(*into.module).getTypeSize(global.getType()));
      if (bool(size) != sized)
        continue;
      int64_t unit = std::max<int64_t>(global.getAlignment().value_or(16), 16);
      bytes = (bytes + unit - 1) / unit * unit;
      offsets[global.getSymName()] = bytes;
      bytes += size;
    }
  };
  for (auto global : into.module->getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == 3)
      shared.push_back(global);
  place(true);
  place(false);
  into.staticShared = bytes;
  into.module->walk([&](LLVM::AddressOfOp address) {
    auto found = offsets.find(address.getGlobalName());
    if (found == offsets.end())
      return;
    lowering.builder.setInsertionPoint(address);
    address.getResult().replaceAllUsesWith(
        lowering.sharedAddress(address, found->second));
    address.erase();
  });
  for (LLVM::GlobalOp global : shared)
    global.erase();
}

Value Lowering::sharedAddress(Operation *op, int64_t offset) {
  return plainCall(op->getLoc(), "shared", {constant(op->getLoc(), offset)},
                   op->getResult(0).getType());
}

static void addEntry(Lowered &into, LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = into.module->getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(into.module->getBody());
  Location loc = kernel.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, entryName,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer}));
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  SmallVector<Value> arguments;
  for (Type type : kernel.getArgumentTypes()) {
    bool isPointer = isa<LLVM::LLVMPointerType>(type);
    into.argumentKinds.push_back(isPointer                            ? 'p'
                                 : type.getIntOrFloatBitWidth() == 64 ? 'l'
                                                                      : 'i');
    Value slot = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), entry.getArgument(0),
        ArrayRef<LLVM::GEPArg>{int32_t(arguments.size())});
    Value value =
        LLVM::LoadOp::create(builder, loc, isPointer ? pointer : type, slot);
    if (isPointer && type != pointer)
      value = LLVM::AddrSpaceCastOp::create(builder, loc, type, value);
    arguments.push_back(value);
  }
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

// What the kernel says of its launch, before its attributes go.
static void readShape(Lowered &into, LLVM::LLVMFuncOp kernel) {
  if (auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"))
    into.threads = threads[0];
  if (auto cluster =
          kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim"))
    into.cluster = cluster[0];
}

Lowered mille::emulate::lower(Operation *kernels, StringRef entry) {
  auto module = cast<gpu::GPUModuleOp>(kernels);
  Lowered into;
  into.module = ModuleOp::create(kernels->getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(into.module->getBody());
  for (Operation &op : module.getBody()->getOperations())
    builder.clone(op);
  LLVM::LLVMFuncOp kernel;
  for (auto function : into.module->getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr("nvvm.kernel") &&
        (entry.empty() || function.getSymName() == entry))
      kernel = function;
  Lowering lowering(into);
  bool failed = !kernel;
  if (failed)
    module.emitError() << "has no kernel '" << entry << "'";
  SmallVector<Operation *> ops;
  into.module->walk([&](Operation *op) {
    if (op->getParentOfType<LLVM::LLVMFuncOp>())
      ops.push_back(op);
  });
  for (Operation *op : ops)
    failed |= mlir::failed(lowering.rewrite(op));
  if (failed) {
    into.module = {};
    return into;
  }
  placeShared(into, lowering);
  readShape(into, kernel);
  addEntry(into, kernel);
  for (auto function : into.module->getOps<LLVM::LLVMFuncOp>()) {
    for (NamedAttribute attribute :
         llvm::to_vector(function->getDiscardableAttrs()))
      function->removeDiscardableAttr(attribute.getName());
    function.removeArgAttrsAttr();
  }
  return into;
}

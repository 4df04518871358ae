// The builder's instructions of Hopper: memory, barriers, copies, products.
// Asm stands only where LLVM 22 has no op: wgmma with A in registers, and the
// pins that keep arithmetic on its side of a wait.
#include "compiler/nvvm/Builder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mille::nvvm {

constexpr int wholeWarp = -1;
constexpr int lastLane = 31;
// A try_wait sleeps so many nanoseconds before it asks again.
constexpr int waitTicks = 10000000;

//===-- Threads and lanes -------------------------------------------------===//

Reg Builder::threadIndex() {
  return reg(NVVM::ThreadIdXOp::create(builder, i32()));
}
Reg Builder::blockIndex() {
  return reg(NVVM::BlockIdXOp::create(builder, i32()));
}
Reg Builder::blockCount() {
  return reg(NVVM::GridDimXOp::create(builder, i32()));
}
Reg Builder::rankInCluster() {
  return reg(NVVM::ClusterId::create(builder, i32()));
}

Reg Builder::uniform(Reg x) {
  return reg(NVVM::ShflOp::create(
      builder, x.type(), constant(wholeWarp).value(), x.value(),
      constant(0).value(), constant(lastLane).value(), NVVM::ShflKind::idx,
      UnitAttr()));
}

Reg Builder::shuffleXor(Reg x, unsigned distance) {
  return reg(NVVM::ShflOp::create(
      builder, x.type(), constant(wholeWarp).value(), x.value(),
      constant(distance).value(), constant(lastLane).value(),
      NVVM::ShflKind::bfly, UnitAttr()));
}

Reg Builder::elect() {
  return reg(NVVM::ElectSyncOp::create(builder, i1(), Value()));
}

Reg Builder::ballot(Reg condition) {
  return reg(
      NVVM::VoteSyncOp::create(builder, i32(), constant(wholeWarp).value(),
                               condition.value(), NVVM::VoteSyncKind::ballot));
}

//===-- Kernels before and after ------------------------------------------===//

void Builder::admitNextKernel() {
  NVVM::GriddepcontrolOp::create(builder,
                                 NVVM::GridDepActionKind::launch_dependents);
}

void Builder::waitForEarlierKernels() {
  NVVM::GriddepcontrolOp::create(builder, NVVM::GridDepActionKind::wait);
}

void Builder::sleep(unsigned nanoseconds) {
  NVVM::NanosleepOp::create(builder, constant(nanoseconds).value());
}

//===-- Memory ------------------------------------------------------------===//

Reg Builder::at(Reg pointer, Operand bytes) {
  return reg(LLVM::GEPOp::create(builder, pointer.type(), i8(), pointer.value(),
                                 ValueRange{bytes.as(*this, i32()).value()}));
}

Reg Builder::load(Reg pointer, Type type, unsigned alignment) {
  return reg(LLVM::LoadOp::create(builder, type, pointer.value(), alignment));
}

void Builder::store(Reg x, Reg pointer, unsigned alignment) {
  LLVM::StoreOp::create(builder, x.value(), pointer.value(), alignment);
}

Reg Builder::atomicAdd(Reg pointer, Operand x) {
  return reg(LLVM::AtomicRMWOp::create(
      builder, LLVM::AtomicBinOp::add, pointer.value(),
      x.as(*this, i32()).value(), LLVM::AtomicOrdering::monotonic));
}

Reg Builder::sharedMemory() {
  auto global = *cast<LLVM::LLVMFuncOp>(function)
                     ->getBlock()
                     ->getOps<LLVM::GlobalOp>()
                     .begin();
  return reg(LLVM::AddressOfOp::create(builder, global));
}

Reg Builder::addressOf(Reg pointer) {
  return reg(LLVM::PtrToIntOp::create(builder, i32(), pointer.value()));
}

//===-- Barriers ----------------------------------------------------------===//

void Builder::initBarrier(Reg barrier, unsigned count) {
  NVVM::MBarrierInitOp::create(builder, barrier.value(),
                               constant(count).value(), Value());
}

void Builder::waitBarrier(Reg barrier, Reg parity) {
  NVVM::MBarrierTryWaitParityOp::create(
      builder, barrier.value(), parity.value(), constant(waitTicks).value());
}

void Builder::arrive(Reg barrier) {
  NVVM::MBarrierArriveOp::create(builder, i64(), barrier.value(), Value());
}

void Builder::arriveExpecting(Reg barrier, Operand bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, i64(), barrier.value(), bytes.as(*this, i32()).value(),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
}

// Release at the block's scope: at the cluster's, ptxas puts a fence of the
// whole device into the loop. Reads by wgmma need no more than their wait.
void Builder::arriveAt(Reg barrier, Reg rank) {
  Value remote = NVVM::MapaOp::create(builder, clusterShared(), barrier.value(),
                                      rank.value());
  NVVM::MBarrierArriveOp::create(builder, Type(), remote, Value());
}

void Builder::fenceBarrierInit() { NVVM::FenceMbarrierInitOp::create(builder); }

void Builder::syncBlock() { NVVM::BarrierOp::create(builder); }

// Not the aligned form: where one thread of a warp has copied, its lanes come
// one by one.
void Builder::syncCluster() {
  NVVM::ClusterArriveOp::create(builder, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, UnitAttr());
}

void Builder::syncNamed(Operand number, unsigned threads) {
  NVVM::BarrierOp::create(builder, Type(), number.as(*this, i32()).value(),
                          constant(threads).value(),
                          NVVM::BarrierReductionAttr(), Value());
}

void Builder::arriveNamed(Operand number, unsigned threads) {
  NVVM::BarrierArriveOp::create(builder, number.as(*this, i32()).value(),
                                constant(threads).value());
}

void Builder::fenceAsync() {
  NVVM::FenceProxyOp::create(
      builder, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void Builder::fenceDevice() {
  LLVM::FenceOp::create(builder, LLVM::AtomicOrdering::acq_rel, "device");
}

void Builder::setRegisters(Registers action, unsigned count) {
  NVVM::SetMaxRegisterOp::create(builder, count,
                                 action == Registers::decrease
                                     ? NVVM::SetMaxRegisterAction::decrease
                                     : NVVM::SetMaxRegisterAction::increase);
}

//===-- Copies ------------------------------------------------------------===//

static llvm::SmallVector<Value> valuesOf(llvm::ArrayRef<Reg> regs) {
  llvm::SmallVector<Value> values;
  for (Reg reg : regs)
    values.push_back(reg.value());
  return values;
}

// The cluster's form without a mask too: the block's own needs PTX 8.6.
// The policy that `createpolicy.fractional.L2::evict_first` gives for all of
// what is read.
constexpr int64_t evictFirst = 0x12F0000000000000;

void Builder::loadBox(Reg to, Reg tensorMap, Reg barrier,
                      const Regs &coordinates, std::optional<unsigned> blocks,
                      Reads reads) {
  Value target =
      LLVM::AddrSpaceCastOp::create(builder, clusterShared(), to.value());
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, target, tensorMap.value(), valuesOf(coordinates),
      barrier.value(), ValueRange(),
      blocks ? constant(i16(), *blocks).value() : Value(),
      reads == Reads::once ? constant(i64(), evictFirst).value() : Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
      Value());
}

void Builder::storeBox(Reg tensorMap, Reg from, const Regs &coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      builder, tensorMap.value(), from.value(), valuesOf(coordinates), Value(),
      NVVM::TMAStoreMode::TILE, Value());
}

void Builder::commitStores() {
  NVVM::CpAsyncBulkCommitGroupOp::create(builder);
}

void Builder::waitStores(unsigned pending, bool read) {
  NVVM::CpAsyncBulkWaitGroupOp::create(
      builder, pending, read ? builder.getUnitAttr() : UnitAttr());
}

// The dialect wants the barrier in the block's own space though it is another
// block's: the bits are the same.
void Builder::send(Reg to, Reg from, Reg barrier, Reg rank, Operand bytes) {
  auto remote = [&](Reg pointer) -> Value {
    return NVVM::MapaOp::create(builder, clusterShared(), pointer.value(),
                                rank.value());
  };
  Value target = remote(to);
  Value number = LLVM::PtrToIntOp::create(builder, i64(), remote(barrier));
  Value arrival = LLVM::IntToPtrOp::create(builder, shared(), number);
  NVVM::CpAsyncBulkSharedCTAToSharedClusterOp::create(
      builder, target, from.value(), arrival, bytes.as(*this, i32()).value());
}

void Builder::prefetchMap(Reg tensorMap) {
  NVVM::PrefetchOp::create(builder, NVVM::PrefetchCacheLevelAttr(),
                           NVVM::CacheEvictionPriorityAttr(), tensorMap.value(),
                           Value(), builder.getUnitAttr());
}

void Builder::prefetch(Reg pointer) {
  NVVM::PrefetchOp::create(
      builder,
      NVVM::PrefetchCacheLevelAttr::get(builder.getContext(),
                                        NVVM::PrefetchCacheLevel::L2),
      NVVM::CacheEvictionPriorityAttr(), pointer.value(), Value(), UnitAttr());
}

//===-- Products ----------------------------------------------------------===//

void Builder::fenceProducts() { NVVM::WgmmaFenceAlignedOp::create(builder); }
void Builder::commitProducts() {
  NVVM::WgmmaGroupSyncAlignedOp::create(builder);
}
void Builder::waitProducts(unsigned pending) {
  NVVM::WgmmaWaitGroupSyncOp::create(builder, uint64_t(pending));
}

static Type structOf(MLIRContext *context, llvm::ArrayRef<Type> types) {
  return LLVM::LLVMStructType::getLiteral(context, types);
}

static Product productOf(Half half) {
  return half == Half::f16 ? Product::f16 : Product::bf16;
}

static bool isOfIntegers(Product product) { return product == Product::bytes; }

Type Builder::accumulatorType(unsigned n, Product product) {
  llvm::SmallVector<Type> types(n / 2, isOfIntegers(product) ? i32() : f32());
  return structOf(builder.getContext(), types);
}

static NVVM::WGMMATypes inputType(Product product) {
  switch (product) {
  case Product::bf16:
    return NVVM::WGMMATypes::bf16;
  case Product::f16:
    return NVVM::WGMMATypes::f16;
  case Product::e4m3:
    return NVVM::WGMMATypes::e4m3;
  case Product::bytes:
    return NVVM::WGMMATypes::u8;
  }
  llvm_unreachable("all kinds of products are above");
}

static NVVM::WGMMATypes weightType(Product product) {
  return isOfIntegers(product) ? NVVM::WGMMATypes::s8 : inputType(product);
}

Reg Builder::multiply(unsigned n, Reg a, Reg b, Reg accumulator, bool zero,
                      std::optional<Product> chosen) {
  const Product product = chosen.value_or(productOf(half));
  const bool wide = product == Product::bf16 || product == Product::f16;
  auto shape =
      NVVM::MMAShapeAttr::get(builder.getContext(), 64, n, wide ? 16 : 32);
  auto sum =
      isOfIntegers(product) ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32;
  multipliesBytes |= product == Product::bytes;
  return reg(NVVM::WgmmaMmaAsyncOp::create(
      builder, accumulator.type(), accumulator.value(), a.value(), b.value(),
      shape, inputType(product), weightType(product), sum,
      zero ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
      NVVM::MMALayout::col, NVVM::MMAIntOverflowAttr()));
}

static Value asmOf(ImplicitLocOpBuilder &builder, Type result,
                   llvm::ArrayRef<Value> operands, llvm::StringRef text,
                   llvm::StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             builder, result, operands, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr::get(builder.getContext(),
                                       LLVM::AsmDialect::AD_ATT),
             ArrayAttr())
      .getRes();
}

Regs Builder::multiplyRegisters(unsigned n, llvm::ArrayRef<Reg> a, Reg b,
                                const Regs &accumulator, Order order, bool zero,
                                std::optional<Product> product) {
  const unsigned r = n / 2;
  const llvm::StringRef type =
      NVVM::stringifyWGMMATypes(inputType(product.value_or(productOf(half))));
  std::string text, constraints;
  llvm::raw_string_ostream asmText(text), kinds(constraints);
  asmText << "{ .reg .pred p; setp.ne.b32 p, " << (zero ? 0 : 1)
          << ", 0; wgmma.mma_async.sync.aligned.m64n" << n << "k16.f32." << type
          << "." << type << " {";
  for (unsigned i = 0; i < r; ++i)
    asmText << (i ? ",$" : "$") << i;
  asmText << "}, {";
  for (unsigned i = 0; i < 4; ++i)
    asmText << (i ? ",$" : "$") << 2 * r + i;
  asmText << "}, $" << 2 * r + 4 << ", p, 1, 1, " << (order == Order::rowsOfK)
          << "; }";
  for (unsigned i = 0; i < r; ++i)
    kinds << "=f,";
  for (unsigned i = 0; i < r; ++i)
    kinds << i << ",";
  kinds << "r,r,r,r,l";
  llvm::SmallVector<Value> operands = valuesOf(accumulator);
  operands.append(valuesOf(a));
  operands.push_back(b.value());
  return unpack(
      reg(asmOf(builder, accumulatorType(n), operands, text, constraints)));
}

Reg Builder::pack(const Regs &values) {
  llvm::SmallVector<Type> types;
  for (Reg value : values)
    types.push_back(value.type());
  Reg result = undefined(structOf(builder.getContext(), types));
  for (auto [i, value] : llvm::enumerate(values))
    result = reg(LLVM::InsertValueOp::create(builder, result.value(),
                                             value.value(), int64_t(i)));
  return result;
}

Regs Builder::unpack(Reg structure) {
  Regs values;
  auto type = cast<LLVM::LLVMStructType>(structure.type());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    values.push_back(
        reg(LLVM::ExtractValueOp::create(builder, structure.value(), i)));
  return values;
}

Regs Builder::pin(llvm::StringRef mark, const Regs &values) {
  std::string constraints;
  llvm::SmallVector<Type> types;
  for (Reg value : values) {
    constraints += value.type().isF32() ? "=f," : "=r,";
    types.push_back(value.type());
  }
  for (unsigned i = 0; i < values.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints.pop_back();
  return unpack(
      reg(asmOf(builder, structOf(builder.getContext(), types),
                valuesOf(values), ("// " + mark).str(), constraints)));
}

Regs Builder::afterProducts(const Regs &values) {
  return pin("after products", values);
}

Regs Builder::beforeProducts(const Regs &values) {
  return pin("before products", values);
}

void Builder::storeMatrices(Reg pointer, llvm::ArrayRef<Reg> four) {
  NVVM::StMatrixOp::create(
      builder, pointer.value(), valuesOf(four), NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
}

Regs Builder::loadMatrices(Reg pointer) {
  llvm::SmallVector<Type> types(4, i32());
  return unpack(reg(NVVM::LdMatrixOp::create(
      builder, structOf(builder.getContext(), types), pointer.value(), 4,
      NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16)));
}

} // namespace mille::nvvm

// The instructions of the device: registers, barriers, copies, warps. Must not
// know what they do (Calls.cpp).
#include "compiler/emulate/Lowering.h"
#include "compiler/emulate/Warps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mille::emulate;
using namespace mlir;

bool mille::emulate::refuse(Operation *op, const llvm::Twine &what) {
  op->emitOpError() << what << " is not modelled by the emulator";
  return false;
}

std::optional<bool> Lowering::rewriteRegister(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return std::nullopt;
  // The order is that of mille_emulate_register.
  int which = llvm::StringSwitch<int>(name)
                  .Case("tid.x", 0)
                  .Case("ntid.x", 1)
                  .Case("ctaid.x", 2)
                  .Case("nctaid.x", 3)
                  .Case("laneid", 4)
                  .Cases({"cluster.ctarank", "cluster.ctaid.x"}, 5)
                  .Cases({"cluster.nctarank", "cluster.nctaid.x"}, 6)
                  .Case("clusterid.x", 7)
                  .Case("nclusterid.x", 8)
                  .Cases({"tid.y", "tid.z", "ctaid.y", "ctaid.z"}, 9)
                  .Cases({"ntid.y", "ntid.z", "nctaid.y", "nctaid.z"}, 10)
                  .Default(-1);
  if (which < 0)
    return refuse(op, "the register '" + name + "'");
  replace(op, plainCall(op->getLoc(), "register",
                        {constant(op->getLoc(), which)}, i32()));
  return true;
}

std::optional<bool> Lowering::rewriteBarrier(Operation *op) {
  Location loc = op->getLoc();
  auto or_ = [&](Value value, int64_t other) {
    return value ? value : constant(loc, other);
  };
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op)) {
    if (init.getPredicate())
      return refuse(op, "a predicate");
    call(op, "mbarrier_init", {init.getAddr(), init.getCount()});
  } else if (auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op)) {
    call(op, "mbarrier_wait", {wait.getAddr(), wait.getPhase()}, {},
         Guard::wait);
  } else if (auto arrive = dyn_cast<NVVM::MBarrierArriveOp>(op)) {
    call(op, "mbarrier_arrive",
         {arrive.getAddr(), or_(arrive.getCount(), 1), constant(loc, 0)}, {},
         Guard::release);
  } else if (auto expect = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op)) {
    if (expect.getPredicate())
      return refuse(op, "a predicate");
    call(op, "mbarrier_arrive",
         {expect.getAddr(), constant(loc, 1), expect.getTxcount()});
  } else if (auto barrier = dyn_cast<NVVM::BarrierOp>(op)) {
    if (barrier.getReductionOp())
      return refuse(op, "a reduction");
    call(
        op, "barrier",
        {or_(barrier.getBarrierId(), 0), or_(barrier.getNumberOfThreads(), -1)},
        {}, Guard::barrier);
  } else if (isa<NVVM::Barrier0Op>(op)) {
    call(op, "barrier", {constant(loc, 0), constant(loc, -1)}, {},
         Guard::barrier);
  } else if (auto at = dyn_cast<NVVM::BarrierArriveOp>(op)) {
    call(op, "barrier_arrive",
         {or_(at.getBarrierId(), 0), at.getNumberOfThreads()}, {},
         Guard::barrier);
  } else if (auto cluster = dyn_cast<NVVM::ClusterArriveOp>(op)) {
    call(op, "cluster_arrive", {constant(loc, bool(cluster.getAligned()))}, {},
         Guard::barrier);
  } else if (auto all = dyn_cast<NVVM::ClusterWaitOp>(op)) {
    call(op, "cluster_wait", {constant(loc, bool(all.getAligned()))}, {},
         Guard::barrier);
  } else if (auto grids = dyn_cast<NVVM::GriddepcontrolOp>(op)) {
    // Letting the next kernel begin changes nothing for this one.
    if (grids.getKind() == NVVM::GridDepActionKind::wait)
      call(op, "see_earlier", {}, {}, Guard::wait);
  } else if (isa<NVVM::FenceMbarrierInitOp>(op)) {
    call(op, "fence_init", {}, {}, Guard::fence);
  } else if (auto fence = dyn_cast<NVVM::FenceProxyOp>(op)) {
    if (fence.getKind() != NVVM::ProxyKind::async_shared &&
        fence.getKind() != NVVM::ProxyKind::async)
      return refuse(op, "a fence of the proxy '" +
                            stringifyProxyKind(fence.getKind()) + "'");
    call(op, "fence_proxy", {}, {}, Guard::fence);
  } else if (auto device = dyn_cast<LLVM::FenceOp>(op)) {
    if (device.getSyncscope() != "device" ||
        device.getOrdering() != LLVM::AtomicOrdering::acq_rel)
      return refuse(op, "a fence of another scope or order");
    call(op, "fence_device", {}, {}, Guard::fence);
  } else if (auto map = dyn_cast<NVVM::MapaOp>(op)) {
    replace(op, call(op, "mapa", {map.getA(), map.getB()},
                     op->getResult(0).getType()));
    return true;
  } else if (isa<NVVM::SetMaxRegisterOp>(op)) {
    call(op, "aligned", {});
  } else {
    return std::nullopt;
  }
  if (op->getNumResults())
    op->getResult(0).replaceAllUsesWith(
        LLVM::ZeroOp::create(builder, loc, op->getResult(0).getType()));
  op->erase();
  return true;
}

std::optional<bool> Lowering::rewriteCopy(Operation *op) {
  Location loc = op->getLoc();
  auto mask = [&](Value blocks) -> Value {
    return blocks ? LLVM::ZExtOp::create(builder, loc, i32(), blocks)
                  : constant(loc, -1);
  };
  auto addBox = [&](Values &arguments, OperandRange at) {
    arguments.push_back(constant(loc, at.size()));
    llvm::append_range(arguments, at);
    arguments.append(5 - at.size(), constant(loc, 0));
  };
  if (auto load =
          dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)) {
    if (load.getMode() != NVVM::TMALoadMode::TILE || load.getPredicate())
      return refuse(op, "a mode other than tiles, or a predicate,");
    Values arguments = {load.getDstMem(), load.getTmaDescriptor(),
                        load.getMbar(), mask(load.getMulticastMask())};
    addBox(arguments, load.getCoordinates());
    call(op, "load_tensor", arguments);
  } else if (auto store =
                 dyn_cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(op)) {
    if (store.getMode() != NVVM::TMAStoreMode::TILE || store.getPredicate())
      return refuse(op, "a mode other than tiles, or a predicate,");
    Values arguments = {store.getTmaDescriptor(), store.getSrcMem()};
    addBox(arguments, store.getCoordinates());
    call(op, "store_tensor", arguments);
  } else if (auto bytes =
                 dyn_cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(op)) {
    call(op, "load_bulk",
         {bytes.getDstMem(), bytes.getSrcMem(), bytes.getMbar(),
          bytes.getSize(), mask(bytes.getMulticastMask())});
  } else if (auto out = dyn_cast<NVVM::CpAsyncBulkSharedCTAToGlobalOp>(op)) {
    if (out.getByteMask())
      return refuse(op, "a mask of bytes");
    call(op, "store_bulk", {out.getDstMem(), out.getSrcMem(), out.getSize()});
  } else if (auto send =
                 dyn_cast<NVVM::CpAsyncBulkSharedCTAToSharedClusterOp>(op)) {
    call(op, "send",
         {send.getDstMem(), send.getSrcMem(), send.getMbar(), send.getSize()});
  } else if (isa<NVVM::CpAsyncBulkCommitGroupOp>(op)) {
    call(op, "bulk_commit", {});
  } else if (auto wait = dyn_cast<NVVM::CpAsyncBulkWaitGroupOp>(op)) {
    call(op, "bulk_wait",
         {constant(loc, wait.getGroup()), constant(loc, bool(wait.getRead()))},
         {}, Guard::wait);
  } else if (!isa<NVVM::PrefetchOp, NVVM::NanosleepOp>(op)) {
    return std::nullopt;
  }
  op->erase();
  return true;
}

std::optional<bool> Lowering::rewriteWarp(Operation *op) {
  Location loc = op->getLoc();
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    if (shuffle.getReturnValueAndIsValid())
      return refuse(op, "a shuffle that says whether its lane exists");
    static const Shuffle kinds[] = {Shuffle::exclusiveOr, Shuffle::up,
                                    Shuffle::down, Shuffle::index};
    Type type = op->getResult(0).getType();
    Value value = shuffle.getVal();
    if (type != i32())
      value = LLVM::BitcastOp::create(builder, loc, i32(), value);
    Value result = call(op, "shuffle",
                        {constant(loc, int(kinds[int(shuffle.getKind())])),
                         shuffle.getThreadMask(), value, shuffle.getOffset(),
                         shuffle.getMaskAndClamp()},
                        i32());
    if (type != i32())
      result = LLVM::BitcastOp::create(builder, loc, type, result);
    replace(op, result);
  } else if (auto vote = dyn_cast<NVVM::VoteSyncOp>(op)) {
    if (vote.getKind() == NVVM::VoteSyncKind::uni)
      return refuse(op, "the vote 'uni'");
    Value pred = LLVM::ZExtOp::create(builder, loc, i32(), vote.getPred());
    Value result =
        call(op, "vote",
             {constant(loc, int(vote.getKind())), vote.getMask(), pred}, i32());
    if (op->getResult(0).getType() != i32())
      result = LLVM::TruncOp::create(builder, loc, op->getResult(0).getType(),
                                     result);
    replace(op, result);
  } else if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    call(op, "warp_sync", {sync.getMask()}, {}, Guard::barrier);
    op->erase();
  } else if (isa<NVVM::ElectSyncOp>(op)) {
    Value lane = call(op, "elect", {}, i32());
    replace(op, LLVM::TruncOp::create(builder, loc, builder.getI1Type(), lane));
  } else if (auto store = dyn_cast<NVVM::StMatrixOp>(op)) {
    if (store.getEltType() != NVVM::LdStMatrixEltType::B16)
      return refuse(op, "a matrix of bytes");
    Value values = scratch(loc);
    for (auto [i, value] : llvm::enumerate(store.getSources()))
      LLVM::StoreOp::create(builder, loc, value, element(loc, values, i));
    call(op, "store_matrices",
         {store.getPtr(), constant(loc, store.getSources().size()),
          constant(loc, store.getLayout() == NVVM::MMALayout::col), values});
    op->erase();
  } else if (auto load = dyn_cast<NVVM::LdMatrixOp>(op)) {
    if (load.getEltType() != NVVM::LdStMatrixEltType::B16)
      return refuse(op, "a matrix of bytes");
    Value out = scratch(loc);
    call(op, "load_matrices",
         {load.getPtr(), constant(loc, load.getNum()),
          constant(loc, load.getLayout() == NVVM::MMALayout::col), out});
    replace(op, LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(),
                                     out));
  } else {
    return std::nullopt;
  }
  return true;
}

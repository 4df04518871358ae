// Emits the instructions of tile registers (AMX): eight registers of up to 16
// rows of 64 bytes, by number.
// Must not be included outside of compiler/halide/instructions.
#pragma once
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace mille {

constexpr int registerRows = 16, registerBytes = 64, tileRegisterCount = 8;

// Stack memory of the function that is built.
inline llvm::AllocaInst *onStack(llvm::IRBuilder<> &builder, int64_t bytes) {
  llvm::BasicBlock &entry =
      builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> first(&entry, entry.begin());
  llvm::AllocaInst *place = first.CreateAlloca(
      llvm::ArrayType::get(first.getInt8Ty(), uint64_t(bytes)));
  place->setAlignment(llvm::Align(registerBytes));
  return place;
}

// The types of a product's two operands; all sums have 32 bits.
enum class TileProduct { pairsOfBf16, unsignedBySigned, signedByUnsigned };

// A register as it is configured.
struct TileShape {
  int rows; // 0: as many as the configuration is called with
  int bytes;
};

// Emits instructions at a builder's place.
class TileEmitter {
  using Value = llvm::Value;

public:
  explicit TileEmitter(llvm::IRBuilder<> &builder) : builder(builder) {}

  // Configures all registers. This sets them to zero.
  void configure(llvm::ArrayRef<TileShape> shapes, Value *rows) {
    llvm::SmallVector<uint8_t> bytes(64, 0);
    llvm::AllocaInst *place = onStack(builder, int64_t(bytes.size()));
    bytes[0] = 1; // palette
    uint64_t fixed = 0, following = 0;
    for (int i = 0; i < int(shapes.size()); ++i) {
      bytes[16 + 2 * i] = uint8_t(shapes[i].bytes);
      fixed |= uint64_t(shapes[i].rows) << 8 * i;
      following |= uint64_t(shapes[i].rows == 0) << 8 * i;
    }
    builder.CreateStore(
        llvm::ConstantDataVector::get(builder.getContext(), bytes), place);
    Value *all =
        builder.CreateMul(builder.CreateZExt(rows, builder.getInt64Ty()),
                          builder.getInt64(following));
    all = builder.CreateOr(all, builder.getInt64(fixed));
    builder.CreateStore(
        all, builder.CreateConstGEP1_64(builder.getInt8Ty(), place, 48));
    builder.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {place});
  }
  void release() {
    builder.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {});
  }
  void zero(int tile) {
    builder.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {number(tile)});
  }
  // `unwritten`: nobody writes the memory while the function runs, so that LLVM
  // may move other instructions past the load.
  void load(int tile, Value *from, Value *stride, bool unwritten = false) {
    llvm::CallInst *call = builder.CreateIntrinsic(
        llvm::Intrinsic::x86_tileloadd64, {number(tile), from, stride});
    if (unwritten)
      call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }
  void store(int tile, Value *to, Value *stride) {
    builder.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64,
                            {number(tile), to, stride});
  }
  void multiply(TileProduct kind, int sum, int input, int weight) {
    builder
        .CreateIntrinsic(instructionOf(kind),
                         {number(sum), number(input), number(weight)})
        ->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }
  // Stores a register to unused memory, because a core that stores stays awake.
  void storeNowhere(int tile) {
    llvm::AllocaInst *place = onStack(builder, registerRows * registerBytes);
    builder
        .CreateIntrinsic(llvm::Intrinsic::x86_tilestored64,
                         {number(tile), place, builder.getInt64(registerBytes)})
        ->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  }

private:
  static llvm::Intrinsic::ID instructionOf(TileProduct kind) {
    switch (kind) {
    case TileProduct::pairsOfBf16:
      return llvm::Intrinsic::x86_tdpbf16ps;
    case TileProduct::unsignedBySigned:
      return llvm::Intrinsic::x86_tdpbusd;
    case TileProduct::signedByUnsigned:
      return llvm::Intrinsic::x86_tdpbsud;
    }
    llvm_unreachable("all kinds are above");
  }
  Value *number(int tile) { return builder.getInt8(uint8_t(tile)); }
  llvm::IRBuilder<> &builder;
};

// Makes a function configure its registers when it begins, and release them
// when it ends.
inline void configureAround(llvm::Function &function,
                            llvm::ArrayRef<TileShape> shapes, int rows) {
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  TileEmitter(builder).configure(shapes, builder.getInt32(uint32_t(rows)));
  for (llvm::BasicBlock &block : function)
    if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
      builder.SetInsertPoint(end);
      TileEmitter(builder).release();
    }
}

} // namespace mille

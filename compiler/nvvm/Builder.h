// Writes a kernel for Hopper in MLIR's nvvm and llvm dialects: values with
// operators, structured control flow, and a function for each instruction.
// Must not know what a kernel computes.
#pragma once
#include "compiler/nvvm/Launch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace mille::nvvm {

constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;

class Builder;

// A value that each thread has: a register. Arithmetic wraps; division and
// shifts to the right are unsigned, comparisons signed.
class Reg {
public:
  Reg() = default;
  Reg(Builder &builder, mlir::Value value) : b(&builder), v(value) {}

  Builder &builder() const { return *b; }
  mlir::Value value() const { return v; }
  mlir::Type type() const { return v.getType(); }
  explicit operator bool() const { return bool(v); }

private:
  Builder *b = nullptr;
  mlir::Value v;
};
using Regs = std::vector<Reg>;

// A register, or a number that takes the type of the other operand.
class Operand {
public:
  Operand(Reg reg) : reg(reg) {}
  Operand(int whole) : whole(whole), real(whole) {}
  Operand(unsigned whole) : whole(whole), real(whole) {}
  Operand(int64_t whole) : whole(whole), real(double(whole)) {}
  Operand(double real) : whole(int64_t(real)), real(real) {}

  Reg as(Builder &builder, mlir::Type type) const;

private:
  Reg reg;
  int64_t whole = 0;
  double real = 0;
};

Reg operator+(Reg a, Operand b);
Reg operator-(Reg a, Operand b);
Reg operator*(Reg a, Operand b);
Reg operator/(Reg a, Operand b);
Reg operator%(Reg a, Operand b);
Reg operator&(Reg a, Operand b);
Reg operator|(Reg a, Operand b);
Reg operator^(Reg a, Operand b);
Reg operator<<(Reg a, Operand b);
Reg operator>>(Reg a, Operand b);
// Named, so that registers can be compared as C++ values too. Of floats: false
// where one is not a number, but `ne`.
Reg eq(Reg a, Operand b);
Reg ne(Reg a, Operand b);
Reg lt(Reg a, Operand b);
Reg le(Reg a, Operand b);
Reg gt(Reg a, Operand b);
Reg ge(Reg a, Operand b);

// What wgmma multiplies. bytes: u8 by s8, summed in s32.
enum class Product { bf16, f16, e4m3, bytes };

class Builder {
public:
  // The function's parameters are the launch's arguments: a tensor map by
  // value, i32 for amounts and scalars, else a pointer to global memory.
  Builder(mlir::MLIRContext &context, const Launch &launch);
  // Ends the function. Once, after everything else.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  Reg argument(unsigned number);

  mlir::Type i1(), i8(), i16(), i32(), i64(), bf16(), f16(), f32();
  mlir::Type generic(), global(), shared(), clusterShared(); // pointers
  mlir::Type vectorOf(unsigned count, mlir::Type element);

  Reg constant(int64_t number) { return constant(i32(), number); }
  Reg constant(mlir::Type type, int64_t number);
  Reg real(double number);
  Reg undefined(mlir::Type type);

  //===-- Control flow ----------------------------------------------------===//

  using Then = llvm::function_ref<void()>;
  using Values = llvm::function_ref<Regs()>;
  void ifThen(Reg condition, Then then);
  void ifElse(Reg condition, Then then, Then otherwise);
  // What `then` gives where the condition holds, else `otherwise`.
  Regs ifValues(Reg condition, Values then, const Regs &otherwise);
  // while (condition(values)) values = body(values). Gives the last values.
  // whole: neither LLVM nor ptxas copies instructions to turns of their own.
  Regs loop(const Regs &initial,
            llvm::function_ref<Reg(const Regs &)> condition,
            llvm::function_ref<Regs(const Regs &)> body, bool whole = false);

  //===-- Numbers ---------------------------------------------------------===//

  Reg threadIndex(), blockIndex(), blockCount(), rankInCluster();
  Reg select(Reg condition, Operand then, Operand otherwise);
  Reg fma(Reg a, Operand b, Operand c);
  Reg divide(Reg a, Operand b); // of f32, exactly rounded
  // Of two numbers one of which is NaN: the other one.
  Reg maxnum(Reg a, Operand b);
  Reg minnum(Reg a, Operand b);
  // NaN where one is NaN.
  Reg maximum(Reg a, Operand b);
  Reg minimum(Reg a, Operand b);
  Reg negative(Reg a);
  Reg absolute(Reg a);
  Reg maxSigned(Reg a, Operand b);
  Reg minSigned(Reg a, Operand b);
  Reg widen(Reg a);                    // i32 to i64, without sign
  Reg widenSigned(Reg a);              // i32 to i64
  Reg widenTo(Reg a, mlir::Type type); // without sign
  Reg truncate(Reg a, mlir::Type type);
  Reg bits(Reg a, mlir::Type type); // the same bits in another type
  Reg toFloat(Reg a);               // signed i32 to f32
  Reg toInteger(Reg a);             // f32 to signed i32, towards 0
  // By units that approximate: 2 ulp (exp2, reciprocal square root), 1 ulp
  // (reciprocal, square root), 2^-11 relative (tanh). Subnormals are 0.
  Reg exp2(Reg a), log2(Reg a), reciprocal(Reg a), rsqrt(Reg a), sqrt(Reg a);
  Reg tanh(Reg a), sin(Reg a), cos(Reg a);

  // Vectors, which memory is read and written by.
  Reg vector(const Regs &elements);
  Regs elements(Reg vector);
  Reg packBf16(Reg low, Reg high); // two f32 in an i32
  // Four f32 in an i32 as floats of 8 bits, beyond 448 as 448.
  Reg packE4m3(llvm::ArrayRef<Reg> four);
  Regs unpackBf16(Reg word); // low, high
  // The same of the kernel's own type of 16 bits (Launch::half).
  Reg packHalf(Reg low, Reg high);
  Regs unpackHalf(Reg word);
  Reg toHalf(Reg a);   // an i16
  Reg fromHalf(Reg a); // of an i16

  //===-- Between the lanes of a warp -------------------------------------===//

  // All lanes have the same x: so ptxas keeps what follows from it in uniform
  // registers.
  Reg uniform(Reg x);
  Reg shuffleXor(Reg x, unsigned distance);
  Reg elect();               // true in one lane
  Reg ballot(Reg condition); // a bit of each lane

  //===-- Kernels before and after ----------------------------------------===//

  // The next kernel may begin: it takes the room that this one leaves.
  void admitNextKernel();
  // Earlier kernels are done, and this thread sees what they wrote. Before it,
  // a thread writes no memory of a run, and reads weights alone. Loads must not
  // be marked invariant: LLVM would move them over it.
  void waitForEarlierKernels();
  void sleep(unsigned nanoseconds); // as long, or up to twice

  //===-- Memory ----------------------------------------------------------===//

  Reg at(Reg pointer, Operand bytes); // bytes: i32 (signed) or i64
  Reg load(Reg pointer, mlir::Type type, unsigned alignment = 4);
  void store(Reg x, Reg pointer, unsigned alignment = 4);
  Reg atomicAdd(Reg pointer, Operand x); // i32 of global memory; the old value
  Reg sharedMemory();                    // 1024-byte aligned
  Reg addressOf(Reg pointer);            // of shared memory, an i32

  //===-- Barriers --------------------------------------------------------===//

  void initBarrier(Reg barrier, unsigned count);
  void waitBarrier(Reg barrier, Reg parity);
  void arrive(Reg barrier);
  void arriveExpecting(Reg barrier, Operand bytes);
  // At the barrier with this one's offset in another block of the cluster.
  void arriveAt(Reg barrier, Reg rank);
  void fenceBarrierInit();
  void syncBlock();
  void syncCluster();
  void syncNamed(Operand number, unsigned threads);
  void arriveNamed(Operand number, unsigned threads);
  // What this thread wrote to shared memory is seen by copies and products.
  void fenceAsync();
  // What this thread wrote before is seen by all of the device before what it
  // writes afterwards; and the other way around for what it reads.
  void fenceDevice();
  enum class Registers { decrease, increase };
  void setRegisters(Registers action, unsigned count);

  //===-- Copies ----------------------------------------------------------===//

  // blocks: those of the cluster that get the box, as bits, each at the offsets
  // of `to` and of `barrier` in its own shared memory. What is read once leaves
  // L2 first: code and small tables stay there.
  enum class Reads { often, once };
  void loadBox(Reg to, Reg tensorMap, Reg barrier, const Regs &coordinates,
               std::optional<unsigned> blocks = std::nullopt,
               Reads reads = Reads::often);
  void storeBox(Reg tensorMap, Reg from, const Regs &coordinates);
  void commitStores();
  // Until at most `pending` groups of this thread's stores have not been read
  // from shared memory, or, if not `read`, are not in global memory.
  void waitStores(unsigned pending, bool read = true);
  // Copies shared memory to the offset of `to` in another block of the
  // cluster, and completes the bytes on its barrier at this one's offset.
  void send(Reg to, Reg from, Reg barrier, Reg rank, Operand bytes);
  void prefetchMap(Reg tensorMap);
  // Asks for a line of 128 bytes of global memory in L2. What others write
  // there meanwhile is seen all the same.
  void prefetch(Reg pointer);

  //===-- Products --------------------------------------------------------===//

  void fenceProducts(), commitProducts(), waitProducts(unsigned pending);
  // The type of a 64 x n accumulator: n / 2 registers of a thread.
  mlir::Type accumulatorType(unsigned n, Product product = Product::bf16);
  // accumulator += A B^T, both in shared memory and K-major; 32 bytes of K.
  // zero: the accumulator counts as 0. No product: the kernel's own type of 16
  // bits.
  Reg multiply(unsigned n, Reg a, Reg b, Reg accumulator, bool zero = false,
               std::optional<Product> product = std::nullopt);
  // accumulator += A B of 16-bit numbers with A in four registers, and B in
  // shared memory with rows of K, or K-major.
  enum class Order { rowsOfK, kMajor };
  Regs multiplyRegisters(unsigned n, llvm::ArrayRef<Reg> a, Reg b,
                         const Regs &accumulator, Order order = Order::rowsOfK,
                         bool zero = false,
                         std::optional<Product> product = std::nullopt);
  Reg pack(const Regs &values); // a struct
  Regs unpack(Reg structure);
  // After a wait for products: from here on the registers may be read.
  Regs afterProducts(const Regs &values);
  // Before a fence of products: what computes these registers is above.
  Regs beforeProducts(const Regs &values);
  // 8 x 8 matrices of 16-bit elements between registers and shared memory.
  void storeMatrices(Reg pointer, llvm::ArrayRef<Reg> four);
  Regs loadMatrices(Reg pointer); // four

  mlir::ImplicitLocOpBuilder &ops() { return builder; }

  // Notes at the last instruction, for the emulator, why it may be left out.
  void noteHarmless(llvm::StringRef why);

private:
  Reg reg(mlir::Value value) { return Reg(*this, value); }
  Reg intrinsic(llvm::StringRef name, Reg a);
  Regs pin(llvm::StringRef mark, const Regs &values);
  mlir::Type halfType();
  Reg packAs(mlir::Type type, Reg low, Reg high);
  Reg placed(mlir::Attribute number, mlir::Type type);

  mlir::ImplicitLocOpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *entry = nullptr;
  mlir::Operation *function = nullptr;
  bool multipliesBytes = false;
  const Half half;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

} // namespace mille::nvvm

// A kernel made from MLIR text, linked and loaded into this process, and
// buffers between guard pages to call it with. For tests and benchmarks of
// kernels.
#pragma once
#include "compiler/halide/Generate.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/abi.h"

#include <memory>
#include <string>
#include <vector>

namespace mille::test {

// Memory of exactly `count` elements that ends (or starts) at a guard page. It
// is filled with a NaN of a special pattern, or with ones where an element has
// not four bytes.
class Guarded {
public:
  enum class Side { end, start };
  Guarded(size_t count, Side side = Side::end, size_t elementBytes = 4);
  ~Guarded();
  Guarded(Guarded &&other) noexcept;
  Guarded(const Guarded &) = delete;
  float *data() const { return first; }
  template <typename Number> Number *as() const {
    return reinterpret_cast<Number *>(first);
  }
  size_t size() const { return count; }
  float &operator[](size_t i) const { return first[i]; }
  static uint32_t poison() { return 0x7fc0dead; }

private:
  void *map = nullptr;
  size_t mapBytes = 0, count = 0;
  float *first = nullptr;
};

// Halide's, by itself.
const Generators &generators();

// The first kernel op of MLIR text, as the compiler gives it to a generator.
struct ParsedKernel {
  explicit ParsedKernel(const std::string &text);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
  KernelInfo info;
};

const Target &isaNamed(const std::string &name);
bool machineHas(const Target &isa);
// What the first argument names; `widest` and none: the best of this machine
// with AVX-512. Where this machine lacks tile registers alone they are emulated
// (TileEmulator.h); where it lacks more a test ends here, and says so.
const Target &isaToTest(int argc, char **argv);

// Which cases of its list a test takes. With the word `odd` or `even` after the
// instruction set it takes every second one, so that the gate makes a case's
// kernels for one set only; tools/check-long.sh takes all for each set.
class Turns {
public:
  Turns(int argc, char **argv);
  bool takesNext();

private:
  enum class Kind { all, odd, even } kind = Kind::all;
  int turn = 0;
};

// Generates, links and loads a kernel. If that fails, prints a message and ends
// the process.
mille_kernel_function load(ParsedKernel &kernel, const Target &isa,
                           RowClass rows, unsigned rank = 0);

// A kernel, made once for each text, instruction set, class of rows and tile.
struct MadeKernel {
  std::unique_ptr<ParsedKernel> parsed;
  mille_kernel_function function = nullptr;
};
const MadeKernel &made(const std::string &text, const Target &isa,
                       RowClass rows = RowClass::many, unsigned rank = 0);

// The type of rows of `columns` elements, in MLIR text.
std::string rowsOf(int64_t columns, int64_t stride, const char *element);

// One argument: memory, sizes and strides from the innermost dimension.
struct Argument {
  void *host;
  std::vector<mille_dimension> dimensions;
};
Argument matrix(void *host, int64_t rows, int64_t columns, int64_t stride);
Argument vector(const void *host, int64_t count);

// Calls with inputs, scalars and out; the code that the kernel returns.
int32_t call(mille_kernel_function kernel, std::vector<Argument> inputs,
             std::vector<int32_t> scalars, Argument out);
// The same with several outs.
int32_t call(mille_kernel_function kernel, std::vector<Argument> inputs,
             std::vector<int32_t> scalars, std::vector<Argument> outs);

// Largest sum of bytes that kernels held on the heap at one time since reset.
size_t peakScratch();
void resetScratch();
// From now on memory that kernels free waits for others of its size: in one
// thread, for timings, in which its pages would count.
void keepScratch();

} // namespace mille::test

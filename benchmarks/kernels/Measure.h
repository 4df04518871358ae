// How kernels are timed: in tasks, as the runtime cuts them, each right between
// two bursts of what bounds it, as the clock and the neighbours change from
// millisecond to millisecond. Must not know what a kernel computes.
#pragma once
#include "compiler/driver/machine/Machine.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <benchmark/benchmark.h>
#include <functional>

namespace mille::benchmarks {

using test::Argument;

// A kernel of MLIR text in the class of so many rows; made once for each text,
// instruction set and class.
struct MadeKernel {
  mille_kernel_function function;
  const KernelInfo &info;
};
MadeKernel made(const std::string &text, const Target &isa,
                int64_t rows = INT64_MAX);

// What a buffer holds.
struct Element {
  const char *name; // in MLIR
  int64_t bytes;
};
constexpr Element f32{"f32", 4}, bf16{"bf16", 2}, ui8{"ui8", 1}, i8{"i8", 1},
    i32{"i32", 4};

// Aligned memory, given back with the object; numbers from -1 to 1, or any
// bytes.
class Buffer {
public:
  Buffer(int64_t count, Element element);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  float *floats() const { return static_cast<float *>(first); }
  void *data() const { return first; }
  void *at(int64_t index) const {
    return static_cast<char *>(first) + index * element.bytes;
  }

private:
  Element element;
  void *first;
};

bool hasInstructions(const Target &isa, NumberType type);

struct Task {
  double flops;
  std::function<void()> run;
};

// Counters: us, GFLOPs (from the best time of each task), peak% (the median
// over tasks of the rate over that of registers beside it) and peak, in 10^9
// operations.
void measureComputing(benchmark::State &state, const Target &isa,
                      NumberType type, const std::vector<Task> &tasks);

// Counters: us, GB/s, and bandwidth% (the median of the kernel's rate over that
// of `plain`, a plain loop over the same bytes, beside it).
void measureMoving(benchmark::State &state, double bytes,
                   const std::function<void()> &run,
                   const std::function<void()> &plain);

// Plain loops. Sizes are multiples of 64 bytes.
void readAll(const void *from, size_t bytes);
void copyAll(void *to, const void *from, size_t bytes);

// The text of `memref<?xCOLUMNSxELEMENT>` with a padded row stride, as plan
// gives.
int64_t paddedStride(int64_t columns, Element element);
std::string rowsType(int64_t columns, int64_t stride, Element element);
Argument matrixOf(void *host, int64_t rows, int64_t columns, int64_t stride);

// One function for each file of benchmarks: registers them for one instruction
// set.
void addMatmuls(const Target &isa);
void addAttentions(const Target &isa);
void addAttentionStates(const Target &isa);
void addRows(const Target &isa);
void addTraining(const Target &isa);

template <class Run>
void add(const std::string &name, const Target &isa, const std::string &sizes,
         Run run) {
  benchmark::RegisterBenchmark((name + "/" + isa.name + "/" + sizes).c_str(),
                               run);
}

} // namespace mille::benchmarks

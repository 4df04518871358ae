// Halide pipelines of the kernels, each an algorithm and its schedule.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/CpuTraits.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Spec.h"

#include "Halide.h"

namespace mille {

// The properties of a machine that schedules depend on.
struct Machine : CpuTraits {
  int lanes = 16;        // f32 in a vector
  bool pairs = false;    // multiply-adds of pairs of bf16
  bool integers = false; // multiply-adds of pairs of i16, but none of bf16
  bool picks = false;    // picks one of 16 numbers by lane: PickInstruction.h
  bool prefetchesIntoL2 = false; // into L2 only, and drops no prefetch
  bool device = false; // work-groups of work-items; a kernel is the whole op
};

// Names that no other kernel of the process has: Halide would number equal
// names.
struct Names {
  std::string unique;
  std::string operator()(const char *name) const {
    return std::string(name) + "_" + unique;
  }
};

// The work-groups of a device's kernel that a launch runs over the rows of all
// experts.
struct ExpertGroups {
  int64_t experts = 0; // 0: no such kernel
  int rows = 0;        // of a work-group
  int itemRows = 0;    // of a work-item without barriers; 0: with barriers
};

struct Pipe {
  std::vector<Halide::Func> before; // outs that come before the last
  Halide::Func out;
  std::vector<Halide::Argument> arguments;
  std::vector<Halide::Internal::IRMutator *> passes; // over the lowered program
  ExpertGroups experts;                              // on a device
};

Pipe buildMatmul(const KernelSpec &spec, const Machine &machine,
                 const Names &names, bool few, unsigned rank);
Pipe buildRows(const KernelSpec &spec, const Machine &machine,
               const Names &names);
Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names);
Pipe buildQuantizeBlocks(const KernelSpec &spec, const Machine &machine,
                         const Names &names);
Pipe buildAttention(const KernelSpec &spec, const Machine &machine,
                    const Names &names, RowClass rows);
Pipe buildRotate(const KernelSpec &spec, const Machine &machine,
                 const Names &names);
Pipe buildSlots(const KernelSpec &spec, const Machine &machine,
                const Names &names);
// The kernels of a training step, which CPUs have.
Pipe buildWeightGradient(const KernelSpec &spec, const Machine &machine,
                         const Names &names);
Pipe buildWeightGradientOfPairs(const KernelSpec &spec, const Machine &machine,
                                const Names &names);
Pipe buildColumnSums(const KernelSpec &spec, const Machine &machine,
                     const Names &names);
Pipe buildEmbedGradient(const KernelSpec &spec, const Machine &machine,
                        const Names &names);
Pipe buildNormBackward(const KernelSpec &spec, const Machine &machine,
                       const Names &names);
Pipe buildCrossEntropy(const KernelSpec &spec, const Machine &machine,
                       const Names &names);
Pipe buildPack(const KernelSpec &spec, const Machine &machine,
               const Names &names);
Pipe buildPackOfPairs(const KernelSpec &spec, const Machine &machine,
                      const Names &names);
Pipe buildAttentionBackward(const KernelSpec &spec, const Machine &machine,
                            const Names &names);

// As scratchOf (Emit.h).
void scratchOfBackward(const KernelSpec &spec, uint64_t &base,
                       uint64_t &perKey);

// The register tiles of a weight gradient: rows, and the columns where vectors
// are the widest.
int weightGradientRows(const KernelSpec &spec, bool wide);
int weightGradientColumns(const KernelSpec &spec);

// Whether a weight gradient adds the products of two rows at once, which are
// bf16; the columns of its tiles, or 0 where it cannot; as scratchOf (Emit.h).
bool sumsInPairs(const KernelSpec &spec, const Machine &machine);
int weightGradientColumnsOfPairs(const KernelSpec &spec);
void scratchOfPairs(const KernelSpec &spec, uint64_t &base);

// An operand with the dimensions and strides of `spec`: (column, row).
Halide::ImageParam bufferOf(const BufferSpec &spec, const std::string &name);

// The operand's value for out[m, n], as f32.
Halide::Expr readOf(const BufferSpec &spec, const Halide::ImageParam &buffer,
                    const Halide::Expr &n, const Halide::Expr &m);

} // namespace mille

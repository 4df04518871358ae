// Chooses the tiles of a matmul by a model of the core: registers,
// multiply-adds and loads per cycle, bytes of L2. Must not search or measure.
#pragma once
#include "compiler/halide/CpuTraits.h"
#include "compiler/kernels/Spec.h"

#include <string>
#include <vector>

namespace mille {

// The model's description of a core: the least of the cores that a target
// covers.
struct Core {
  int registers;   // vector registers
  int lanes;       // f32 in a vector
  int multiplies;  // multiply-adds started per cycle
  int latency;     // cycles of a multiply-add
  int loads;       // per cycle
  int bytesFromL2; // per cycle, sustained in a loop
  int64_t bytesOfL1, bytesOfL2;
  int tileRegisters = 0; // which then hold the sums
  bool pipelines =
      false; // tiles of many rows whose sums are whole: PipelineTiles.h
  bool waitsForL3 = false;        // for rows and panels that L2 does not hold
  bool addsPairs = false;         // products of two bf16, by one instruction
  bool addsFour = true;           // products of four bytes, by one instruction
  bool sumsBlocksInTiles = false; // in tile registers, where a tile says so
};
// Narrow types have their sums in tile registers, if there are any.
Core coreOf(const CpuTraits &traits = {}, bool narrow = false);

struct MatmulTile {
  int rows, columns; // of the out, in every accumulator
  int chunk;         // steps of K that all tiles do before any tile does more
  int chunkOfFew;    // the same for the class of few rows
  bool inRegisters = false; // many rows' blocks are added up in tile registers

  // With more rows than these, tiles of `rows` and of `rows` - 1 rows leave no
  // row over.
  int unshared() const { return (rows - 1) * (rows - 2) - 1; }
};

// The same kernel over a weight in panels: of one in rows it reads panels too,
// each of them rows of its columns.
KernelSpec withPanels(KernelSpec spec);

// The largest number of rows in the class of few rows, which has a kernel of
// its own where there are row classes. Few rows are few tiles, which do not
// hide the latency of memory; with more rows the tiles of AVX-512 leave no row
// over.
int fewRowsOf(const KernelSpec &spec);

// Whether a weight fits half of L1, and is not in blocks. Its matmul takes
// microseconds, so that code matters as much as time: one kernel of lower tiles
// and with one copy of its loops serves all numbers of rows. On a Cascade Lake
// it is made in 0.38 of the time of two; a model of 32 channels takes 2 to 3 %
// more time at 16 rows and 6 % at 128. (Of blocks it would be 11 and 27 %.)
bool isSmall(const KernelSpec &spec, const Core &core);

// Whether a tile's sums may wait in their place of the out between pieces of K:
// they must be f32, unchanged.
bool sumsMayWait(const KernelSpec &spec);

// Whether products of bytes are added two at a time, as integers of 16 bits, so
// that a sum stands in two halves while K is summed.
bool sumsInHalves(const MatmulSpec &matmul, const Core &core);

// Whether bf16 are widened to f32: rows once a tile, weights as they are
// multiplied. And the most bytes of such rows, or of bytes that are widened to
// 16 bits, whichever tile is chosen.
bool widensPairs(const MatmulSpec &matmul, const Core &core);
uint64_t bytesOfWidenedRows(const KernelSpec &spec);

// Whether few rows are copied to lie block by block, beside a weight in blocks,
// and the most bytes of such rows. Each row that is read is a stream in L1, and
// a Zen 4 that follows four rows falls behind the weight's, which comes from
// memory: of 1536 -> 576 in q8_0 they take 1.6 of one row's time, with one
// stream of all rows 1.15. Levels of fewer bits compute for longer: where K is
// 576, q4_0 takes 1.03 of the time with the copy.
bool laysRowsBeside(const MatmulSpec &matmul, const CpuTraits &traits);
uint64_t bytesOfRowsBeside(const KernelSpec &spec);

// Whether a panel's levels of less than a byte are made into bytes once for all
// tiles of many rows, and how many bytes those are. On a Zen 4 a prompt of 128
// tokens takes 0.93 of the time in q4_0, with the prefetches of the next panel,
// 0.94 in q4_k, 0.80 in q5_0.
bool keepsLevels(const MatmulSpec &matmul);
uint64_t bytesOfLevels(const KernelSpec &spec);

// The most bytes that a kernel allocates: few rows or the levels for many rows.
uint64_t scratchOfMatmul(const KernelSpec &spec);

// The cycles of one step of K of a tile, by resource; the largest decides.
struct StepCost {
  double multiplies, latency, loads, fromL2;
  double cycles() const;
};
StepCost costOf(const Core &core, int rows, int vectors);

// The best tile by the model, then those that are nearly as good, of which a
// measurement may prefer one (mille compile --tune). Never empty; the same each
// time.
std::vector<MatmulTile> tilesOf(const KernelSpec &spec, const Core &core);

// "6 rows x 64 columns, 3072 steps of K in pieces of 1024, of few rows of 768".
std::string inWords(const MatmulTile &tile, const MatmulSpec &matmul);

// The best tile and why it was chosen, as a sentence.
std::string explainTile(const KernelSpec &spec, const Core &core);

} // namespace mille

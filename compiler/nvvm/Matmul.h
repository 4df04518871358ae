// Matrix products with an epilogue: tiles of a persistent grid, operands by TMA
// through a ring, products by wgmma. Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Kernel.h"
#include "compiler/nvvm/TileWalk.h"

namespace mille::nvvm {

constexpr unsigned sharedLimit = 232448;  // bytes of a block
constexpr unsigned stepOfK = lineColumns; // of a stage, of bf16
// A product takes 32 bytes of K, whatever it multiplies.
constexpr unsigned productsOfStep = lineBytes / 32;
// Values of K in a line of a stage.
unsigned stepOf(const MatmulSpec &matmul);
Product productOf(const MatmulSpec &matmul);
// Whether tensor cores sum a step of K alone, and registers the steps: of
// products of e4m3 they keep some 14 bits.
bool sumsBySteps(const MatmulSpec &matmul);
// values += sums, of a step whose products are done.
void addStep(Builder &builder, Regs &values, Reg sums);
// Registers that a thread of the producer keeps, and one of the two groups that
// multiply: 128 * 40 + 256 * 232 are less than a block's 65536.
constexpr unsigned producerRegisters = 40, consumerRegisters = 232;

// Whether a tensor map can describe it: TMA takes strides of whole 16 bytes.
bool hasMap(const BufferSpec &buffer);

struct MatmulTile {
  unsigned columns = 256; // of the weight
  unsigned blocks = 1;    // of 64 rows, of a consumer group
  unsigned cluster = 1;   // blocks of threads, which share the weight's columns
  bool pingPong = false;  // a tile for each group, in turns; else for both
  unsigned group = 8;     // tiles of rows that are near in time

  unsigned rows() const { return 64 * blocks * (pingPong ? 1 : 2); }
  bool operator==(const MatmulTile &other) const {
    return columns == other.columns && blocks == other.blocks &&
           cluster == other.cluster && pingPong == other.pingPong;
  }
};

constexpr unsigned panelBytes = 64 * 128; // 64 rows of a line each

// Where everything lies in shared memory.
struct MatmulLayout {
  MatmulLayout(const KernelSpec &spec, const MatmulTile &tile);

  // The out's tile alone, stored from registers or if possible by TMA. Then
  // where it and the barriers behind it lie.
  enum class Out { direct, staged };
  MatmulLayout(const KernelSpec &spec, const MatmulTile &tile, Out out);
  // Both for `groups` groups.
  void placeOut(unsigned from, unsigned groups);
  unsigned outBytes(unsigned groups) const;
  unsigned groupPanels() const { return panels * blocks; }

  unsigned outColumns;   // of a tile
  unsigned blocks;       // of 64 rows, of a group
  bool staged;           // the out leaves by TMA
  int ringExtra;         // the extra that comes by TMA, or -1
  unsigned panelColumns; // of the out, 128 bytes
  unsigned panels;       // of a tile
  unsigned rowBytes = 0, weightBytes = 0, stageBytes = 0; // of a stage
  // Each group has a ring of its own for panels of 64 rows of that extra, in
  // whose place the out's are written: so many slots, then barriers.
  unsigned slots = 0;
  unsigned slotsBytes() const { return slots ? slots * panelBytes + 1024 : 0; }
  unsigned staging; // where the first group's slots are
  unsigned stages = 0, barriers, sharedBytes = 0;
};

// Arguments of a product's kernel, by number: maps of both operands, rows,
// steps of K and tiles of rows.
struct ProductArguments {
  unsigned input = 0, weight = 0, rows = 0, steps = 0, rowTiles = 0;
};
// Adds them. A copy brings a step of K for `inputRows` rows of the input, and
// for `weightRows` of the weight.
ProductArguments addProduct(Launch &launch, const MatmulSpec &matmul,
                            const mille_amount &rowTiles, unsigned step,
                            unsigned inputRows, unsigned weightRows);

Kernel writeMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                   const MatmulTile &tile, const std::string &entry);

} // namespace mille::nvvm

// Matrix products with an epilogue: tiles of a persistent grid, operands by TMA
// through a ring, products by wgmma. Must not choose tiles.
#pragma once
#include "compiler/kernels/Spec.h"
#include "compiler/nvvm/Kernel.h"

namespace mille::nvvm {

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

// Where everything lies in shared memory.
struct MatmulLayout {
  MatmulLayout(const KernelSpec &spec, const MatmulTile &tile);

  unsigned outColumns;   // of a tile
  bool staged;           // the out leaves by TMA
  int ringExtra;         // the extra that comes by TMA, or -1
  unsigned panelColumns; // of the out, 128 bytes
  unsigned panels;       // of a tile
  unsigned rowBytes, weightBytes, stageBytes; // of a stage
  // Each group has a ring of its own for that extra: stages of a panel of its
  // rows, then barriers.
  unsigned extraStages, extraBytes, extraArea;
  unsigned extras; // where the first group's ring is
  unsigned stages, staging, barriers, sharedBytes;
};

// Arguments of a product's kernel, by number: maps of both operands, rows,
// steps of K and tiles of rows.
struct ProductArguments {
  unsigned input = 0, weight = 0, rows = 0, steps = 0, rowTiles = 0;
};
// Adds them. A copy brings a step of K for `inputRows` rows of the input, and
// for `weightRows` of the weight.
ProductArguments addProduct(Launch &launch, const MatmulSpec &matmul,
                            const mille_amount &rowTiles, unsigned stepOfK,
                            unsigned inputRows, unsigned weightRows);

Kernel writeMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                   const MatmulTile &tile, const std::string &entry);

} // namespace mille::nvvm

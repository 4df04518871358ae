// The writer of products whose rows are normed: NormedMatmul.cpp has the
// operands and the sums, NormedRows.cpp the statistics and the outs.
#pragma once
#include "compiler/nvvm/ChunkNorm.h"
#include "compiler/nvvm/Extras.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/NormedMatmul.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

// A group's rows of a panel, in lines of 128 bytes.
constexpr unsigned slotBytes = 64 * lineBytes;

// Where everything lies in shared memory.
struct NormedLayout {
  NormedLayout(const KernelSpec &spec, const NormedTile &tile);

  unsigned chunks;    // of a block's columns
  unsigned allChunks; // of a row
  unsigned rowBytes, stageBytes, panelBytes;
  int ringExtra; // the extra that follows the operands through the ring, or -1
  unsigned panelsOfStage;
  unsigned pieceBytes; // of a block's statistics
  unsigned stages, slots, statistics, barriers, arrived, sharedBytes;
};

// The op and its joined rows; buffers that joined rows read count as extras.
KernelSpec withAllExtras(const KernelSpec &spec);

class NormedWriter {
public:
  NormedWriter(mlir::MLIRContext &context, const KernelSpec &spec,
               const NormedTile &tile, const std::string &entry)
      : spec(spec), all(withAllExtras(spec)), matmul(spec.matmul), tile(tile),
        layout(spec, tile), direct(all, describe(entry)), b(context, launch) {}
  Kernel write();

private:
  using Four = std::vector<Regs>; // [8 columns], registers as of a sum
  using Pairs = std::vector<std::vector<Regs>>; // [extra][8 columns] two

  Launch &describe(const std::string &entry);
  void initialize();
  void produce();
  void loadInput(Reg step, Reg stage, RingState at);
  void loadWeight(Reg step, Reg stage, RingState at);
  Reg products(const RingState &state, Reg sums, bool first);
  Regs sum(RingState &state);
  Four fromRing(Reg panel);
  Pairs columnsAt(unsigned panel);
  Regs valueOf(unsigned extra, const Pairs &columns, unsigned panel, unsigned j,
               unsigned h);
  void addUp(Regs &values, RingState state);
  void takeStatistic(const Regs &values, unsigned panel);
  void exchange();
  void combine();
  Reg statistic(Reg chunkNumber, unsigned h);
  void finish(const Regs &values);
  std::vector<Four> partsOf(const Regs &values, unsigned panel,
                            const Pairs &columns);
  void stage(const BufferSpec &out, const Four &values, unsigned panel,
             Reg buffer);
  void consume();

  const KernelSpec &spec, all;
  const MatmulSpec &matmul;
  const NormedTile tile;
  const NormedLayout layout;
  Launch launch;
  ProductArguments product;
  unsigned extraMap = 0;
  std::vector<unsigned> outMaps; // of each op of the kernel that is written
  Extras direct;
  Builder b;
  Reg shared, group, thread, rank, row, column, rows, steps, arrived;
  ChunkNorm::Factors factors[2]; // of both rows of a thread
  std::optional<Ring> ring;
  std::optional<Fragments> fragments;
};

} // namespace mille::nvvm

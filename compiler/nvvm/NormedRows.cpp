// What a row's norm needs of the other blocks, and the outs. Statistics are of
// 32 columns each, and are combined in one order whatever the tile.
// Must not multiply.
#include "compiler/nvvm/NormedKernel.h"
#include "compiler/nvvm/Region.h"

namespace mille::nvvm {

// The barrier of all groups; 1 and 2 are their own.
constexpr int allGroups = 4;

//===-- Statistics --------------------------------------------------------===//

// Where the statistic of a chunk of this thread's row half `h` lies.
Reg NormedWriter::statistic(Reg chunkNumber, unsigned h) {
  Reg own = (group - 1) * 64 + fragments->row + int(8 * h);
  return b.at(shared, (chunkNumber * int(tile.rows()) + own) * 8 +
                          int(layout.statistics));
}

void NormedWriter::takeStatistic(const Regs &values, unsigned panel) {
  ChunkNorm norm(b, spec.joined[0].rows);
  for (unsigned h : {0, 1}) {
    Regs eight;
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned e : {0, 1})
        eight.push_back(values[(panel * 4 + j) * 4 + 2 * h + e]);
    Regs of = norm.take(eight);
    b.ifThen(eq(thread % 4, 0), [&] {
      b.store(b.vector(of),
              statistic(rank * int(layout.chunks) + int(panel), h), 8);
    });
  }
}

// Every block gets the statistics of all.
void NormedWriter::exchange() {
  if (tile.cluster > 1)
    b.fenceAsync();
  b.syncNamed(allGroups, tile.groups * groupThreads);
  if (tile.cluster == 1)
    return;
  b.ifThen(eq(group, 1) & eq(thread, 0), [&] {
    Reg piece =
        b.at(shared, rank * int(layout.pieceBytes) + int(layout.statistics));
    for (unsigned to = 0; to < tile.cluster; ++to)
      b.ifThen(ne(rank, int(to)), [&] {
        b.send(piece, piece, arrived, b.constant(to), layout.pieceBytes);
      });
  });
  b.waitBarrier(arrived, b.constant(0));
}

// The mean and the factor of both rows.
void NormedWriter::combine() {
  ChunkNorm norm(b, spec.joined[0].rows);
  for (unsigned h : {0, 1})
    factors[h] = norm.combine(layout.allChunks, thread % 4,
                              [&](Reg number) { return statistic(number, h); });
}

//===-- Outs --------------------------------------------------------------===//

// What each op of the kernel gives in a panel.
std::vector<NormedWriter::Four> NormedWriter::partsOf(const Regs &values,
                                                      unsigned panel,
                                                      const Pairs &columns) {
  std::vector<Four> parts(1 + spec.joined.size(), Four(4, Regs(4)));
  for (unsigned i = 0; i < 16; ++i)
    parts[0][i / 4][i % 4] = values[panel * 16 + i];
  unsigned extra = matmul.extras.size();
  for (auto [number, joined] : llvm::enumerate(spec.joined)) {
    Region region(b, joined.rows.body, isBf16(joined.out.element));
    std::vector<unsigned> extras; // of each input
    for (int source : joined.sources)
      extras.push_back(source < 0 ? extra++ : 0);
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned h : {0, 1}) {
        std::vector<Regs> inputs;
        for (auto [x, source] : llvm::zip(extras, joined.sources))
          inputs.push_back(source < 0 ? valueOf(x, columns, panel, j, h)
                                      : Regs{parts[source][j][2 * h],
                                             parts[source][j][2 * h + 1]});
        for (unsigned e : {0, 1}) {
          Regs arguments;
          for (const Regs &two : inputs)
            arguments.push_back(two[e]);
          if (number == 0)
            arguments[0] = (arguments[0] - factors[h].mean) * factors[h].scale;
          parts[number + 1][j][2 * h + e] = region.apply(arguments);
        }
      }
  }
  return parts;
}

// A panel of f32, or half a panel of bf16.
void NormedWriter::stage(const BufferSpec &out, const Four &values,
                         unsigned panel, Reg buffer) {
  if (!isHalf(out.element)) {
    for (unsigned h : {0, 1}) {
      Regs eight;
      for (const Regs &four : values)
        eight.insert(eight.end(), {four[2 * h], four[2 * h + 1]});
      fragments->storePairs(buffer, h, eight);
    }
    return;
  }
  for (unsigned q : {0, 1}) {
    Regs words;
    for (unsigned w = 0; w < 4; ++w) {
      const Regs &four = values[2 * q + w / 2];
      words.push_back(b.packHalf(four[2 * (w % 2)], four[2 * (w % 2) + 1]));
    }
    b.storeMatrices(fragments->matrixAddress(buffer, panel % 2 * 2 + q), words);
  }
}

// Panels go where the ring was: no operand is read any more.
void NormedWriter::finish(const Regs &values) {
  std::vector<const BufferSpec *> outs; // of each op, null: not written
  outs.push_back(spec.written ? &spec.out : nullptr);
  for (const JoinedRows &joined : spec.joined)
    outs.push_back(joined.written ? &joined.out : nullptr);
  Reg area = b.at(shared, (group - 1) * int(layout.slots * slotBytes));
  Reg own = row + (group - 1) * 64;
  struct Staged {
    unsigned map, slot, column;
  };
  std::vector<Staged> staged;
  unsigned used = 0;
  // Stores what is staged, and waits until its memory is free.
  auto leave = [&](bool wait) {
    b.fenceAsync();
    b.syncNamed(group, groupThreads);
    b.ifThen(eq(thread, 0), [&] {
      for (const Staged &one : staged)
        b.storeBox(b.argument(one.map), b.at(area, int(one.slot * slotBytes)),
                   {column + int(one.column), own});
      b.commitStores();
      if (wait)
        b.waitStores(0);
    });
    staged.clear();
  };
  std::vector<unsigned> slotOf(outs.size());
  for (unsigned p = 0; p < layout.chunks; ++p) {
    if (p % 2 == 0 && p) {
      // Now, so that writing begins while the rest is computed.
      const bool full = used + 2 * outs.size() > layout.slots;
      leave(full);
      if (full) {
        b.syncNamed(group, groupThreads);
        used = 0;
      }
    }
    std::vector<Four> parts = partsOf(values, p, columnsAt(p));
    unsigned map = 0;
    for (auto [part, out] : llvm::enumerate(outs)) {
      if (!out)
        continue;
      const bool half = isHalf(out->element) && p % 2;
      if (!half) {
        slotOf[part] = used++;
        staged.push_back({outMaps[map], slotOf[part], chunk * p});
      }
      ++map;
      stage(*out, parts[part], p, b.at(area, int(slotOf[part] * slotBytes)));
    }
  }
  leave(true);
}

} // namespace mille::nvvm

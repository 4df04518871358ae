// Tiles are numbered; the number follows from the place.
#include "compiler/nvvm/TileWalk.h"

#include "compiler/kernels/Describe.h"

namespace mille::nvvm {

int64_t columnTilesOf(const MatmulSpec &matmul, unsigned columns) {
  return (matmul.columns + columns - 1) / columns;
}

// Some tiles of rows are walked before the next tile of columns, so that they
// find its weights in L2, and their own rows at the next one.
std::pair<Reg, Reg> placeOfTile(Builder &b, Reg number, Reg rowTiles,
                                int64_t columnTiles, unsigned group) {
  const int64_t width = columnTiles * group;
  Reg first = (number / width) * int(group);
  Reg down = b.minSigned(rowTiles - first, int(group));
  Reg rest = number % width;
  return {first + rest % down, rest / down};
}

void TileWalk::describe(Launch &launch) {
  if (!matmul.experts)
    return;
  // Each row may be an expert's only one.
  launch.tiles[0] = amountOf(MILLE_COUNT_ROWS);
  // Behind the out.
  starts =
      launch.addStarts(buffersBeforeExtras(matmul) + matmul.extras.size() + 1);
}

void TileWalk::begin(Builder &builder, Reg tilesOfRows) {
  b = &builder;
  rowTiles = tilesOfRows;
  allTiles = rowTiles * columnTilesOf(matmul, columns);
}

Regs TileWalk::each(const Regs &state, Reg first, Reg stride, Body body) {
  if (matmul.experts)
    return eachOfExperts(state, first, stride, body);
  Regs all{first};
  all.insert(all.end(), state.begin(), state.end());
  all = b->loop(
      all, [&](const Regs &v) { return lt(v[0], allTiles); },
      [&](const Regs &v) {
        auto [down, across] = placeOfTile(
            *b, v[0], rowTiles, columnTilesOf(matmul, columns), group);
        Regs next = body({down * int(rows), across * int(columns), {}, {}},
                         Regs(v.begin() + 1, v.end()));
        next.insert(next.begin(), v[0] + stride);
        return next;
      });
  return Regs(all.begin() + 1, all.end());
}

// Rows are sorted by expert. Tiles are numbered from expert to expert, so that
// blocks share them evenly, whichever experts have rows.
Regs TileWalk::eachOfExperts(const Regs &state, Reg first, Reg stride,
                             Body body) {
  const int64_t across = columnTilesOf(matmul, columns);
  Regs all{b->constant(0), first};
  all.insert(all.end(), state.begin(), state.end());
  all = b->loop(
      all, [&](const Regs &v) { return lt(v[0], matmul.experts); },
      [&](const Regs &v) {
        Reg place = b->at(b->argument(starts), v[0] * 4);
        Reg begin = b->load(place, b->i32()),
            end = b->load(b->at(place, 4), b->i32());
        Reg down = (end - begin + int(rows - 1)) / int(rows);
        Reg count = down * across;
        Regs last = b->loop(
            Regs(v.begin() + 1, v.end()),
            [&](const Regs &own) { return lt(own[0], count); },
            [&](const Regs &own) {
              auto [row, column] = placeOfTile(*b, own[0], down, across, group);
              Regs next = body(
                  {begin + row * int(rows), column * int(columns), end, v[0]},
                  Regs(own.begin() + 1, own.end()));
              next.insert(next.begin(), own[0] + stride);
              return next;
            });
        last[0] = last[0] - count;
        last.insert(last.begin(), v[0] + 1);
        return last;
      });
  return Regs(all.begin() + 2, all.end());
}

} // namespace mille::nvvm

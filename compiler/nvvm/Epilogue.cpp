// Panels of the out: staged in shared memory and stored by TMA, which cuts what
// lies outside, or straight from registers where no tensor map is possible.
#include "compiler/nvvm/Epilogue.h"

#include "compiler/kernels/Describe.h"

namespace mille::nvvm {

MatmulEpilogue::MatmulEpilogue(const KernelSpec &spec, const MatmulTile &tile,
                               const MatmulLayout &layout, Launch &launch)
    : spec(spec), tile(tile), layout(layout), extras(spec, launch),
      bytes(spec.matmul, launch) {
  const uint32_t first = buffersBeforeExtras(spec.matmul),
                 out = first + spec.matmul.extras.size();
  auto map = [&](uint32_t buffer, const BufferSpec &its) {
    return launch.addTensor(
        buffer, {{constantAmount(its.columns), {}, layout.panelColumns},
                 {amountOf(MILLE_COUNT_ROWS),
                  constantAmount(its.rowStride * bytesOf(its.element)), 64}});
  };
  if (layout.ringExtra >= 0)
    extraMap =
        map(first + layout.ringExtra, spec.matmul.extras[layout.ringExtra]);
  if (layout.staged)
    outMap = map(out, spec.out);
}

void MatmulEpilogue::prefetchMaps(Builder &builder) {
  if (layout.ringExtra >= 0)
    builder.prefetchMap(builder.argument(extraMap));
  if (layout.staged)
    builder.prefetchMap(builder.argument(outMap));
}

Ring MatmulEpilogue::panelRing(Builder &builder, Reg shared, Reg which) {
  Reg area = builder.at(shared,
                        which * int(layout.slotsBytes()) + int(layout.staging));
  return Ring(builder, area, layout.slots, panelBytes, 0,
              layout.slots * panelBytes, 1);
}

Carrier MatmulEpilogue::carrier(Builder &builder, Reg shared, Reg which) {
  return Carrier(builder, layout, panelRing(builder, shared, which),
                 layout.ringExtra < 0 ? Reg() : builder.argument(extraMap),
                 builder.argument(outMap));
}

void MatmulEpilogue::begin(Builder &builder, const Place &where,
                           Fragments &its) {
  b = &builder;
  place = where;
  fragments = &its;
  if (layout.slots)
    ring.emplace(panelRing(*b, place.shared, place.group - 1));
  region.emplace(*b, spec.matmul.epilogue, isBf16(spec.out.element));
  extras.begin(*b, place.rows);
  bytes.begin(*b, place.rows);
}

//===-- Reading -----------------------------------------------------------===//

void MatmulEpilogue::prepare(Reg row, Reg column, unsigned blocks) {
  read = {readsAhead() ? columnsAt(column) : Columns(), {}, {}, {}};
  read.rows.resize(extras.count());
  read.scalars.resize(extras.count());
  for (unsigned x = 0; x < extras.count(); ++x) {
    if (extras.reading(x) == Reading::scalar)
      read.scalars[x] = extras.scalar(x);
    if (extras.reading(x) != Reading::row)
      continue;
    for (unsigned i = 0; i < blocks; ++i) {
      Reg own = row + fragments->row + 64 * i;
      read.rows[x].push_back({extras.atRow(x, own), extras.atRow(x, own + 8)});
    }
  }
}

MatmulEpilogue::Columns MatmulEpilogue::columnsAt(Reg column) {
  Columns columns(extras.count());
  for (unsigned x = 0; x < extras.count(); ++x)
    if (extras.reading(x) == Reading::column)
      for (unsigned j = 0; j < layout.panelColumns / 8; ++j)
        columns[x].push_back(
            extras.atColumns(x, column + fragments->column + 8 * j));
  return columns;
}

// An extra by element: [8 columns] four, as the registers of a sum.
MatmulEpilogue::Values MatmulEpilogue::elementsOf(unsigned extra, Reg row,
                                                  Reg column) {
  const unsigned eights = layout.panelColumns / 8;
  Values values(eights);
  if (int(extra) != layout.ringExtra) {
    for (unsigned j = 0; j < eights; ++j)
      for (unsigned h : {0, 1})
        for (Reg value : extras.atElements(extra, row + fragments->row + 8 * h,
                                           column + fragments->column + 8 * j))
          values[j].push_back(value);
  } else if (isHalf(spec.out.element)) {
    for (unsigned q = 0; q < eights / 2; ++q) {
      Regs words = b->loadMatrices(fragments->matrixAddress(read.slot, q));
      for (unsigned w = 0; w < 4; ++w)
        for (Reg value : b->unpackHalf(words[w]))
          values[2 * q + w / 2].push_back(value);
    }
  } else {
    for (unsigned h : {0, 1}) {
      Regs eight = fragments->loadPairs(read.slot, h);
      for (unsigned i = 0; i < 8; ++i)
        values[i / 2].push_back(eight[i]);
    }
  }
  return values;
}

//===-- Computing ---------------------------------------------------------===//

Regs MatmulEpilogue::numbersOf(const Regs &sums, unsigned accumulator,
                               llvm::ArrayRef<ByteSums::Row> two,
                               const ByteSums::Columns &columns,
                               unsigned further) {
  if (two.empty())
    return sums;
  Regs numbers;
  for (unsigned h : {0, 1}) {
    auto corrections = bytes.corrections(two[h], accumulator, columns, further);
    for (unsigned e : {0, 1})
      numbers.push_back(bytes.number(sums[2 * h + e], two[h], corrections[e]));
  }
  return numbers;
}

MatmulEpilogue::Values MatmulEpilogue::computePanel(const Regs &sums,
                                                    unsigned panel,
                                                    unsigned block, Reg row,
                                                    Reg column) {
  std::vector<Values> elements(extras.count());
  for (unsigned x = 0; x < extras.count(); ++x)
    if (extras.reading(x) == Reading::element)
      elements[x] = elementsOf(x, row, column);
  // Read anew for each panel, since registers have no room for all blocks'.
  std::vector<ByteSums::Row> two;
  for (unsigned h = 0; bytes.isOfBytes() && h < 2; ++h)
    two.push_back(bytes.row(row + fragments->row + 8 * h));
  const ByteSums::Columns ofBytes =
      bytes.isOfBytes()
          ? bytes.columns(column, layout.panelColumns, fragments->column)
          : ByteSums::Columns();
  const unsigned eights = layout.panelColumns / 8;
  Values values(eights);
  for (unsigned j = 0; j < eights; ++j) {
    std::vector<Regs> columns(extras.count()), numbers;
    for (int a = 0; a < spec.matmul.accumulators; ++a) {
      auto at =
          sums.begin() + (panel * eights + j) * 4 + a * layout.outColumns / 2;
      numbers.push_back(numbersOf(Regs(at, at + 4), a, two, ofBytes, 8 * j));
    }
    for (unsigned x = 0; x < extras.count(); ++x)
      if (extras.reading(x) == Reading::column)
        columns[x] =
            readsAhead()
                ? read.columns[x][j]
                : extras.atColumns(x, column + fragments->column + 8 * j);
    for (unsigned i = 0; i < 4; ++i) {
      Regs arguments;
      for (const Regs &four : numbers)
        arguments.push_back(four[i]);
      for (unsigned x = 0; x < extras.count(); ++x)
        switch (extras.reading(x)) {
        case Reading::element:
          arguments.push_back(elements[x][j][i]);
          break;
        case Reading::column:
          arguments.push_back(columns[x][i % 2]);
          break;
        case Reading::row:
          arguments.push_back(read.rows[x][block][i / 2]);
          break;
        case Reading::scalar:
          arguments.push_back(read.scalars[x]);
          break;
        }
      values[j].push_back(region->apply(arguments));
    }
  }
  return values;
}

//===-- Writing -----------------------------------------------------------===//

// Writes the values to shared memory, over the extra's panel if there is one.
void MatmulEpilogue::stage(const Values &values) {
  if (!isHalf(spec.out.element)) {
    for (unsigned h : {0, 1}) {
      Regs eight;
      for (const Regs &four : values)
        eight.insert(eight.end(), {four[2 * h], four[2 * h + 1]});
      fragments->storePairs(read.slot, h, eight);
    }
    return;
  }
  for (unsigned q = 0; q < values.size() / 2; ++q) {
    Regs words;
    for (unsigned w = 0; w < 4; ++w) {
      const Regs &four = values[2 * q + w / 2];
      words.push_back(b->packHalf(four[2 * (w % 2)], four[2 * (w % 2) + 1]));
    }
    b->storeMatrices(fragments->matrixAddress(read.slot, q), words);
  }
}

void MatmulEpilogue::storeDirectly(const Values &values, Reg row, Reg column) {
  for (unsigned j = 0; j < values.size(); ++j)
    for (unsigned h : {0, 1})
      extras.store({values[j][2 * h], values[j][2 * h + 1]},
                   row + fragments->row + 8 * h,
                   column + fragments->column + 8 * j);
}

RingState MatmulEpilogue::write(const std::vector<Regs> &sums, Reg row,
                                Reg column, RingState state) {
  for (unsigned p = 0; p < layout.panels; ++p) {
    Reg at = column + layout.panelColumns * p;
    // Those of the next panel arrive while this one is computed.
    Columns next;
    if (readsAhead() && p + 1 < layout.panels)
      next = columnsAt(at + layout.panelColumns);
    for (unsigned i = 0; i < sums.size(); ++i) {
      Reg own = row + 64 * i;
      if (!layout.slots) {
        storeDirectly(computePanel(sums[i], p, i, own, at), own, at);
        continue;
      }
      ring->wait(state);
      read.slot = ring->address(state.stage);
      stage(computePanel(sums[i], p, i, own, at));
      b->fenceAsync();
      b->syncNamed(place.group, 128);
      ring->release(state.stage, place.thread);
      state = ring->next(state);
    }
    read.columns = next;
  }
  return state;
}

} // namespace mille::nvvm

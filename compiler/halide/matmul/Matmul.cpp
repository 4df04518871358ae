// out = epilogue(input * weight^T, extras...) on packed weights: a register
// tile is summed over the whole of K, then the epilogue reads it.
// Must add products in the order of K.
#include "compiler/halide/matmul/MatmulPipe.h"

#include "compiler/halide/Elements.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/Scalars.h"
#include "compiler/halide/device/Device.h"
#include "compiler/halide/device/DeviceSource.h"

using namespace Halide;

namespace mille {

namespace {

MatmulTile tileOf(const KernelSpec &spec, const Core &core, unsigned rank,
                  bool few) {
  std::vector<MatmulTile> tiles = tilesOf(spec, core);
  const MatmulTile &tile = tiles[rank < tiles.size() ? rank : 0];
  return few && tile.inRegisters ? tiles[0] : tile;
}

// Whether the sums of bytes are so short that a vector of the epilogue takes
// longer than the products that come with it. Then the vectors of a row go
// together, so that none waits for another: 256 -> 1024 with GELU from 58 to 70
// % of a Zen 5's peak at 16 rows and from 67 to 73 at 128, 384 -> 1536 from 72
// to 79 at 16, but from 83 to 82 at 128; 768 -> 3072 from 92 to 89.
bool areShort(int steps, const MatmulTile &tile, bool few) {
  constexpr int lanes = 16, least = 4; // steps for each vector
  const int vectors = tile.rows * tile.columns / lanes;
  return few ? steps <= least * vectors : steps < least * vectors;
}

} // namespace

MatmulPipe::MatmulPipe(const KernelSpec &spec, const Machine &machine,
                       const Names &names, bool few, unsigned rank, bool inRows)
    : spec(spec), s(spec.matmul), names(names), device(machine.device),
      fewRows(few), inRows(inRows),
      isSmall(!device && mille::isSmall(spec, coreOf(machine, s.isNarrow()))),
      widens(!device && widensPairs(s, coreOf(machine, s.isNarrow()))),
      inHalves(!device && sumsInHalves(s, coreOf(machine, s.isNarrow()))),
      oneInstruction(!(s.ofBytes() || s.ofBlocks()) || machine.bytes),
      prefetchesIntoL2(machine.prefetchesIntoL2), picks(machine.picks),
      looksFar(machine.looksFar), foresees(machine.foresees),
      prefetchesStreams(machine.prefetchesStreams),
      oneStream(machine.oneStream),
      rowsBeside(few && laysRowsBeside(s, machine)),
      byExpert(device && s.experts),
      deviceTile(
          device ? deviceTileOf(s, few ? coreDescription() : gpuDescription())
                 : DeviceTile{}),
      tile(device ? MatmulTile{deviceTile.rows, deviceTile.columns, 0, 0}
                  : tileOf(spec, coreOf(machine, s.isNarrow()), rank, few)),
      inTiles(s.ofBlocks() ? tile.inRegisters
                           : machine.tileRegisters && s.isNarrow()),
      chunk(few ? tile.chunkOfFew : tile.chunk), V(machine.lanes),
      K(int(s.inner)), panel(int(s.panel)), panels(int(s.panels)),
      accumulators(s.accumulators), group(int(s.group())),
      steps(int(s.steps())), width(panel / accumulators),
      slices(width / tile.columns),
      // On a device neighbouring items read neighbouring words.
      readsWords(widens || (device && group > 1)),
      pipelined(coreOf(machine, s.isNarrow()).pipelines && oneInstruction &&
                !widens && chunk == steps && slices == 1 && K % group == 0 &&
                !s.ofBlocks()),
      vectorPieces(pipelined && machine.looksFar && s.epilogue.expensive() &&
                   !(s.ofBytes() && areShort(steps, tile, few))),
      rowsOfPiece(pipelined && !machine.looksFar && s.epilogue.expensive()
                      ? tile.rows
                      : 1),
      hasRowClasses(machine.wide),
      keepsLevels(!few && hasRowClasses && mille::keepsLevels(s)),
      // Sums that tile registers made lie in L1 already; those of blocks are
      // scaled in vectors, and a tile has more rows than others.
      parksSums(pipelined || (s.ofBlocks() && inTiles) ||
                (s.parks() && !inTiles)),
      leastRows(few && tile.rows > 2 ? tile.rows - 2 : tile.rows - 1),
      // A machine without row classes has one kernel for all numbers of rows.
      hasShortTiles(inTiles || few || !machine.wide || isSmall ||
                    tile.unshared() > fewRowsOf(spec)) {
  if (device)
    i = m; // an item's rows are the out's
  inTile = device ? std::vector<Var>{ni, a, i, no}
                  : std::vector<Var>{ni, a, i, t, no};
}

void MatmulPipe::declareOperands() {
  input = bufferOf(s.input, names("input"));
  if (s.ofBlocks())
    return declareBlocks();
  const int across = readsWords ? panel : panel * group;
  const Type weightType = readsWords    ? UInt(32)
                          : s.ofBytes() ? Int(8)
                                        : typeOf(s.input.element);
  weight = ImageParam(weightType, inRows ? 2 : 3, names("weight"));
  if (inRows) {
    weight.dim(0).set_bounds(0, steps);
    weight.dim(1)
        .set_bounds(0, accumulators * int(s.columns))
        .set_stride(steps);
  } else {
    weight.dim(0).set_bounds(0, across);
    weight.dim(1).set_bounds(0, steps).set_stride(across);
    weight.dim(2).set_bounds(0, panels).set_stride(across * steps);
  }
  pipe.arguments = {input, weight};
  if (byExpert) {
    expertRows = ImageParam(Int(32), 1, names(expertRowsName));
    expertRows.dim(0).set_bounds(0, 1);
  }
  if (!s.ofBytes())
    return;
  parameters = bufferOf(s.parameters, names("parameters"));
  sums = ImageParam(Int(32), inRows ? 2 : 3, names("sums"));
  if (!inRows)
    sums.dim(2).set_bounds(0, panels).set_stride(panel);
  pipe.arguments.insert(pipe.arguments.end(), {parameters, sums});
}

// Tiles of tile.rows rows and tiles of one row less share the rows, so that no
// row is left over: a tile of 2 rows takes as long as one of 4. With tiles of 8
// that works for 14 to 16 rows, 21 to 24, 28 to 32 and so on, and for all
// numbers from 42; for other numbers the last tile is short. The kernel of the
// class of few rows also has tiles of two rows less, so that no row is left
// over of 12 to 16 rows and from 18 on: on Zen 4 12 and 18 rows take 8 to 17 %
// less time. In tile registers a tile's time follows its number of rows.
void MatmulPipe::placeRows() {
  pipe.out = make("out");
  if (device)
    return;
  pipe.out(n, m) = undef(typeOf(spec.out.element));
  auto rows = pipe.out.output_buffer().dim(1);
  Expr tiles = (rows.extent() + tile.rows - 1) / tile.rows;
  lacksOneRow =
      leastRows == tile.rows - 1 || tiles * (tile.rows - 1) <= rows.extent();
  rowsPerTile = select(lacksOneRow, tile.rows - 1, leastRows);
  tallTiles = max(rows.extent() - tiles * rowsPerTile, 0);
  lastIsWhole = tiles * rowsPerTile <= rows.extent();
  tileRows = RDom(0, tile.rows, 0, tiles, names("rows"));
  tileRows.where(isRow(tileRows.x, tileRows.y));
}

Expr MatmulPipe::isRow(const Expr &i, const Expr &t) const {
  if (inTiles)
    return t * tile.rows + i < Func(pipe.out).output_buffer().dim(1).extent();
  if (!hasShortTiles) // tall tiles get a loop without this condition
    return i < leastRows || likely(t < tallTiles);
  Expr shared = i < leastRows || isShared(i, t);
  Expr inside =
      t * rowsPerTile + i < Func(pipe.out).output_buffer().dim(1).extent();
  return shared && (lastIsWhole || inside);
}

// Whether a tile has row i, where i >= leastRows. Each comparison is with a
// constant, so that each loop over rows ends at a constant.
Expr MatmulPipe::isShared(const Expr &i, const Expr &t) const {
  return (lacksOneRow && (i < tile.rows - 1 || t < tallTiles)) ||
         (i < leastRows + 1 && t < tallTiles);
}

// Whether row i of tile t is summed. A row past the run's last row is summed
// too, as a copy of the last row: with a condition for each row in each step of
// K, LLVM keeps the sums in memory. Runs of a single row and, in blocks, of up
// to four are the exception: they wait for memory, so their tile sums one row
// or four only. (As six rows four took 1.6 of one row's time where K is 1536 on
// Zen 4.) The condition of a row implies the conditions of the rows above it.
Expr MatmulPipe::inTileOfAll(const Expr &i, const Expr &t) const {
  if (!hasShortTiles)
    return isRow(i, t);
  constexpr int four = 4;
  auto areMoreThan = [&](int rows) {
    return lastIsWhole || Func(pipe.out).output_buffer().dim(1).extent() > rows;
  };
  const int few = s.ofBlocks() ? std::min(four, leastRows) : leastRows;
  Expr first = i < 1 || (i < few && areMoreThan(1));
  if (few < leastRows)
    first = first || (i < leastRows && areMoreThan(four));
  return first || (lastIsWhole && isShared(i, t));
}

Expr MatmulPipe::rowAt(const Expr &i, const Expr &t) const {
  Expr first = inTiles ? t * tile.rows : t * rowsPerTile + min(t, tallTiles);
  return Func(pipe.out).output_buffer().dim(1).min() + first + i;
}

// The row of the input that is read: the last row in the place of a row past
// it.
Expr MatmulPipe::rowRead() const {
  return min(rowAt(i, t), input.dim(1).max());
}

Expr MatmulPipe::columnInPanel() const {
  return a * width + (no % slices) * tile.columns + ni;
}
Expr MatmulPipe::panelNumber() const { return no / slices; }

// One of the two bf16 of a word, in f32.
static Expr halfOf(const Expr &word, const Expr &part) {
  return reinterpret<float>(
      select(part == 0, word << 16, word & Expr(0xffff0000u)));
}

// The sums are a function of a place in a tile: from (n, m) alone Halide cannot
// see that they fit in registers.
void MatmulPipe::multiply() {
  if (inHalves)
    return multiplyHalves();
  const Type sumType = s.ofBytes() ? Int(32) : Float(32);
  Expr column = columnInPanel(), at = panelNumber(), row = rowAt(i, t);
  Expr start = rowRead();
  if (inTiles && s.ofBytes()) {
    starts = make("starts");
    starts(inTile) = startOf(start, column, at);
  }
  product(inTile) =
      s.ofBytes() && !inTiles ? startOf(start, column, at) : cast(sumType, 0);
  k = group > 1 ? RDom(0, K / group, 0, group, names("k"))
                : RDom(0, K / group, names("k"));
  rest = RDom(0, std::max(K % group, 1), names("rest"));
  if (!inTiles) {
    k.where(inTileOfAll(i, t));
    rest.where(inTileOfAll(i, t));
  }
  Expr there = inTiles         ? start
               : hasShortTiles ? select(lastIsWhole, row, start)
                               : row;
  auto times = [&](const Expr &part, const Expr &step) {
    Expr value = widens ? wide(step * group + part, i, t)
                        : widened(input(step * group + part, there));
    Expr by = widens ? halfOf(weight(column, step, at), part)
                     : widened(weight(column * group + part, step, at));
    return cast(sumType, value) * cast(sumType, by);
  };
  if (widens)
    widenRows();
  product(inTile) += times(group > 1 ? Expr(k.y) : Expr(0), k.x);
  if (K % group)
    product(inTile) += times(rest, K / group);
}

// Rows that the tile does not sum are not read.
void MatmulPipe::widenRows() {
  wide = make("wide");
  Var column(names("column"));
  wideRows = RDom(0, K, 0, tile.rows, names("wide_rows"));
  wideRows.where(inTileOfAll(wideRows.y, t));
  const Type type = inHalves ? Int(16) : Float(32);
  wide(column, i, t) = undef(type);
  Expr row = min(rowAt(wideRows.y, t), input.dim(1).max());
  Expr value = input(wideRows.x, row);
  wide(wideRows.x, wideRows.y, t) =
      inHalves ? cast(type, value) : widened(value);
}

// The correction for a row's zero point, which a sum starts at. The sign of the
// zero point is changed here, in f32; else LLVM changes the sign of each
// product.
Expr MatmulPipe::startOf(const Expr &row, const Expr &column,
                         const Expr &at) const {
  Expr zero = oneRounding(Internal::Call::strict_sub, 0.0f, parameters(1, row));
  return cast<int32_t>(zero) * sumAt(column, at);
}

// The column of a row's outlier. The clamp shows Halide that the weight's
// bounds are kept.
Expr MatmulPipe::outlierColumn(const Expr &row) const {
  return clamp(cast<int32_t>(parameters(3, row)), 0, K - 1);
}

// The product of a row's outlier, which is not stored among the row's bytes. It
// is rounded separately, so that no kernel fuses it into a multiply-add that
// another kernel makes of another product.
Expr MatmulPipe::outlierOf(const Expr &row, const Expr &outlierWeight) const {
  return multiplied(parameters(2, row), cast<float>(outlierWeight));
}

// The weights that meet the rows' outliers; each is one byte of a word of the
// panel. A shift with a count per lane moves the byte to its place: between
// products on Zen 4 it costs nothing, but a shift of all lanes by one count
// costs time, and so does a multiply of the word by zeros and a one.
void MatmulPipe::pickOutlierWeights() {
  shifts = make("shifts");
  shifts(l, part) = cast<uint32_t>(8 * (group - 1 - part));
  Expr column = outlierColumn(rowRead());
  std::vector<Expr> parts;
  for (int i = 0; i < group; ++i)
    parts.push_back(reinterpret<uint8_t>(
        weight(columnInPanel() * group + i, column / group, panelNumber())));
  outlierWeights = make("outlier_weights");
  Expr shifted = concat_bits(parts) << shifts(ni % V, column % group);
  outlierWeights(inTile) = reinterpret<int32_t>(shifted) >> 24;
}

// One such weight, as a device computes it.
Expr MatmulPipe::outlierWeightAt(const Expr &row, int accumulator) const {
  Expr column = outlierColumn(row);
  Expr word =
      wordAt(accumulator * width + n % width, column / group, n / width);
  return partOf(word, column % group, s.input.element);
}

// The f32 number that a sum stands for: a sum of bytes is dequantised.
Expr MatmulPipe::valueOf(const std::vector<Expr> &place, int accumulator,
                         const Expr &row) const {
  const Func &from = parksSums ? parking : product;
  Expr sum = from(place);
  if (starts.defined())
    sum += starts(place);
  sum = cast<float>(sum);
  if (s.ofBlocks())
    return ofLevels(sum);
  if (!s.ofBytes())
    return sum;
  Expr weightThere =
      device ? outlierWeightAt(row, accumulator) : outlierWeights(place);
  return sum * parameters(0, row) + outlierOf(row, weightThere);
}

// The argument of the epilogue region for one accumulator.
Expr MatmulPipe::argument(int accumulator, const Expr &row) const {
  Expr column = n % tile.columns, across = n / tile.columns;
  std::vector<Expr> place{column, accumulator, m, across};
  if (!device)
    place = {column, accumulator, tileRows.x, tileRows.y, across};
  return values.defined() ? Expr(values(place))
                          : valueOf(place, accumulator, row);
}

void MatmulPipe::finish() {
  parking = make("park");
  if (parksSums)
    parking(inTile) = product(inTile);
  if (s.ofBytes() && !device)
    pickOutlierWeights();
  if (inTiles && s.ofBytes() && s.epilogue.expensive()) {
    values = make("values");
    values(inTile) = valueOf({inTile.begin(), inTile.end()}, 0, rowRead());
  }
  Expr row = device ? Expr(m) : rowAt(tileRows.x, tileRows.y);
  std::vector<Expr> arguments;
  for (int i = 0; i < accumulators; ++i)
    arguments.push_back(argument(i, row));
  for (size_t i = 0; i < s.extras.size(); ++i) {
    ImageParam extra = bufferOf(s.extras[i], extraName(i));
    arguments.push_back(readOf(s.extras[i], extra, n, row));
    pipe.arguments.push_back(extra);
  }
  Expr value = rounded(evaluate(s.epilogue, arguments, spec.out.element, picks),
                       spec.out.element);
  if (byExpert) // the rows after these belong to another expert
    value = select(m < expertRows(0), value, undef(value.type()));
  pipe.out(n, row) = value;
  if (byExpert)
    pipe.arguments.push_back(expertRows);
}

Pipe MatmulPipe::build() {
  declareOperands();
  placeRows();
  product = make("product");
  if (device)
    multiplyOnDevice();
  else if (s.ofBlocks())
    multiplyBlocks();
  else
    multiply();
  finish();
  pipe.out.output_buffer().dim(1).set_stride(int(spec.out.rowStride));
  if (byExpert)
    pipe.experts = {s.experts, deviceTile.rows * deviceTile.itemsDown,
                    deviceTile.steps ? 0 : deviceTile.rows};
  if (device)
    scheduleOnDevice({pipe.out, product, parksSums ? parking : Func(), rows,
                      panelsOf, n, m, ni, a, no, k.x, int(s.columns),
                      accumulators, group, inRows},
                     deviceTile, pipe);
  else
    schedule();
  return pipe;
}

Pipe buildMatmul(const KernelSpec &spec, const Machine &machine,
                 const Names &names, bool few, unsigned rank) {
  const KernelSpec inPanels = withPanels(spec);
  return MatmulPipe(inPanels, machine, names, few, rank, spec.matmul.inRows())
      .build();
}

} // namespace mille

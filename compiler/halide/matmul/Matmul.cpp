// out = epilogue(input * weight^T, extras...) on packed weights: a register
// tile over the whole of K, then the epilogue. Must add in the order of K.
#include "compiler/halide/matmul/MatmulPipe.h"

#include "compiler/halide/Elements.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/Scalars.h"
#include "compiler/halide/device/Device.h"
#include "compiler/halide/device/DeviceSource.h"

using namespace Halide;

namespace mille {

namespace {

Core coreFor(const Machine &machine, const MatmulSpec &m) {
  return coreOf(machine.wide, machine.tileRegisters, m.isNarrow());
}

MatmulTile tileOf(const KernelSpec &spec, const Core &core, unsigned rank) {
  std::vector<MatmulTile> tiles = tilesOf(spec, core);
  return tiles[rank < tiles.size() ? rank : 0];
}

} // namespace

MatmulPipe::MatmulPipe(const KernelSpec &spec, const Machine &machine,
                       const Names &names, bool few, unsigned rank)
    : spec(spec), s(spec.matmul), names(names), device(machine.device),
      few(few), oneInstruction(s.ofBytes() ? machine.bytes
                                           : s.input.element == Element::f32 ||
                                                 machine.pairs),
      inTiles(machine.tileRegisters && s.isNarrow()),
      intoL2(machine.prefetchesIntoL2), picks(machine.picks),
      byExpert(device && s.experts),
      deviceTile(
          device ? deviceTileOf(s, few ? coreDescription() : gpuDescription())
                 : DeviceTile{}),
      tile(device ? MatmulTile{deviceTile.rows, deviceTile.columns, 0, 0}
                  : tileOf(spec, coreFor(machine, s), rank)),
      chunk(few ? tile.chunkOfFew : tile.chunk), V(machine.lanes),
      K(int(s.inner)), panel(int(s.panel)), panels(int(s.panels)),
      count(s.accumulators), group(int(s.group())), steps(int(s.steps())),
      width(panel / count), slices(width / tile.columns),
      // Neighbouring items of a device read neighbouring words.
      words(device && group > 1),
      pipelined(coreFor(machine, s).pipelines && oneInstruction &&
                chunk == steps && slices == 1 && K % group == 0),
      apart(pipelined && s.epilogue.expensive()),
      parked(pipelined || (s.parks() && !inTiles)), // those are in L1 already
      leastRows(few && tile.rows > 2 ? tile.rows - 2 : tile.rows - 1),
      // Machines without classes of rows have one kernel for all.
      anyRows(inTiles || few || !machine.wide ||
              tile.unshared() > fewRowsOf(spec)) {
  if (device)
    i = m; // an item's rows are the out's
  inTile = device ? std::vector<Var>{ni, a, i, no}
                  : std::vector<Var>{ni, a, i, t, no};
}

void MatmulPipe::declareOperands() {
  input = bufferOf(s.input, names("input"));
  const int across = words ? panel : panel * group;
  const Type weightType = words         ? UInt(32)
                          : s.ofBytes() ? Int(8)
                                        : typeOf(s.input.element);
  weight = ImageParam(weightType, 3, names("weight"));
  weight.dim(0).set_bounds(0, across);
  weight.dim(1).set_bounds(0, steps).set_stride(across);
  weight.dim(2).set_bounds(0, panels).set_stride(across * steps);
  pipe.arguments = {input, weight};
  if (byExpert)
    own = ImageParam(Int(32), 1, names(expertRowsName));
  if (!s.ofBytes())
    return;
  parameters = bufferOf(s.parameters, names("parameters"));
  sums = ImageParam(Int(32), 3, names("sums"));
  sums.dim(2).set_bounds(0, panels).set_stride(panel);
  pipe.arguments.insert(pipe.arguments.end(), {parameters, sums});
}

// Tiles of tile.rows rows and tiles of one row less share the rows, so that no
// row is left over: a tile of 2 takes as long as one of 4. With 8, that is 14
// to 16, 21 to 24, 28 to 32 and so on, and all from 42; of others the last tile
// has fewer. The kernel of few rows has tiles of two rows less too, which leave
// none over of 12 to 16 and from 18 on: on Zen 4 12 and 18 rows take 8 to 17 %
// less time. A tile of tile registers takes as long as it has rows.
void MatmulPipe::placeRows() {
  pipe.out = make("out");
  if (device)
    return;
  pipe.out(n, m) = undef(typeOf(spec.out.element));
  auto rows = pipe.out.output_buffer().dim(1);
  Expr tiles = (rows.extent() + tile.rows - 1) / tile.rows;
  high = leastRows == tile.rows - 1 || tiles * (tile.rows - 1) <= rows.extent();
  fewer = select(high, tile.rows - 1, leastRows);
  taller = max(rows.extent() - tiles * fewer, 0);
  whole = tiles * fewer <= rows.extent();
  tileRows = RDom(0, tile.rows, 0, tiles, names("rows"));
  tileRows.where(isRow(tileRows.x, tileRows.y));
}

Expr MatmulPipe::isRow(const Expr &i, const Expr &t) const {
  if (inTiles)
    return t * tile.rows + i < Func(pipe.out).output_buffer().dim(1).extent();
  if (!anyRows) // the tiles with all their rows have a loop of their own
    return i < leastRows || likely(t < taller);
  Expr shared = i < leastRows || isShared(i, t);
  Expr inside = t * fewer + i < Func(pipe.out).output_buffer().dim(1).extent();
  return shared && (whole || inside);
}

// Of those after the least. Each is compared to numbers, so that a loop's end
// is one.
Expr MatmulPipe::isShared(const Expr &i, const Expr &t) const {
  return (high && (i < tile.rows - 1 || t < taller)) ||
         (i < leastRows + 1 && t < taller);
}

// The same but for rows past the last: a tile's sums are of the last row there,
// but of a single row, which waits for memory. With a condition for each row in
// each step of K, LLVM keeps sums in memory. A row's condition implies those of
// the rows above it.
Expr MatmulPipe::inTileOfAll(const Expr &i, const Expr &t) const {
  if (!anyRows)
    return isRow(i, t);
  Expr several = whole || Func(pipe.out).output_buffer().dim(1).extent() > 1;
  return i < 1 || (i < leastRows && several) || (whole && isShared(i, t));
}

Expr MatmulPipe::rowAt(const Expr &i, const Expr &t) const {
  Expr first = inTiles ? t * tile.rows : t * fewer + min(t, taller);
  return Func(pipe.out).output_buffer().dim(1).min() + first + i;
}

// Also for a row that is not there.
Expr MatmulPipe::rowRead() const {
  return min(rowAt(i, t), input.dim(1).max());
}

Expr MatmulPipe::columnInPanel() const {
  return a * width + (no % slices) * tile.columns + ni;
}
Expr MatmulPipe::panelNumber() const { return no / slices; }

// The sums have the tile's own dimensions; with (n, m) alone Halide cannot see
// that they fit in registers.
void MatmulPipe::multiply() {
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
  Expr there = inTiles ? start : anyRows ? select(whole, row, start) : row;
  auto times = [&](const Expr &part, const Expr &step) {
    return cast(sumType, widened(input(step * group + part, there))) *
           cast(sumType, widened(weight(column * group + part, step, at)));
  };
  product(inTile) += times(group > 1 ? Expr(k.y) : Expr(0), k.x);
  if (K % group)
    product(inTile) += times(rest, K / group);
}

// What the rows' zeros add to a sum, taken off. The zero's sign is turned as a
// number: LLVM would turn each product's instead.
Expr MatmulPipe::startOf(const Expr &row, const Expr &column,
                         const Expr &at) const {
  Expr zero = oneRounding(Internal::Call::strict_sub, 0.0f, parameters(1, row));
  return cast<int32_t>(zero) * sums(column, 0, at);
}

// It is one of the row's columns; Halide wants to see that the weight is not
// left.
Expr MatmulPipe::outlierColumn(const Expr &row) const {
  return clamp(cast<int32_t>(parameters(3, row)), 0, K - 1);
}

// What a row's outlier, which is not among its bytes, adds to a sum. Rounded by
// itself: which product a multiply-add takes in must not depend on the kernel.
Expr MatmulPipe::outlierOf(const Expr &row, const Expr &outlierWeight) const {
  return multiplied(parameters(2, row), cast<float>(outlierWeight));
}

// The weights at the rows' outliers, each a part of a word of the panel. Words
// are shifted by a vector's lanes: beside products on Zen 4 that costs nothing,
// where an instruction that shifts all by one number does, and one that
// multiplies a word by zeros and a one.
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

// The same on a device.
Expr MatmulPipe::outlierWeightAt(const Expr &row, int accumulator) const {
  Expr column = outlierColumn(row);
  Expr word =
      weight(accumulator * width + n % width, column / group, n / width);
  return partOf(word, column % group, s.input.element);
}

// What a sum stands for.
Expr MatmulPipe::valueOf(const std::vector<Expr> &place, int accumulator,
                         const Expr &row) const {
  const Func &from = parked ? parking : product;
  Expr sum = from(place);
  if (starts.defined())
    sum += starts(place);
  sum = cast<float>(sum);
  if (!s.ofBytes())
    return sum;
  Expr weightThere =
      device ? outlierWeightAt(row, accumulator) : outlierWeights(place);
  return sum * parameters(0, row) + outlierOf(row, weightThere);
}

// The region's argument of an accumulator.
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
  if (parked)
    parking(inTile) = product(inTile);
  if (s.ofBytes() && !device)
    pickOutlierWeights();
  if (inTiles && s.ofBytes() && s.epilogue.expensive()) {
    values = make("values");
    values(inTile) = valueOf({inTile.begin(), inTile.end()}, 0, rowRead());
  }
  Expr row = device ? Expr(m) : rowAt(tileRows.x, tileRows.y);
  std::vector<Expr> arguments;
  for (int i = 0; i < count; ++i)
    arguments.push_back(argument(i, row));
  for (size_t i = 0; i < s.extras.size(); ++i) {
    ImageParam extra =
        bufferOf(s.extras[i], names(("extra" + std::to_string(i)).c_str()));
    arguments.push_back(readOf(s.extras[i], extra, n, row));
    pipe.arguments.push_back(extra);
  }
  Expr value = rounded(evaluate(s.epilogue, arguments, spec.out.element, picks),
                       spec.out.element);
  if (byExpert) // what follows is another expert's
    value = select(m < own(0), value, undef(value.type()));
  pipe.out(n, row) = value;
  if (byExpert)
    pipe.arguments.push_back(own);
}

Pipe MatmulPipe::build() {
  declareOperands();
  placeRows();
  product = make("product");
  if (device)
    multiplyOnDevice();
  else
    multiply();
  finish();
  pipe.out.output_buffer().dim(1).set_stride(int(spec.out.rowStride));
  if (byExpert)
    pipe.experts = {s.experts, deviceTile.rows * deviceTile.itemsDown,
                    deviceTile.steps ? 0 : deviceTile.rows};
  if (device)
    scheduleOnDevice({pipe.out, product, parked ? parking : Func(), rows,
                      panelsOf, n, m, ni, a, no, k.x, int(s.columns), count,
                      group},
                     deviceTile, pipe);
  else
    schedule();
  return pipe;
}

Pipe buildMatmul(const KernelSpec &spec, const Machine &machine,
                 const Names &names, bool few, unsigned rank) {
  return MatmulPipe(spec, machine, names, few, rank).build();
}

} // namespace mille

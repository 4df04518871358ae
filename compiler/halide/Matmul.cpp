// out = epilogue(input * weight^T, extras...) on packed weights: a register tile
// over the whole of K, then the epilogue. Must add in the order of K.
#include "compiler/halide/Build.h"
#include "compiler/halide/Chunks.h"
#include "compiler/halide/Device.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/Prefetch.h"

using namespace Halide;

namespace mille {
namespace {

// A register tile: rows x columns of the out, in every accumulator.
struct Tile {
  int rows, columns;
};

// 24 accumulators of 32 vector registers, 12 of 16. Panels are 64 wide; where a
// tile is narrower it walks them in slices, so one packing serves all. (12 x 2 for
// few rows: slices of half a panel come from memory at half the rate, 641 in place
// of 300 us for 7 rows of 768 x 3072; from the cache 133 in place of 155.)
Tile tileOf(const MatmulSpec &m, const Machine &machine) {
  int vectors = machine.wide ? 4 : 2;
  return {6, vectors * machine.lanes / m.accumulators};
}

// Steps of K, of `group` values each, that all tiles do before any does the next:
// 768 of a panel are 192 KB of L2, those of 128 rows 384 KB. Shorter sums stay whole:
// parking costs 1 %, and QKV of BERT-base (K 768) in chunks of 384 was 5 % slower.
int chunkOf(int steps) {
  constexpr int most = 768, least = 384;
  if (steps <= 1024)
    return steps;
  for (int chunk = most; chunk >= least; --chunk)
    if (steps % chunk == 0)
      return chunk;
  return steps;
}

} // namespace

Pipe buildMatmul(const KernelSpec &spec, const Machine &machine,
                 const Names &names, bool few) {
  const MatmulSpec &s = spec.matmul;
  const int K = int(s.inner), panel = int(s.panel), panels = int(s.panels);
  const int group = int(s.group()), steps = (K + group - 1) / group;
  const int V = machine.lanes, count = s.accumulators;
  const DeviceTile deviceTile = deviceTileOf(s, few ? coreDescription() : gpuDescription());
  const Tile tile = machine.device ? Tile{deviceTile.rows, deviceTile.columns}
                                   : tileOf(s, machine);
  const int width = panel / count;         // out columns of a panel
  const int slices = width / tile.columns; // tiles across a panel

  ImageParam input = bufferOf(s.input, names("input"));
  // A device reads a group as a word: neighbouring items read neighbouring words.
  const bool words = machine.device && group > 1;
  const int across = words ? panel : panel * group;
  const Type weightType = words         ? UInt(32)
                          : s.ofBytes() ? Int(8)
                                        : typeOf(s.input.element);
  ImageParam weight(weightType, 3, names("weight"));
  ImageParam zeros(Int(32), 1, names("zeros")), sums(Int(32), 3, names("sums"));
  weight.dim(0).set_bounds(0, across);
  weight.dim(1).set_bounds(0, steps).set_stride(across);
  weight.dim(2).set_bounds(0, panels).set_stride(across * steps);
  sums.dim(2).set_bounds(0, panels).set_stride(panel);
  Pipe pipe;
  pipe.arguments = {input, weight};
  if (s.ofBytes())
    pipe.arguments.insert(pipe.arguments.end(), {zeros, sums});

  Var n(names("n")), m(names("m")), ni(names("ni")), a(names("a"));
  Var no(names("no")), mo(names("mo")), mi(names("mi"));
  Var nv(names("nv"));

  // The accumulators have the tile's own dimensions; with (n, m) alone Halide
  // cannot see that they fit in registers.
  Func product(names("product"));
  const Type sumType = s.ofBytes() ? Int(32) : Float(32);
  Expr column = a * width + (no % slices) * tile.columns + ni, at = no / slices;
  // A device's tile is always whole: rows past the last repeat it.
  Expr row = machine.device ? min(m, input.dim(1).max()) : Expr(m);
  product(ni, a, m, no) = s.ofBytes() ? -zeros(row) * sums(column, 0, at) : Expr(0.0f);
  RDom k = group > 1 && !words ? RDom(0, K / group, 0, group, names("k"))
                               : RDom(0, K / group, names("k"));
  auto times = [&](const Expr &part, const Expr &step) {
    return cast(sumType, input(step * group + part, row)) *
           cast(sumType, weight(column * group + part, step, at));
  };
  // What a device's groups may bring closer: values of rows, words of panels. Never
  // outside, whatever is brought.
  Var x(names("x")), y(names("y")), z(names("z"));
  auto rowAt = [&](const Expr &x, const Expr &y) {
    return cast(sumType, widened(input(min(x, K - 1), min(y, input.dim(1).max()))));
  };
  auto panelAt = [&](const Expr &x, const Expr &y, const Expr &z) {
    return weight(x, min(y, steps - 1), min(z, panels - 1));
  };
  Func rows(names("rows")), panelsOf(names("panels"));
  rows(x, y) = rowAt(x, y);
  panelsOf(x, y, z) = panelAt(x, y, z);
  auto plusStep = [&](int parts, const Expr &step, bool whole) {
    Expr sum = product(ni, a, m, no);
    Expr word = whole ? panelsOf(column, step, at) : panelAt(column, step, at);
    for (int part = 0; part < parts; ++part) {
      Expr k = step * group + part;
      sum = sum + (whole ? rows(k, m) : rowAt(k, m)) *
                      (words ? partOf(word, part, s.input.element) : word);
    }
    return sum;
  };
  if (machine.device)
    product(ni, a, m, no) = plusStep(group, k.x, true);
  else
    product(ni, a, m, no) += times(group > 1 ? Expr(k.y) : Expr(0), k.x);
  RDom rest(0, std::max(K % group, 1), names("rest"));
  if (K % group && machine.device)
    product(ni, a, m, no) = plusStep(K % group, K / group, false);
  else if (K % group)
    product(ni, a, m, no) += times(rest, K / group);

  // An epilogue with a polynomial, or one that converts, is a loop over the tile
  // parked in L1; unrolled in place it would spill accumulators.
  const bool parked = s.epilogue.expensive() || s.ofBytes();
  Func park(names("park"));
  if (parked)
    park(ni, a, m, no) = product(ni, a, m, no);
  Func &from = parked ? park : product;
  std::vector<Expr> arguments;
  for (int i = 0; i < count; ++i)
    arguments.push_back(cast<float>(from(n % tile.columns, i, m, n / tile.columns)));
  for (size_t i = 0; i < s.extras.size(); ++i) {
    ImageParam extra = bufferOf(s.extras[i], names(("extra" + std::to_string(i)).c_str()));
    arguments.push_back(readOf(s.extras[i], extra, n, m));
    pipe.arguments.push_back(extra);
  }
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(n, m) = rounded(evaluate(s.epilogue, arguments, spec.out.element),
                      spec.out.element);

  if (machine.device) {
    out.output_buffer().dim(1).set_stride(int(spec.out.rowStride));
    scheduleOnDevice({out, product, park, rows, panelsOf, n, m, ni, a, no, k,
                      int(s.columns), count, group},
                     deviceTile, pipe);
    return pipe;
  }

  // Schedule: panel -> tile -> K. A panel stays in L2 over all rows: it comes from
  // far memory once, and the input, read again for each panel, is the smaller.
  auto buffer = out.output_buffer();
  buffer.dim(0).set_min((buffer.dim(0).min() / width) * width);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  out.split(n, no, ni, tile.columns, TailStrategy::GuardWithIf)
      .split(m, mo, mi, tile.rows, TailStrategy::GuardWithIf)
      .split(ni, ni, nv, V)
      .reorder(nv, ni, mi, mo, no)
      .vectorize(nv)
      .unroll(ni);
  if (parked)
    park.compute_at(out, mo).store_in(MemoryType::Stack)
        .bound_extent(ni, tile.columns).bound_extent(a, count)
        .bound_extent(no, 1)
        .vectorize(ni, V).unroll(ni).unroll(a).unroll(m);
  else
    out.unroll(mi);
  product.compute_at(out, mo).store_in(MemoryType::Register)
      .bound_extent(ni, tile.columns).bound_extent(a, count)
        .bound_extent(no, 1)
      .vectorize(ni, V).unroll(ni).unroll(a).unroll(m);
  Var nl(names("nl"));
  if (group > 1) // values of a group side by side: one instruction adds them
    product.update(0).split(ni, ni, nl, V).reorder(k.y, nl, ni, a, m, no, k.x)
        .atomic().vectorize(k.y).vectorize(nl).unroll(ni).unroll(a).unroll(m);
  else
    product.update(0).reorder(ni, a, m, no, k).vectorize(ni, V).unroll(ni)
        .unroll(a).unroll(m);
  if (K % group)
    product.update(1).reorder(ni, a, m, no, rest).vectorize(ni, V).unroll(ni)
        .unroll(a).unroll(m);
  if (slices != 1 || K % group)
    return pipe;
  // A tile reads all of a panel. Sums that the out has room for may wait there, and
  // then a chunk of K is outside of all.
  const bool room = count == 1 && !parked && spec.out.element == Element::f32;
  const int chunk = room ? chunkOf(steps) : steps;
  if (chunk < steps)
    pipe.passes.push_back(chunkSums({out.name(), product.name(), no.name(), chunk}));
  pipe.passes.push_back(prefetchPanels({weight.name(), product.name(), no.name(), mo.name(),
                                        int(bytesOf(s.input.element)),
                                        panel * group * steps, panel * group * chunk,
                                        chunk, few ? 2 : 1, few ? 4 : 1}));
  return pipe;
}

} // namespace mille

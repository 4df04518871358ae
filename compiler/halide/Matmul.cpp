// out = epilogue(input * weight^T, extras...) on packed weights: a register tile
// over the whole of K, then the epilogue. Must add in the order of K.
#include "compiler/halide/Build.h"
#include "compiler/halide/Chunks.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/Prefetch.h"

using namespace Halide;

namespace mille {
namespace {

// A register tile: rows x columns of the out, in every accumulator.
struct Tile {
  int rows, columns;
};

// 24 accumulators of 32 vector registers, 12 of 16. Panels are 64 wide; the
// narrower tiles walk them in slices, so one packing serves all.
Tile tileOf(const MatmulSpec &m, const Machine &machine, bool few) {
  int vectors = machine.wide ? (few ? 2 : 4) : 2;
  int rows = machine.wide && few ? 12 : 6;
  return {rows, vectors * machine.lanes / m.accumulators};
}

// Steps of K that all tiles do before any does the next: 768 of a panel are 192 KB
// of L2, those of 128 rows 384 KB. Shorter sums stay whole: parking costs 1 %, and
// QKV of BERT-base (K 768) in chunks of 384 was 5 % slower.
int chunkOf(int inner) {
  constexpr int most = 768, least = 384;
  if (inner <= 1024)
    return inner;
  for (int steps = most; steps >= least; --steps)
    if (inner % steps == 0)
      return steps;
  return inner;
}

} // namespace

Pipe buildMatmul(const KernelSpec &spec, const Machine &machine,
                 const Names &names, bool few) {
  const MatmulSpec &s = spec.matmul;
  const int K = int(s.inner), panel = int(s.panel), panels = int(s.panels);
  const int V = machine.lanes, count = s.accumulators;
  const Tile tile = tileOf(s, machine, few);
  const int width = panel / count;         // out columns of a panel
  const int slices = width / tile.columns; // tiles across a panel

  ImageParam input = bufferOf(s.input, names("input"));
  ImageParam weight(Float(32), 3, names("weight"));
  weight.dim(0).set_bounds(0, panel);
  weight.dim(1).set_bounds(0, K).set_stride(panel);
  weight.dim(2).set_bounds(0, panels).set_stride(panel * K);
  Pipe pipe;
  pipe.arguments = {input, weight};

  Var n(names("n")), m(names("m")), ni(names("ni")), a(names("a"));
  Var no(names("no")), mo(names("mo")), mi(names("mi"));
  Var nv(names("nv"));

  // The accumulators have the tile's own dimensions; with (n, m) alone Halide
  // cannot see that they fit in registers.
  Func product(names("product"));
  RDom k(0, K, names("k"));
  product(ni, a, m, no) = 0.0f;
  product(ni, a, m, no) +=
      input(k, m) *
      weight(a * width + (no % slices) * tile.columns + ni, k, no / slices);

  // An epilogue with a polynomial is a loop over the tile parked in L1; unrolled
  // in place it would spill accumulators.
  const bool parked = s.epilogue.expensive();
  Func park(names("park"));
  if (parked)
    park(ni, a, m, no) = product(ni, a, m, no);
  Func &from = parked ? park : product;
  std::vector<Expr> arguments;
  for (int i = 0; i < count; ++i)
    arguments.push_back(from(n % tile.columns, i, m, n / tile.columns));
  for (size_t i = 0; i < s.extras.size(); ++i) {
    ImageParam extra = bufferOf(s.extras[i], names(("extra" + std::to_string(i)).c_str()));
    arguments.push_back(readOf(s.extras[i], extra, n, m));
    pipe.arguments.push_back(extra);
  }
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(n, m) = evaluate(s.epilogue, arguments);

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
  product.update().reorder(ni, a, m, no, k)
      .vectorize(ni, V).unroll(ni).unroll(a).unroll(m);
  if (slices != 1)
    return pipe;
  // A tile reads all of a panel. Sums that the out has room for may wait there, and
  // then a chunk of K is outside of all.
  const int steps = count == 1 && !parked ? chunkOf(K) : K;
  if (steps < K)
    pipe.passes.push_back(chunkSums({out.name(), product.name(), no.name(), steps}));
  pipe.passes.push_back(prefetchPanels({weight.name(), product.name(), no.name(),
                                        mo.name(), panel * K, panel * steps, steps}));
  return pipe;
}

} // namespace mille

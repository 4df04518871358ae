// Rows as bytes around 128, and the step of each row.
// Must round in the same way on every instruction set.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {

Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns), V = machine.lanes;
  const int L = N >= 4 * V ? 4 * V : V, whole = N / L, rest = N % L;
  constexpr float least = 0x1p-100f; // so that its inverse is a number
  Var n(names("n")), m(names("m")), l(names("l")), one(names("one"));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {input};
  auto size = [&](const Expr &column) { return abs(widened(input(column, m))); };

  // The largest of each of L columns side by side, then of these. A NaN is kept:
  // as an integer it is above every number.
  auto bits = [](const Expr &x) { return reinterpret<int32_t>(x); };
  Func partial(names("partial")), largest(names("largest"));
  partial(l, m) = 0;
  if (whole) {
    RDom r(0, whole, names("r"));
    partial(l, m) = max(partial(l, m), bits(size(r * L + l)));
    partial.update(0).reorder(l, r).vectorize(l, V).unroll(l);
  }
  if (rest) {
    RDom r(0, rest, names("rest"));
    partial(r, m) = max(partial(r, m), bits(size(whole * L + r)));
  }
  std::vector<Expr> lane;
  for (int i = 0; i < L; ++i)
    lane.push_back(partial(i, m));
  for (; lane.size() > 1; lane.resize(lane.size() / 2))
    for (size_t i = 0; i < lane.size() / 2; ++i)
      lane[i] = max(lane[i], lane[i + lane.size() / 2]);
  largest(m) = reinterpret<float>(max(lane[0], bits(Expr(127 * least))));

  pipe.out = Func(names("out"));
  pipe.out(one, m) = largest(m) * (1.0f / 127);
  Func values(names("values")), inverse(names("inverse"));
  inverse(m) = 1.0f / pipe.out(0, m);
  // Above 0, so that a cast that truncates rounds to nearest.
  Expr shifted = oneRounding(Internal::Call::strict_add,
                             widened(input(n, m)) * inverse(m), Expr(128.5f));
  values(n, m) = cast<uint8_t>(clamp(cast<int32_t>(shifted), 0, 255));
  pipe.before = {values};

  pipe.out.output_buffer().dim(0).set_bounds(0, 1);
  pipe.out.output_buffer().dim(1).set_stride(1);
  auto buffer = values.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(s.values.rowStride));
  values.vectorize(n, V, TailStrategy::GuardWithIf);
  partial.bound_extent(l, L).vectorize(l, V).unroll(l);
  for (Func f : {partial, largest})
    f.compute_at(pipe.out, m).store_in(MemoryType::Stack);
  inverse.compute_at(values, m).store_in(MemoryType::Stack);
  return pipe;
}

} // namespace mille

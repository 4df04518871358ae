// Rows as bytes, with a step and a zero for each.
// Must round in the same way on every instruction set.
#include "compiler/halide/Build.h"
#include "compiler/halide/Device.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {
namespace {

Expr bitsOf(const Expr &x) { return reinterpret<int32_t>(x); }
Expr plus(const Expr &a, const Expr &b) {
  return oneRounding(Internal::Call::strict_add, a, b);
}

// The largest of a row of N numbers and 0, from that of L columns side by side. As
// integers, numbers that are not negative keep their order and a NaN is above all.
struct RowMost {
  Func partial, most;
  bool device; // a work-item has a column of those side by side

  RowMost(const char *name, const Names &names, const Var &m, int N,
          const Machine &machine, const std::function<Expr(Expr)> &term)
      : partial(names((std::string(name) + "_partial").c_str())), most(names(name)),
        device(machine.device) {
    const int V = machine.lanes, L = lanesOf(N, machine), whole = N / L, rest = N % L;
    Var l(names("l"));
    partial(l, m) = 0;
    if (whole) {
      RDom r(0, whole, names("r"));
      partial(l, m) = max(partial(l, m), bitsOf(term(r * L + l)));
      if (device)
        partial.update(0).reorder(r, l).gpu_threads(l);
      else
        partial.update(0).reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, names("rest"));
      partial(r, m) = max(partial(r, m), bitsOf(term(whole * L + r)));
      if (device)
        partial.update(whole ? 1 : 0).gpu_threads(r);
    }
    std::vector<Expr> lane;
    for (int i = 0; i < L; ++i)
      lane.push_back(partial(i, m));
    for (; lane.size() > 1; lane.resize(lane.size() / 2))
      for (size_t i = 0; i < lane.size() / 2; ++i)
        lane[i] = max(lane[i], lane[i + lane.size() / 2]);
    most(m) = reinterpret<float>(lane[0]);
    partial.bound_extent(l, L);
    if (device)
      partial.gpu_threads(l);
    else
      partial.vectorize(l, V).unroll(l);
  }

  static int lanesOf(int N, const Machine &machine) {
    if (machine.device)
      return N >= 256 ? 64 : 16;
    return N >= 4 * machine.lanes ? 4 * machine.lanes : machine.lanes;
  }

  void computeAt(const Func &f, const Var &m) {
    for (Func part : {partial, most}) {
      part.compute_at(f, m);
      if (!device)
        part.store_in(MemoryType::Stack);
    }
  }
};

} // namespace

Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns);
  Var n(names("n")), m(names("m")), one(names("one"));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {input};
  auto at = [&](const Expr &column) { return widened(input(column, m)); };
  auto negated = [&](const Expr &column) { return -at(column); };
  RowMost high("high", names, m, N, machine, at);
  RowMost low("low", names, m, N, machine, negated);
  RowMost lowAgain("low_again", names, m, N, machine, negated); // its row is in cache

  pipe.out = Func(names("out"));
  Func &scales = pipe.out;
  Expr step = plus(high.most(m), low.most(m)) * (1.0f / 255);
  scales(one, m) = reinterpret<float>(max(bitsOf(step), bitsOf(Expr(0x1p-100f))));
  Func zeros(names("zeros")), values(names("values")), inverse(names("inverse"));
  // Nothing is negative: a cast that truncates rounds what is 0.5 more to nearest.
  Expr zero = lowAgain.most(m) / scales(0, m);
  zeros(m) = clamp(cast<int32_t>(plus(zero, Expr(0.5f))), 0, 255);
  inverse(m) = 1.0f / scales(0, m);
  Expr shifted = plus(at(n) * inverse(m), cast<float>(zeros(m)) + 0.5f);
  values(n, m) = cast<uint8_t>(clamp(cast<int32_t>(shifted), 0, 255));
  pipe.before = {values, zeros};

  scales.output_buffer().dim(0).set_bounds(0, 1);
  scales.output_buffer().dim(1).set_stride(1);
  auto buffer = values.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(s.values.rowStride));
  if (machine.device) {
    scheduleElements(values, n, m);
    zeros.output_buffer().dim(0).set_min(0);
    scales.output_buffer().dim(1).set_min(0);
    zeros.gpu_blocks(m);
    scales.gpu_blocks(m).gpu_threads(one);
    high.computeAt(scales, m);
    low.computeAt(scales, m);
    lowAgain.computeAt(zeros, m);
    return pipe;
  }
  values.vectorize(n, machine.lanes, TailStrategy::GuardWithIf);
  high.computeAt(scales, m);
  low.computeAt(scales, m);
  lowAgain.computeAt(zeros, m);
  inverse.compute_at(values, m).store_in(MemoryType::Stack);
  return pipe;
}

} // namespace mille

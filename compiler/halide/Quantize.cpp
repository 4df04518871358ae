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

// The largest integers of a row of N, and 0: of each term, from those of L columns side
// by side. One pass over the row finds them all.
struct RowMost {
  using Term = std::function<Expr(Expr)>;
  Func partial;
  std::vector<Func> most;
  size_t count; // of terms
  bool device;  // a work-item has a column of those side by side

  RowMost(const char *name, const Names &names, const Var &m, int N,
          const Machine &machine, const std::vector<Term> &terms)
      : partial(names((std::string(name) + "_partial").c_str())),
        count(terms.size()), device(machine.device) {
    const int V = machine.lanes, L = lanesOf(N, machine), whole = N / L, rest = N % L;
    Var l(names("l"));
    auto larger = [&](const Expr &lane, const Expr &column) {
      std::vector<Expr> all;
      for (size_t i = 0; i < count; ++i)
        all.push_back(max(at(i, lane, m), terms[i](column)));
      return Tuple(all);
    };
    partial(l, m) = Tuple(std::vector<Expr>(count, Expr(0)));
    if (whole) {
      RDom r(0, whole, names("r"));
      partial(l, m) = larger(l, r * L + l);
      if (device)
        partial.update(0).reorder(r, l).gpu_threads(l);
      else
        partial.update(0).reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, names("rest"));
      partial(r, m) = larger(r, whole * L + r);
      if (device)
        partial.update(whole ? 1 : 0).gpu_threads(r);
    }
    for (size_t i = 0; i < count; ++i) {
      std::vector<Expr> lane;
      for (int l = 0; l < L; ++l)
        lane.push_back(at(i, l, m));
      for (; lane.size() > 1; lane.resize(lane.size() / 2))
        for (size_t l = 0; l < lane.size() / 2; ++l)
          lane[l] = max(lane[l], lane[l + lane.size() / 2]);
      most.emplace_back(names(name));
      most.back()(m) = lane[0];
    }
    partial.bound_extent(l, L);
    if (device)
      partial.gpu_threads(l);
    else
      partial.vectorize(l, V).unroll(l);
  }

  Expr at(size_t term, const Expr &lane, const Expr &m) const {
    return count == 1 ? Expr(partial(lane, m)) : Expr(partial(lane, m)[int(term)]);
  }

  static int lanesOf(int N, const Machine &machine) {
    if (machine.device)
      return N >= 256 ? 64 : 16;
    return N >= 4 * machine.lanes ? 4 * machine.lanes : machine.lanes;
  }

  void computeAt(const Func &f, const Var &m) {
    std::vector<Func> parts = most;
    parts.push_back(partial);
    for (Func part : parts) {
      part.compute_at(f, m);
      if (!device)
        part.store_in(MemoryType::Stack);
    }
  }
};

} // namespace

// As integers, numbers that are not negative keep their order and a NaN is above all.
Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns);
  Var n(names("n")), m(names("m")), c(names("c"));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {input};
  auto at = [&](const Expr &column) { return widened(input(column, m)); };
  auto magnitude = [&](const Expr &column) { return bitsOf(at(column)) & 0x7fffffff; };
  RowMost top("top", names, m, N, machine, {magnitude});
  RowMost back("back", names, m, N, machine, {[&](const Expr &column) {
    return select(magnitude(column) == top.most[0](m), N - column, 0);
  }});
  Expr outlierColumn = clamp(N - back.most[0](m), 0, N - 1);
  // With the sign's bit the other way round, what is below 0 counts.
  auto others = [&](const Expr &column, uint32_t sign) {
    return bitsOf(select(column == outlierColumn, 0.0f, at(column))) ^ Expr(int32_t(sign));
  };
  RowMost ends("ends", names, m, N, machine,
               {[&](const Expr &column) { return others(column, 0); },
                [&](const Expr &column) { return others(column, 0x80000000); }});
  Expr high = reinterpret<float>(ends.most[0](m)), low = reinterpret<float>(ends.most[1](m));
  Expr exact = plus(high, low) * (1.0f / 255);
  Func step(names("step")), values(names("values"));
  step(m) = reinterpret<float>(max(bitsOf(exact), bitsOf(Expr(0x1p-100f))));
  // Nothing is negative: a cast that truncates rounds what is 0.5 more to nearest.
  Expr zero = clamp(cast<int32_t>(plus(low / step(m), Expr(0.5f))), 0, 255);
  pipe.out = Func(names("out"));
  Func &parameters = pipe.out;
  parameters(c, m) = mux(c, {step(m), cast<float>(zero), at(outlierColumn),
                             cast<float>(outlierColumn)});
  Func inverse(names("inverse"));
  inverse(m) = 1.0f / parameters(0, m);
  Expr shifted = plus(at(n) * inverse(m), parameters(1, m) + 0.5f);
  Expr nearest = clamp(cast<int32_t>(shifted), 0, 255);
  values(n, m) = cast<uint8_t>(
      select(n == cast<int32_t>(parameters(3, m)), cast<int32_t>(parameters(1, m)), nearest));
  pipe.before = {values};

  auto last = parameters.output_buffer();
  last.dim(0).set_bounds(0, 4);
  last.dim(1).set_stride(int(spec.out.rowStride));
  auto buffer = values.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(s.values.rowStride));
  parameters.bound(c, 0, 4);
  for (RowMost *part : {&top, &back, &ends})
    part->computeAt(parameters, m);
  if (machine.device) {
    scheduleElements(values, n, m);
    last.dim(1).set_min(0);
    parameters.gpu_blocks(m).gpu_threads(c);
    return pipe;
  }
  values.vectorize(n, machine.lanes, TailStrategy::GuardWithIf);
  parameters.unroll(c);
  step.compute_at(parameters, m).store_in(MemoryType::Stack);
  inverse.compute_at(values, m).store_in(MemoryType::Stack);
  return pipe;
}

} // namespace mille

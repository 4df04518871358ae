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

using Values = std::vector<Expr>;

// What all numbers of a row of N combine to: those of L columns side by side first, by
// `take`, then these, by `combine`. One pass over the row.
class AcrossRow {
public:
  using Take = std::function<Values(const Values &, Expr column)>;
  using Combine = std::function<Values(const Values &, const Values &)>;

  AcrossRow(const std::string &name, const Names &names, const Var &m, int N,
            const Machine &machine, const Values &start, const Take &take,
            const Combine &combine)
      : lanes(names((name + "_lanes").c_str())), folded(names((name + "_folded").c_str())),
        all(names(name.c_str())), m(m), count(start.size()), device(machine.device) {
    const int V = machine.lanes, L = lanesOf(N, machine), whole = N / L, rest = N % L;
    Var l(names("l"));
    lanes(l, m) = tupleOf(start);
    if (whole) {
      RDom r(0, whole, names("r"));
      lanes(l, m) = tupleOf(take(valuesOf(lanes, l), r * L + l));
      if (device)
        lanes.update(0).reorder(r, l).gpu_threads(l);
      else
        lanes.update(0).reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, names("rest"));
      lanes(r, m) = tupleOf(take(valuesOf(lanes, r), whole * L + r));
      if (device)
        lanes.update(whole ? 1 : 0).gpu_threads(r);
    }
    const int last = device ? L : V;
    folded(l, m) = tupleOf(tree(L / last, combine, [&](int i) {
      return valuesOf(lanes, i * last + l);
    }));
    all(m) = tupleOf(tree(last, combine, [&](int i) { return valuesOf(folded, i); }));
    lanes.bound_extent(l, L);
    folded.bound_extent(l, last);
    if (device) {
      lanes.gpu_threads(l);
    } else {
      lanes.vectorize(l, V).unroll(l);
      folded.vectorize(l, V);
    }
  }

  Expr operator[](size_t i) const { return count == 1 ? Expr(all(m)) : Expr(all(m)[int(i)]); }

  void computeAt(const Func &f) {
    std::vector<Func> parts{lanes, all};
    if (!device) // one that is inlined is not scheduled
      parts.push_back(folded);
    for (Func part : parts) {
      part.compute_at(f, m);
      if (!device)
        part.store_in(MemoryType::Stack);
    }
  }

private:
  static Tuple tupleOf(const Values &values) { return Tuple(values); }
  Values valuesOf(const Func &f, const Expr &lane) const {
    Values values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(count == 1 ? Expr(f(lane, m)) : Expr(f(lane, m)[int(i)]));
    return values;
  }
  static Values tree(int size, const Combine &combine, const std::function<Values(int)> &at) {
    std::vector<Values> left;
    for (int i = 0; i < size; ++i)
      left.push_back(at(i));
    for (; left.size() > 1; left.resize(left.size() / 2))
      for (size_t i = 0; i < left.size() / 2; ++i)
        left[i] = combine(left[i], left[i + left.size() / 2]);
    return left[0];
  }
  static int lanesOf(int N, const Machine &machine) {
    if (machine.device)
      return N >= 256 ? 64 : 16;
    return N >= 4 * machine.lanes ? 4 * machine.lanes : machine.lanes;
  }

  Func lanes, folded, all;
  Var m;
  size_t count; // of values
  bool device;  // a work-item has a column of those side by side
};

// The two largest of one and another two.
Values twoLargest(const Expr &a, const Expr &second, const Expr &b, const Expr &other) {
  return {max(a, b), max(min(a, b), max(second, other))};
}
Values joined(Values a, const Values &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

} // namespace

// As integers, numbers that are not negative keep their order, a NaN is above all, and
// those with the sign's bit are below 0.
Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns);
  const Expr sign = Expr(INT32_MIN);
  Var n(names("n")), m(names("m")), c(names("c"));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {input};
  auto at = [&](const Expr &column) { return widened(input(column, m)); };

  // The two largest, and of the negated.
  AcrossRow ends("ends", names, m, N, machine, Values(4, Expr(0)),
                 [&](const Values &so, const Expr &column) {
                   Expr x = bitsOf(at(column)), y = x ^ sign;
                   return joined({max(so[0], x), max(so[1], min(so[0], x))},
                                 {max(so[2], y), max(so[3], min(so[2], y))});
                 },
                 [](const Values &a, const Values &b) {
                   return joined(twoLargest(a[0], a[1], b[0], b[1]),
                                 twoLargest(a[2], a[3], b[2], b[3]));
                 });
  Expr isHigh = ends[0] >= ends[2], outlier = select(isHigh, ends[0], ends[2] ^ sign);
  Expr high = reinterpret<float>(select(isHigh, ends[1], ends[0]));
  Expr low = reinterpret<float>(select(isHigh, ends[2], ends[3]));
  auto larger = [](const Values &a, const Values &b) { return Values{max(a[0], b[0])}; };
  AcrossRow back("back", names, m, N, machine, {Expr(0)},
                 [&](const Values &so, const Expr &column) {
                   return larger(so, {select(bitsOf(at(column)) == outlier, N - column, 0)});
                 },
                 larger);
  Expr outlierColumn = clamp(N - back[0], 0, N - 1);

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
  ends.computeAt(parameters);
  back.computeAt(parameters);
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

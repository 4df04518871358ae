// The gradient of a norm's input, row by row.
// Must add a row in one order, whatever rows a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/RowSum.h"

using namespace Halide;

namespace mille {
namespace {

class NormBackward {
public:
  NormBackward(const KernelSpec &spec, const Machine &machine,
               const Names &names)
      : spec(spec), s(spec.normBackward), machine(machine), names(names),
        group(int(s.group)), rowSum{names, group, machine.lanes, false, {}} {}

  Pipe build() {
    gradient = bufferOf(s.gradient, names("gradient"));
    input = bufferOf(s.input, names("input"));
    pipe.arguments = {gradient, input};
    if (s.weight) {
      weight = bufferOf(*s.weight, names("weight"));
      pipe.arguments.push_back(weight);
    }
    findScale();
    const Expr own = group == columns() ? Expr(0) : n / group;
    Expr normed = shifted(n, own) * scale(own, m);
    Expr result =
        scale(own, m) * (arriving(n) - meanOf(own) - normed * productOf(own));
    pipe.out = Func(names("out"));
    if (s.inputGradient)
      pipe.out(n, m) = Tuple(result, normed);
    else
      pipe.out(n, m) = result;
    schedule();
    return pipe;
  }

private:
  int columns() const { return int(spec.out.columns); }
  Expr arriving(const Expr &column) const {
    Expr of = gradient(column, m);
    return s.weight ? of * readOf(*s.weight, weight, column, m) : of;
  }
  Expr shifted(const Expr &column, const Expr &of) const {
    Expr x = input(column, m);
    return mean.defined() ? x - mean(of, m) * float(1.0 / group) : x;
  }
  Expr meanOf(const Expr &of) const {
    return mean.defined() ? total(of, m) * float(1.0 / group) : Expr(0.0f);
  }
  // What the normed row is multiplied by. An l2 norm of a row that is as short
  // as eps divides by a constant; one with a NaN is not short.
  Expr productOf(const Expr &of) const {
    Expr product = dot(of, m) * scale(of, m);
    if (s.norm != RowStatistic::l2)
      return product * float(1.0 / group);
    return select(sqrt(squares(of, m)) <= float(s.eps), 0.0f, product);
  }

  void findScale() {
    auto column = [&](const Expr &c) { return g * group + c; };
    auto sum = [&](const char *name, std::function<Expr(Expr)> term) {
      return rowSum.sum(name, g, m, [&](Expr c) { return term(column(c)); });
    };
    if (s.norm == RowStatistic::layer) {
      mean = sum("mean", [&](Expr c) { return Expr(input(c, m)); });
      total = sum("total", [&](Expr c) { return arriving(c); });
    }
    squares = sum("squares", [&](Expr c) {
      Expr x = shifted(c, g);
      return x * x;
    });
    scale = Func(names("scale"));
    if (s.norm == RowStatistic::l2)
      scale(g, m) = scaleOfL2(squares(g, m), s.eps);
    else
      scale(g, m) =
          1.0f / sqrt(squares(g, m) * float(1.0 / group) + float(s.eps));
    rowSum.made.push_back(scale);
    dot = sum("dot", [&](Expr c) { return arriving(c) * shifted(c, g); });
  }

  void schedule() {
    Func &out = pipe.out;
    std::vector<OutputImageParam> buffers = out.output_buffers();
    buffers.back().dim(1).set_stride(int(spec.out.rowStride));
    if (s.inputGradient)
      buffers.front().dim(1).set_stride(int(s.inputGradient->rowStride));
    buffers.front().dim(0).set_bounds(0, columns()); // and so the other's
    out.bound(n, 0, columns());
    if (group != columns())
      out.split(n, g, n, group);
    Var no(names("no")), nv(names("nv"));
    out.split(n, no, nv, machine.lanes, TailStrategy::GuardWithIf)
        .vectorize(nv);
    for (Func &f : rowSum.made)
      f.compute_at(out, group == columns() ? m : g).store_in(MemoryType::Stack);
  }

  const KernelSpec &spec;
  const NormBackwardSpec &s;
  const Machine &machine;
  const Names &names;
  const int group;
  RowSum rowSum;
  Pipe pipe;
  ImageParam gradient, input, weight;
  Func mean, total, squares, scale, dot;
  Var n{names("n")}, m{names("m")}, g{names("g")};
};

} // namespace

Pipe buildNormBackward(const KernelSpec &spec, const Machine &machine,
                       const Names &names) {
  return NormBackward(spec, machine, names).build();
}

} // namespace mille

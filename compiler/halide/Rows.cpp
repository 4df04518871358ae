// Row-wise kernels: gathers, a norm of the whole row, a scalar region.
// Must add a row in one order, whatever rows a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/RowSum.h"
#include "compiler/halide/Scalars.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {
namespace {

struct Axes {
  Var n, m, g, no, nv; // column, row, group of columns, vector, lane
};

// The sums stay beside the rows or groups that they are of.
void schedule(const Axes &axes, const RowsSpec &s, int64_t rowStride,
              const Machine &machine, int group, RowSum &rowSum, Func &out) {
  const auto &[n, m, g, no, nv] = axes;
  const int N = s.columns;
  const bool normed = s.norm != RowStatistic::none;
  auto buffer = out.output_buffer();
  buffer.dim(1).set_stride(int(rowStride));
  if (normed)
    buffer.dim(0).set_bounds(0, N);
  if (machine.device) {
    if (normed)
      scheduleRowGroups({out, n, m, g, N, group, rowSum.lanes()}, rowSum.made);
    else
      scheduleElements(out, n, m);
    return;
  }
  if (group != N)
    out.bound(n, 0, N).split(n, g, n, group);
  out.split(n, no, nv, machine.lanes, TailStrategy::GuardWithIf).vectorize(nv);
  for (Func &f : rowSum.made)
    f.compute_at(out, group == N ? m : g).store_in(MemoryType::Stack);
}

} // namespace

Pipe buildRows(const KernelSpec &spec, const Machine &machine,
               const Names &names) {
  const RowsSpec &s = spec.rows;
  const int N = s.columns, V = machine.lanes;
  Var n(names("n")), m(names("m")), no(names("no")), ni(names("ni")),
      nv(names("nv"));
  Pipe pipe;
  std::vector<ImageParam> inputs, indices;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    inputs.push_back(
        bufferOf(s.inputs[i], names(("input" + std::to_string(i)).c_str())));
  for (int i = 0; i < s.indices; ++i)
    indices.emplace_back(Int(32), 1,
                         names(("index" + std::to_string(i)).c_str()));
  for (ImageParam &p : inputs)
    pipe.arguments.push_back(p);
  for (ImageParam &p : indices)
    pipe.arguments.push_back(p);

  auto read = [&](size_t i, const Expr &column) {
    if (s.gather[i] < 0)
      return readOf(s.inputs[i], inputs[i], column, m);
    // The host checks indices; the clamp keeps a wrong one inside the table.
    Expr entry = indices[s.gather[i]](m);
    // Pooling gathers from rows of the run, as many as the buffer has.
    int64_t rows = s.inputs[i].rows;
    Expr last = rows > 0 ? Expr(int(rows - 1)) : inputs[i].dim(1).max();
    return widened(inputs[i](column, clamp(entry, 0, last)));
  };

  const int group = s.norm == RowStatistic::none ? N : int(s.group);
  RowSum rowSum{names, group, V, machine.device, {}};
  std::vector<Expr> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(read(i, n));
  Var g(names("g"));
  Func mean, scale(names("scale"));
  if (s.norm != RowStatistic::none) {
    auto term = [&](const Expr &c) { return read(0, g * group + c); };
    const Expr own = group == N ? Expr(0) : n / group;
    if (s.norm == RowStatistic::layer)
      mean = rowSum.sum("mean", g, m, term);
    auto shift = [&](const Expr &of) {
      return mean.defined() ? mean(of, m) * float(1.0 / group) : Expr(0.0f);
    };
    Func squares = rowSum.sum("squares", g, m, [&](Expr c) {
      Expr x = term(c) - shift(g);
      return x * x;
    });
    Expr sum = squares(g, m);
    if (s.norm == RowStatistic::l2) {
      scale(g, m) = scaleOfL2(sum, s.eps);
    } else {
      scale(g, m) = 1.0f / sqrt(sum * float(1.0 / group) + float(s.eps));
    }
    arguments[0] = (arguments[0] - shift(own)) * scale(own, m);
  }
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(n, m) =
      rounded(evaluate(s.body, arguments, spec.out.element, machine.picks),
              spec.out.element);

  if (s.norm != RowStatistic::none)
    rowSum.made.push_back(scale);
  schedule({n, m, g, no, nv}, s, spec.out.rowStride, machine, group, rowSum,
           out);
  return pipe;
}

} // namespace mille

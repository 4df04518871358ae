// Sums over the rows of a run into what outlives it: column sums, and the rows
// of a table.
// Must add rows in their order, whatever columns a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/RowSum.h"
#include "compiler/halide/Scalars.h"
#include "compiler/halide/passes/KeepSums.h"

using namespace Halide;

namespace mille {

namespace {

class ColumnSums {
public:
  ColumnSums(const KernelSpec &spec, const Machine &machine, const Names &names)
      : spec(spec), s(spec.columnSums), machine(machine), names(names),
        columns(int(s.inputs[0].columns)), numbers(int(spec.out.columns)),
        V(machine.lanes) {}

  Pipe build() {
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      const std::string name = "input" + std::to_string(i);
      inputs.emplace_back(typeOf(s.inputs[i].element), s.inputs[i].rank,
                          names(name.c_str()));
      if (s.inputs[i].rank == 2)
        inputs[i].dim(1).set_stride(int(s.inputs[i].rowStride));
      pipe.arguments.push_back(inputs[i]);
    }
    pipe.out = Func(names("out"));
    if (!spec.to.empty())
      addTo();
    else if (numbers == columns)
      addColumns();
    else
      addInTurn();
    return pipe;
  }

private:
  RDom allRows() const {
    return RDom(0, inputs[0].dim(1).extent(), names("m"));
  }
  Expr term(const Expr &column, const Expr &row) const {
    std::vector<Expr> arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(
          readOf(s.inputs[i], inputs[i], column, inputs[0].dim(1).min() + row));
    return evaluate(s.body, arguments, Element::f32, machine.picks);
  }

  // A task has some columns of all rows: rows of its buffers begin at the
  // task's first column.
  void addColumns() {
    Func &out = pipe.out;
    Var no(names("no")), ni(names("ni")), nv(names("nv"));
    RDom m = allRows();
    out(n) = undef<float>();
    out(n) += term(n, m);
    out.update()
        .split(n, no, ni, 4 * V, TailStrategy::GuardWithIf)
        .split(ni, ni, nv, V)
        .reorder(nv, ni, m, no)
        .vectorize(nv)
        .unroll(ni);
    pipe.passes.push_back(keepSums({out.name(), m.x.name()}));
  }

  // A row's columns that share a number are added first.
  void addInTurn() {
    Func &out = pipe.out;
    Var g(names("g")), row(names("row")), no(names("no")), nv(names("nv"));
    RDom m = allRows();
    out(n) = undef<float>();
    if (numbers == 1) {
      RowSum rowSum{names, columns, V, false, {}};
      Func sum =
          rowSum.sum("row_sum", g, row, [&](Expr c) { return term(c, row); });
      out(n) += sum(0, m);
      for (Func &f : rowSum.made)
        f.compute_at(out, m.x).store_in(MemoryType::Stack);
      return;
    }
    RDom j(0, columns / numbers, names("j"));
    Func sum(names("row_sum"));
    sum(n, row) = 0.0f;
    sum(n, row) += term(j * numbers + n, row);
    out(n) += sum(n, m);
    out.bound(n, 0, numbers);
    sum.compute_at(out, m.x)
        .store_in(MemoryType::Stack)
        .bound_extent(n, numbers);
    if (numbers % V) { // few columns, or an odd number
      out.update().reorder(n, m);
      sum.update().reorder(n, j);
      return;
    }
    out.update().split(n, no, nv, V).reorder(nv, no, m).vectorize(nv);
    sum.update().split(n, no, nv, V).reorder(nv, no, j).vectorize(nv);
  }

  void addTo() {
    Func &out = pipe.out;
    Var r(names("r"));
    Buffer<int32_t> to(columns, names("to"));
    for (int i = 0; i < columns; ++i)
      to(i) = int32_t(spec.to[i]);
    RDom all(0, columns, 0, inputs[0].dim(1).extent(), names("all"));
    if (spec.out.rank == 1) {
      out(n) = undef<float>();
      Expr at = unsafe_promise_clamped(to(all.x), 0, numbers - 1);
      out(at) += term(all.x, all.y);
      return;
    }
    const int rows = int(spec.out.rows);
    Expr at = to(all.x),
         row = unsafe_promise_clamped(at / numbers, 0, rows - 1);
    out(n, r) = undef<float>();
    out(at % numbers, row) += term(all.x, all.y);
    out.output_buffer().dim(0).set_bounds(0, numbers);
    out.output_buffer().dim(1).set_bounds(0, rows).set_stride(
        int(spec.out.rowStride));
  }

  const KernelSpec &spec;
  const ColumnSumsSpec &s;
  const Machine &machine;
  const Names &names;
  const int columns, numbers, V;
  Pipe pipe;
  std::vector<ImageParam> inputs;
  Var n{names("n")};
};

} // namespace

Pipe buildColumnSums(const KernelSpec &spec, const Machine &machine,
                     const Names &names) {
  return ColumnSums(spec, machine, names).build();
}

Pipe buildEmbedGradient(const KernelSpec &spec, const Machine &machine,
                        const Names &names) {
  Var n(names("n")), e(names("e")), no(names("no")), nv(names("nv"));
  ImageParam gradient =
      bufferOf(spec.embedGradient.gradient, names("gradient"));
  ImageParam ids(Int(32), 1, names("ids"));
  Pipe pipe;
  pipe.arguments = {gradient, ids};
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  RDom m(0, ids.dim(0).extent(), names("m"));
  Expr row = clamp(ids(m), 0, int(spec.out.rows - 1));
  out(n, e) = undef<float>();
  out(n, row) += gradient(n, gradient.dim(1).min() + m);
  out.output_buffer().dim(1).set_min(0).set_stride(int(spec.out.rowStride));
  out.update()
      .split(n, no, nv, machine.lanes, TailStrategy::GuardWithIf)
      .reorder(nv, no, m)
      .vectorize(nv);
  return pipe;
}

} // namespace mille

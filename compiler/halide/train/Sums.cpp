// Sums over the rows of a run into what outlives it: column sums, and the rows
// of a table.
// Must add rows in their order, whatever columns a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/Scalars.h"
#include "compiler/halide/passes/KeepSums.h"

using namespace Halide;

namespace mille {

// A task has some columns of all rows: rows of its buffers begin at the task's
// first column.
Pipe buildColumnSums(const KernelSpec &spec, const Machine &machine,
                     const Names &names) {
  const ColumnSumsSpec &s = spec.columnSums;
  Var n(names("n")), no(names("no")), ni(names("ni")), nv(names("nv"));
  Pipe pipe;
  std::vector<ImageParam> inputs;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    inputs.emplace_back(typeOf(s.inputs[i].element), s.inputs[i].rank,
                        names(name.c_str()));
    if (s.inputs[i].rank == 2)
      inputs[i].dim(1).set_stride(int(s.inputs[i].rowStride));
    pipe.arguments.push_back(inputs[i]);
  }
  RDom m(0, inputs[0].dim(1).extent(), names("m"));
  std::vector<Expr> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(
        readOf(s.inputs[i], inputs[i], n, inputs[0].dim(1).min() + m));
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(n) = undef<float>();
  out(n) += evaluate(s.body, arguments, Element::f32, machine.picks);
  out.update()
      .split(n, no, ni, 4 * machine.lanes, TailStrategy::GuardWithIf)
      .split(ni, ni, nv, machine.lanes)
      .reorder(nv, ni, m, no)
      .vectorize(nv)
      .unroll(ni);
  pipe.passes.push_back(keepSums({out.name(), m.x.name()}));
  return pipe;
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

// A weight in panels of bf16, of which two values of K share 32 bits, rounded
// while the program runs: what a matmul of bf16 reads just after.
// Must fill up the last panel, and an odd last value of K, with zeros.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TurnSquares.h"

using namespace Halide;

namespace mille {

// The out is written as words of 32 bits. A task has some steps of all panels,
// or, where the last step has one value of K, some columns of each panel. Of
// the transpose the two values come from two rows of the weight, at
// the same places, and the rows are read to their ends. Else they are
// neighbours in a row: squares of words are turned, which lie in L1 meanwhile.
// Memory is what packing waits for.
Pipe buildPackOfPairs(const KernelSpec &spec, const Machine &machine,
                      const Names &names) {
  const PackSpec &s = spec.pack;
  const int V = machine.lanes, panel = int(s.panel), group = int(s.group);
  const int rows = int(s.transposed ? s.weight.columns : s.weight.rows),
            inner = int(s.inner());
  // Whether no step reads past a row, or past the last one.
  const bool wholeRows = rows % panel == 0,
             wholeSteps = inner % (s.transposed ? group : group * V) == 0;
  Var j(names("j")), step(names("step")), p(names("p"));
  ImageParam weight(Float(32), 2, names("weight"));
  weight.dim(1).set_stride(int(s.weight.rowStride));
  const Expr last = weight.dim(s.transposed ? 1 : 0).max(); // the task's
  auto half = [&](int part) {
    Expr row = p * panel + j, k = step * group + part;
    Expr inRows = wholeRows ? row : min(row, rows - 1),
         inK = wholeSteps ? k : min(k, last);
    Expr value = s.transposed ? weight(inRows, inK) : weight(inK, inRows);
    if (!wholeRows)
      value = select(likely(row < rows), value, 0.0f);
    if (!s.bySteps())
      value = select(likely(k < inner), value, 0.0f);
    return cast<uint32_t>(rounded(value, Element::bf16Bits));
  };
  const Expr word = half(0) | (half(1) << 16);
  Pipe pipe;
  pipe.arguments = {weight};
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(j, step, p) = undef<uint32_t>();
  // The buffer counts columns in halves of words.
  auto buffer = out.output_buffer();
  auto columns = buffer.dim(0);
  if (s.bySteps())
    columns.set_bounds(0, group * panel);
  else
    buffer.dim(1).set_bounds(0, int(s.steps));
  RDom r(0, V, 0, columns.extent() / (group * V), names("r"));
  Expr place = r.y * V + r.x, column = columns.min() / group + place;
  Func words(names("words"));
  words(step, j, p) = word;
  out(columns.min() + place, step, p) = words(step, column, p);
  buffer.dim(1).set_stride(panel);
  buffer.dim(2).set_bounds(0, int(s.panels)).set_stride(panel * int(s.steps));
  if (s.transposed) {
    out.update()
        .allow_race_conditions()
        .reorder(r.x, r.y, p, step)
        .vectorize(r.x);
    return pipe;
  }
  Var so(names("so")), si(names("si"));
  out.update()
      .allow_race_conditions() // each word is written once
      .split(step, so, si, V, TailStrategy::GuardWithIf)
      .reorder(r.x, si, so, r.y, p)
      .vectorize(r.x);
  placeSquares(words, {out, so}, step, j, V);
  pipe.passes.push_back(turnSquares({words.name(), out.name(), si.name(), V}));
  const SquaresPrefetch rowsAhead{
      weight.name(), so.name(), 4, V, V * group, int(s.weight.rowStride)};
  if (rowsAhead.isNear())
    pipe.passes.push_back(prefetchSquares(rowsAhead));
  return pipe;
}

} // namespace mille

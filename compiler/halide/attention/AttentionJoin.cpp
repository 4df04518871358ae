// Puts the parts of stretches of keys together, in the order of the stretches.
// Must round as stretches that follow each other in one task do.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"

using namespace Halide;

namespace mille {

Pipe AttentionPipe::buildJoin() {
  declareOperands();
  ImageParam values(Float(32), 4, names("values")),
      marks(Float(32), 4, names("marks"));
  pipe.arguments.insert(pipe.arguments.end() - 3, {values, marks});
  Expr count = marks.dim(3).extent();
  Var i(names("i"));
  Func tops = make("tops"), before = make("before"), factors = make("factors"),
       own = make("own");
  tops(i, m, h) = marks(0, m, h, min(i, count - 1));
  before(i, m, h) = sinkScore(h); // the largest of all stretches before i
  RDom r(0, count, names("stretch"));
  before(r + 1, m, h) = max(before(r, m, h), tops(r, m, h));
  factors(i, m, h) = exp2Weight(before(i, m, h) - before(i + 1, m, h));
  own(i, m, h) = exp2Weight(tops(i, m, h) - before(i + 1, m, h));
  total = make("total");
  total(m, h) = s.has(Operand::sink) ? 1.0f : 0.0f;
  total(m, h) =
      joined(total(m, h), factors(r, m, h), marks(1, m, h, r), own(r, m, h));
  kept = make("kept");
  kept(d, m, h) = 0.0f;
  kept(d, m, h) =
      joined(kept(d, m, h), factors(r, m, h), values(d, m, h, r), own(r, m, h));
  inverse = make("inverse");
  inverse(m, h) = inverseOf(total(m, h));
  pipe.out = make("out");
  pipe.out(d, m, h) =
      rounded(multiplied(kept(d, m, h), inverse(m, h)), spec.out.element);
  boundOut();
  pipe.out.vectorize(d, lanesFor(s.valueDim, V));
  for (Func f : {tops, before, factors, own, total, inverse, kept})
    f.compute_at(pipe.out, m);
  for (Func f : {factors, own})
    f.vectorize(i, V, TailStrategy::RoundUp);
  kept.bound_extent(d, int(s.valueDim))
      .vectorize(d, lanesFor(s.valueDim, V))
      .store_in(MemoryType::Stack);
  kept.update().reorder(d, r).vectorize(d, lanesFor(s.valueDim, V)).unroll(d);
  return std::move(pipe);
}

} // namespace mille

// Each row's loss, and the gradient of its logits. The losses are the first
// out, and each out's loop makes the softmax's sums for itself.
// Must add a row in one order, whatever rows a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/RowSum.h"

using namespace Halide;

namespace mille {
namespace {

constexpr double log2e = 1.4426950408889634;

} // namespace

Pipe buildCrossEntropy(const KernelSpec &spec, const Machine &machine,
                       const Names &names) {
  const CrossEntropySpec &s = spec.crossEntropy;
  const int N = int(s.logits.columns), V = machine.lanes;
  const float even = float(s.smoothing / double(N)),
              own = float(1 - s.smoothing);
  Var n(names("n")), m(names("m")), g(names("g")), c(names("c"));
  ImageParam logits = bufferOf(s.logits, names("logits"));
  ImageParam labels(Int(32), 1, names("labels"));
  ImageParam times(Float(32), 1, names("times"));
  Pipe pipe;
  pipe.arguments = {logits, labels, times};

  // The sums of a row, and what the row is shifted by.
  struct Row {
    Func top, lanes, total, plain;
    std::vector<Func> made;
  };
  // A NaN must reach the loss: expOf keeps it.
  auto rowOf = [&](const char *suffix, bool ofLoss) {
    Row row;
    auto named = [&](const char *name) {
      return names((std::string(name) + suffix).c_str());
    };
    const int L = 4 * V, whole = N / L, rest = N % L;
    Var l(named("l"));
    RDom rl(0, L, named("rl"));
    row.lanes = Func(named("lanes"));
    row.lanes(l, m) = logits(0, m);
    if (whole) {
      RDom r(0, whole, named("r"));
      row.lanes(l, m) = max(row.lanes(l, m), logits(r * L + l, m));
      row.lanes.update().reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, named("rest"));
      row.lanes(r, m) = max(row.lanes(r, m), logits(whole * L + r, m));
    }
    row.top = Func(named("top"));
    row.top(m) = row.lanes(0, m);
    row.top(m) = max(row.top(m), row.lanes(rl, m));
    row.lanes.bound_extent(l, L).store_in(MemoryType::Stack).vectorize(l, V);
    row.top.store_in(MemoryType::Stack);
    RowSum sums{names, N, V, false, {}};
    row.total =
        sums.sum((std::string("total") + suffix).c_str(), g, m, [&](Expr at) {
          Expr x = logits(at, m) - row.top(m);
          return ofLoss ? expOf(x) : exp2Weight(x * float(log2e));
        });
    if (ofLoss && s.smoothing > 0)
      row.plain = sums.sum((std::string("plain") + suffix).c_str(), g, m,
                           [&](Expr at) { return logits(at, m) - row.top(m); });
    row.made = {row.lanes, row.top};
    row.made.insert(row.made.end(), sums.made.begin(), sums.made.end());
    return row;
  };
  Expr label = clamp(labels(m), 0, N - 1), counted = labels(m) >= 0;

  Row loss = rowOf("_of_loss", true);
  Func losses(names("losses"));
  Expr logarithm = logOf(loss.total(0, m));
  Expr value = own * (logarithm - (logits(label, m) - loss.top(m)));
  if (s.smoothing > 0)
    value += float(s.smoothing) * logarithm - even * loss.plain(0, m);
  losses(c, m) = select(counted, value * times(0), 0.0f);
  losses.output_buffer().dim(0).set_bounds(0, 1);
  losses.output_buffer().dim(1).set_stride(int(s.losses.rowStride));
  losses.bound(c, 0, 1);
  pipe.before = {losses};

  Row row = rowOf("_of_gradient", false);
  pipe.out = Func(names("out"));
  Func factor(names("factor"));
  factor(m) = select(counted, times(0) / row.total(0, m), 0.0f);
  Expr weight = select(counted, times(0), 0.0f);
  Expr p = exp2Weight((logits(n, m) - row.top(m)) * float(log2e)) * factor(m);
  Expr target = select(n == label, own + even, even) * weight;
  pipe.out(n, m) = p - target;
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  Var no(names("no")), nv(names("nv"));
  pipe.out.split(n, no, nv, V, TailStrategy::GuardWithIf).vectorize(nv);
  for (Func &f : loss.made)
    f.compute_at(losses, m);
  row.made.push_back(factor.store_in(MemoryType::Stack));
  for (Func &f : row.made)
    f.compute_at(pipe.out, m);
  return pipe;
}

} // namespace mille

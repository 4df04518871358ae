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

class CrossEntropy {
public:
  CrossEntropy(const KernelSpec &spec, const Machine &machine,
               const Names &names)
      : spec(spec), s(spec.crossEntropy), names(names),
        N(int(s.logits.columns)), V(machine.lanes),
        even(float(s.smoothing / double(N))), own(float(1 - s.smoothing)) {}

  Pipe build() {
    logits = bufferOf(s.logits, names("logits"));
    labels = ImageParam(Int(32), 1, names("labels"));
    times = ImageParam(Float(32), 1, names("times"));
    pipe.arguments = {logits, labels, times};
    counted = labels(m) >= 0;
    addLosses();
    addGradient();
    return pipe;
  }

private:
  // What an out's loop makes of a row: its largest number, the sum of the
  // exponentials of the differences from that, the sum of these.
  struct Row {
    std::string suffix;
    Func top, total, plain;
    std::vector<Func> made;
  };

  std::string named(const char *name, const Row &row) const {
    return names((name + row.suffix).c_str());
  }

  void findTop(Row &row) {
    const int L = 4 * V, whole = N / L, rest = N % L;
    Var l(named("l", row));
    Func lanes(named("lanes", row));
    lanes(l, m) = logits(0, m);
    if (whole) {
      RDom r(0, whole, named("r", row));
      lanes(l, m) = max(lanes(l, m), logits(r * L + l, m));
      lanes.update().reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, named("rest", row));
      lanes(r, m) = max(lanes(r, m), logits(whole * L + r, m));
    }
    lanes.bound_extent(l, L).store_in(MemoryType::Stack).vectorize(l, V);
    RDom all(0, L, named("all", row));
    row.top = Func(named("top", row));
    row.top(m) = lanes(0, m);
    row.top(m) = max(row.top(m), lanes(all, m));
    row.top.store_in(MemoryType::Stack);
    row.made = {lanes, row.top};
  }

  // A NaN must reach the loss and the row's gradient: expOf keeps it, but
  // exp2Weight does not.
  void addRow(Row &row, bool ofLoss) {
    RowSum sums{names, N, V, false, {}};
    auto differ = [&](const Expr &at) { return logits(at, m) - row.top(m); };
    auto sum = [&](const char *name, std::function<Expr(Expr)> term) {
      return sums.sum((name + row.suffix).c_str(), g, m, std::move(term));
    };
    row.total = sum("total", [&](const Expr &at) {
      Expr x = differ(at);
      return ofLoss ? expOf(x) : keepNan(x, exp2Weight(x * float(log2e)));
    });
    if (ofLoss && s.smoothing > 0)
      row.plain = sum("plain", differ);
    row.made.insert(row.made.end(), sums.made.begin(), sums.made.end());
  }

  void addLosses() {
    Row row{"_of_loss", {}, {}, {}, {}};
    findTop(row);
    addRow(row, true);
    Expr label = clamp(labels(m), 0, N - 1);
    Expr logarithm = logOf(row.total(0, m));
    Expr loss = own * (logarithm - (logits(label, m) - row.top(m)));
    if (s.smoothing > 0)
      loss += float(s.smoothing) * logarithm - even * row.plain(0, m);
    Func losses(names("losses"));
    losses(c, m) = select(counted, loss * times(0), 0.0f);
    losses.output_buffer().dim(0).set_bounds(0, 1);
    losses.output_buffer().dim(1).set_stride(int(s.losses.rowStride));
    losses.bound(c, 0, 1);
    for (Func &f : row.made)
      f.compute_at(losses, m);
    pipe.before = {losses};
  }

  void addGradient() {
    Row row{"_of_gradient", {}, {}, {}, {}};
    findTop(row);
    addRow(row, false);
    Func factor(names("factor"));
    factor(m) = select(counted, times(0) / row.total(0, m), 0.0f);
    row.made.push_back(factor.store_in(MemoryType::Stack));
    Expr label = clamp(labels(m), 0, N - 1);
    Expr p = exp2Weight((logits(n, m) - row.top(m)) * float(log2e)) * factor(m);
    Expr weight = select(counted, times(0), 0.0f);
    pipe.out = Func(names("out"));
    pipe.out(n, m) = p - select(n == label, own + even, even) * weight;
    auto buffer = pipe.out.output_buffer();
    buffer.dim(0).set_bounds(0, N);
    buffer.dim(1).set_stride(int(spec.out.rowStride));
    Var no(names("no")), nv(names("nv"));
    pipe.out.split(n, no, nv, V, TailStrategy::GuardWithIf).vectorize(nv);
    for (Func &f : row.made)
      f.compute_at(pipe.out, m);
  }

  const KernelSpec &spec;
  const CrossEntropySpec &s;
  const Names &names;
  const int N, V;
  const float even, own; // the target of every column, and more of the label's
  Pipe pipe;
  ImageParam logits, labels, times;
  Expr counted;
  Var n{names("n")}, m{names("m")}, g{names("g")}, c{names("c")};
};

} // namespace

Pipe buildCrossEntropy(const KernelSpec &spec, const Machine &machine,
                       const Names &names) {
  return CrossEntropy(spec, machine, names).build();
}

} // namespace mille

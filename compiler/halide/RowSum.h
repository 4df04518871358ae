// Sums along rows, which several kernels make in one order.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/Polynomials.h"

#include <functional>

namespace mille {

// A sum over a group of columns: `lanes` partial sums run side by side, then
// they are added in pairs. 64 lanes hide the latency of additions.
struct RowSum {
  const Names &names;
  int columns, vector; // of a group
  bool device;         // each lane is a work-item
  int lanes() const { return columns >= 256 ? 64 : 16; }
  std::vector<Halide::Func> made; // to be scheduled: partial sums first

  // The sum over n of term(n), for group g of row m; n counts columns of the
  // group.
  Halide::Func sum(const char *name, const Halide::Var &g, const Halide::Var &m,
                   std::function<Halide::Expr(Halide::Expr)> term) {
    const int L = lanes(), whole = columns / L, rest = columns % L;
    Halide::Var l(names("l"));
    Halide::Func partial(names((std::string(name) + "_partial").c_str()));
    partial(l, g, m) = 0.0f;
    if (whole) {
      Halide::RDom r(0, whole, names("r"));
      partial(l, g, m) += term(r * L + l);
      if (device)
        partial.update(0).reorder(r, l).gpu_threads(l);
      else
        partial.update(0).reorder(l, r).vectorize(l, vector).unroll(l);
    }
    if (rest) {
      Halide::RDom r(0, rest, names("rest"));
      partial(r, g, m) += term(whole * L + r);
      if (device)
        partial.update(whole ? 1 : 0).gpu_threads(r);
    }
    std::vector<Halide::Expr> lane;
    for (int i = 0; i < L; ++i)
      lane.push_back(partial(i, g, m));
    for (; lane.size() > 1; lane.resize(lane.size() / 2))
      for (size_t i = 0; i < lane.size() / 2; ++i)
        lane[i] = Halide::strict_float(lane[i] + lane[i + lane.size() / 2]);
    Halide::Func total(names(name));
    total(g, m) = lane[0];
    if (device)
      partial.bound_extent(l, L).gpu_threads(l);
    else
      partial.bound_extent(l, L).vectorize(l, vector).unroll(l);
    made.push_back(partial);
    made.push_back(total);
    return total;
  }
};

// What an l2 norm multiplies a row by, 1 / max(length, eps). A NaN stays one,
// and a row of zeros is 0 without an eps, too.
inline Halide::Expr scaleOfL2(const Halide::Expr &squares, double eps) {
  const Halide::Expr length = sqrt(squares);
  if (float(eps) > 0)
    return 1.0f / keepNan(length, max(length, float(eps)));
  return keepNan(length, select(length == 0.0f, 0.0f, 1.0f / length));
}

} // namespace mille

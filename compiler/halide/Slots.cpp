// Copies rows by their numbers: to experts (dispatch) and back (combine).
// Numbers count the rows of the whole run, so a task has all rows and some
// columns.
// Must not read outside of a buffer, whatever the numbers are.
#include "compiler/halide/Build.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {
namespace {

Expr rowAt(const ImageParam &input, const Expr &n, const Expr &row) {
  return input(n, clamp(row, 0, input.dim(1).max())); // never outside
}

} // namespace

Pipe buildSlots(const KernelSpec &spec, const Machine &machine,
                const Names &names) {
  const SlotsSpec &s = spec.slots;
  const int k = int(s.k);
  ImageParam input = bufferOf(s.input, names("input")), weights;
  ImageParam order(Int(32), 1, names("order")),
      place(Int(32), 1, names("place"));
  Pipe pipe;
  pipe.arguments = {input};
  if (!s.combines)
    pipe.arguments.push_back(order);
  pipe.arguments.push_back(place);
  if (s.weights) {
    weights = bufferOf(*s.weights, names("weights"));
    pipe.arguments.push_back(weights);
  }
  Var n(names("n")), m(names("m")), no(names("no")), nv(names("nv"));
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  Func taken(names("taken"));
  RDom j(0, k, names("j"));
  if (s.combines) {
    taken(n, m) = 0.0f;
    Expr x = rowAt(input, n, place(m * k + j));
    taken(n, m) += s.weights ? weights(j, m) * x : x;
    out(n, m) = taken(n, m);
  } else if (s.weights) {
    // The slot of place m is one of the slots of its row.
    Expr row = clamp(order(m), 0, input.dim(1).max());
    taken(m) = 0.0f;
    taken(m) += select(place(row * k + j) == m, weights(j, row), 0.0f);
    out(n, m) = rowAt(input, n, order(m)) * taken(m);
  } else {
    out(n, m) = rowAt(input, n, order(m));
  }

  out.output_buffer().dim(1).set_min(0).set_stride(int(spec.out.rowStride));
  if (machine.device) {
    Var item = scheduleElements(out, n, m);
    if (s.combines || s.weights)
      taken.compute_at(out, item);
    return pipe;
  }
  out.split(n, no, nv, machine.lanes, TailStrategy::GuardWithIf).vectorize(nv);
  if (s.combines)
    taken.compute_at(out, no)
        .store_in(MemoryType::Register)
        .vectorize(n, machine.lanes, TailStrategy::GuardWithIf)
        .update()
        .reorder(n, j)
        .vectorize(n, machine.lanes, TailStrategy::GuardWithIf);
  else if (s.weights)
    taken.compute_at(out, m).store_in(MemoryType::Stack);
  return pipe;
}

} // namespace mille

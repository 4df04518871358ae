// Compares kernels that rotate, gather and normalise parts of rows with the
// interpreter: rotate, dispatch, combine, and rows normed in groups; odd sizes,
// every way to cut them.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-movement widest
#include "compiler/interpret/Judge.h"
#include "test/numerics/Inputs/JudgedKernel.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

using namespace mille;
using namespace mille::test;

namespace {

constexpr Guarded::Side sides[] = {Guarded::Side::end, Guarded::Side::start};
std::string number(int64_t value) { return std::to_string(value); }

struct Rotation {
  int64_t heads, headDim, angles, start;
  bool interleaved;
};

int rotate(const Rotation &r, const Target &isa, int64_t rows,
           Guarded::Side side) {
  JudgedKernel k("rotate " + number(r.headDim), side);
  k.rows("x", rows, r.heads * r.headDim);
  k.rows("r", rows, 2 * r.angles);
  k.out(rows, r.heads * r.headDim);
  k.op("kernel.rotate %x by %r outs(%out : {out}) heads " + number(r.heads) +
       " head_dim " + number(r.headDim) + " pairing " +
       (r.interleaved ? "interleaved" : "half") + " start " + number(r.start) +
       " : {x}, {r}");
  return k.check(isa, toleranceOf("kernel_moved").relative);
}

// Slot s of row m stands at place[s]; order[place[s]] is m.
void sortSlots(JudgedKernel &k, const Operand *order, const Operand &place,
               int64_t rows, int64_t slots) {
  std::vector<int32_t> places(rows * slots);
  std::iota(places.begin(), places.end(), 0);
  for (size_t i = places.size(); i-- > 1;)
    std::swap(places[i], places[k.pick(int64_t(i) + 1)]);
  for (int64_t s = 0; s < rows * slots; ++s) {
    place.number(s) = places[s];
    if (order)
      order->number(places[s]) = int32_t(s / slots);
  }
}

int dispatch(int64_t columns, int64_t slots, bool weighted, const Target &isa,
             int64_t rows, Guarded::Side side) {
  JudgedKernel k("dispatch " + number(columns), side);
  k.rows("x", rows, columns);
  Operand &order = k.integers("o", rows * slots),
          &place = k.integers("p", rows * slots);
  if (weighted)
    k.rows("w", rows, slots);
  sortSlots(k, &order, place, rows, slots);
  k.out(rows * slots, columns);
  k.op(std::string("kernel.dispatch %x order %o : {o} place %p : {p}") +
       (weighted ? " times %w : {w}" : "") + " outs(%out : {out}) k " +
       number(slots) + " : {x}");
  return k.check(isa, 1e-7);
}

int combine(int64_t columns, int64_t slots, bool weighted, const Target &isa,
            int64_t rows, Guarded::Side side) {
  JudgedKernel k("combine " + number(columns), side);
  k.rows("x", rows * slots, columns);
  Operand &place = k.integers("p", rows * slots);
  if (weighted)
    k.rows("w", rows, slots);
  sortSlots(k, nullptr, place, rows, slots);
  k.out(rows, columns);
  k.op(std::string("kernel.combine %x place %p : {p}") +
       (weighted ? " times %w : {w}" : "") + " outs(%out : {out}) k " +
       number(slots) + " : {x}");
  return k.check(isa, toleranceOf("kernel_moved").relative);
}

int norm(const std::string &kind, int64_t columns, int64_t group,
         const Target &isa, int64_t rows, Guarded::Side side) {
  JudgedKernel k(
      "norm " + kind + " " + number(columns) + " by " + number(group), side);
  k.rows("x", rows, columns);
  k.fixed("g", 0, columns);
  k.out(rows, columns);
  k.op("kernel.rows ins(%x, %g : {x}, {g}) outs(%out : {out}) gather [-1, -1] "
       "norm <" +
       kind + ", 1.000000e-05, group = " + number(group) +
       "> {\n^bb0(%a: f32, %b: f32):\n %y = arith.mulf %a, %b : f32\n"
       " kernel.yield %y : f32\n }");
  return k.check(isa, toleranceOf("kernel_normed").relative);
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  int failures = 0;
  for (int64_t rows : {1, 2, 19})
    for (auto side : sides) {
      for (const Rotation &r : {Rotation{3, 16, 8, 0, false},
                                {2, 64, 32, 0, false},
                                {2, 24, 6, 12, false},
                                {1, 7, 2, 3, false},
                                {3, 16, 8, 0, true},
                                {2, 20, 4, 5, true},
                                {1, 96, 48, 0, true}})
        failures += rotate(r, isa, rows, side);
      for (bool weighted : {false, true}) {
        failures += dispatch(100, 3, weighted, isa, rows, side);
        failures += dispatch(7, 1, weighted, isa, rows, side);
        failures += combine(100, 3, weighted, isa, rows, side);
        failures += combine(64, 2, weighted, isa, rows, side);
        failures += combine(7, 9, weighted, isa, rows, side);
      }
      for (const char *kind : {"layer", "rms", "l2"}) {
        failures += norm(kind, 96, 32, isa, rows, side);
        failures += norm(kind, 21, 7, isa, rows, side);
        failures += norm(kind, 640, 320, isa, rows, side);
      }
    }
  printf("%d failures\n", failures);
  return failures != 0;
}

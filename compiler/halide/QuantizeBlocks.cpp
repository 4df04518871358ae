// Quantises rows to bytes in blocks, each with a step, and sums the bytes of
// each block and of its first half.
// Must round in the same way on every instruction set.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/OneRounding.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int block = int(inputBlock), most = 127;

Expr bitsOf(const Expr &x) { return reinterpret<int32_t>(x); }

// A sum as the parameters have it.
Expr counted(const Expr &sum) {
  return reinterpret<float>(bitsOf(countsFrom) - sum * levelOffset);
}

// The byte that a number becomes.
Expr level(const Expr &x, const Expr &inverse) {
  Expr nearest = cast<int32_t>(round(multiplied(x, inverse)));
  return cast<int8_t>(clamp(nearest, -most, most));
}

} // namespace

// Steps are found with the parameters, and bytes follow from these: so the
// bytes are computed twice, for the sums and for themselves, which costs less
// than a third buffer.
Pipe buildQuantizeBlocks(const KernelSpec &spec, const Machine &machine,
                         const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns), B = N / block, V = machine.lanes;
  Var n(names("n")), m(names("m")), b(names("b")), nl(names("nl"));
  RDom r(0, block, names("r")), half(0, block / 2, names("half"));
  RDom each(0, int(inputParameters), 0, B, names("each"));
  ImageParam input = bufferOf(s.input, names("input"));
  auto at = [&](const Expr &column) { return widened(input(column, m)); };

  // As integers magnitudes keep their order, and NaN is the largest.
  Func largest(names("largest")), step(names("step"));
  largest(b, m) = 0;
  largest(b, m) =
      max(largest(b, m), bitsOf(at(b * block + r)) & Expr(0x7fffffff));
  Expr exact = multiplied(reinterpret<float>(largest(b, m)), 1.0f / most);
  step(b, m) = reinterpret<float>(max(bitsOf(exact), bitsOf(0x1p-100f)));
  Func inverse(names("inverse")), sums(names("sums"));
  inverse(b, m) = 1.0f / step(b, m);
  Var h(names("h")); // of a block's two halves
  sums(h, b, m) = 0;
  sums(h, b, m) += cast<int32_t>(
      level(at(b * block + h * (block / 2) + half), inverse(b, m)));

  Pipe pipe;
  pipe.arguments = {input};
  pipe.out = Func(names("out"));
  Func &parameters = pipe.out;
  parameters(n, m) = undef<float>();
  parameters(each.y + B * each.x, m) =
      select(each.x == 0, step(each.y, m), each.x == 1,
             counted(sums(0, each.y, m) + sums(1, each.y, m)),
             counted(sums(0, each.y, m)));
  Func again(names("again")), values(names("values"));
  again(b, m) = 1.0f / parameters(b, m);
  values(n, m) = level(at(n), again(n / block, m));
  pipe.before = {values};

  auto last = parameters.output_buffer();
  last.dim(0).set_bounds(0, int(inputParameters) * B);
  last.dim(1).set_stride(int(spec.out.rowStride));
  auto buffer = values.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(s.values.rowStride));
  parameters.update().reorder(each.x, each.y, m).unroll(each.x);
  for (auto [f, of] : {std::pair(largest, r), std::pair(sums, half)}) {
    f.compute_at(parameters, m).store_in(MemoryType::Stack);
    f.update().atomic().vectorize(of, std::min(V, int(block / 2)));
  }
  sums.bound(h, 0, 2).unroll(h).update().unroll(h);
  step.compute_at(parameters, m);
  inverse.compute_at(parameters, m);
  again.compute_at(values, m);
  for (Func f :
       {step, inverse, again}) // no more blocks are read than there are
    f.store_in(MemoryType::Stack).vectorize(b, V, TailStrategy::GuardWithIf);
  values.split(n, n, nl, block).vectorize(nl, V).unroll(nl);
  return pipe;
}

} // namespace mille

// RoPE of rows by itself, where attention cannot do it.
#include "compiler/halide/Build.h"
#include "compiler/halide/Turn.h"

using namespace Halide;

namespace mille {

Pipe buildRotate(const KernelSpec &spec, const Machine &machine, const Names &names) {
  const RotateSpec &s = spec.rotate;
  const int size = int(s.headDim), V = lanesFor(size, machine.lanes);
  const Turning turning{s.rotation.columns / 2, s.start, s.interleaved};
  ImageParam input = bufferOf(s.input, names("input"));
  ImageParam rotation = bufferOf(s.rotation, names("rotation"));
  Pipe pipe;
  pipe.arguments = {input, rotation};
  Var n(names("n")), m(names("m")), d(names("d")), dv(names("dv")), h(names("h"));

  // A head is turned beside the out, and copied: its two halves need each other.
  Func turned(names("turned"));
  turned(d, h, m) = input(h * size + d, m);
  std::vector<RVar> across;
  for (int part = 0; part < 2; ++part) {
    RDom i(0, int(turning.angles), names(part ? "angle1" : "angle0"));
    Pair columns = columnsOfPair(turning, i);
    Pair x{input(h * size + columns.first, m), input(h * size + columns.second, m)};
    Pair y = turnedPair(turning, x, rotation, i, m);
    if (part == 0)
      turned(columns.first, h, m) = y.first;
    else
      turned(columns.second, h, m) = y.second;
    across.push_back(i);
  }
  pipe.out = Func(names("out"));
  pipe.out(n, m) = turned(n % size, n / size, m);

  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, int(s.heads) * size);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  pipe.out.bound(n, 0, int(s.heads) * size).split(n, h, d, size).split(d, d, dv, V)
      .vectorize(dv);
  turned.compute_at(pipe.out, h).store_in(MemoryType::Stack)
      .bound_extent(turned.args()[0], size).vectorize(turned.args()[0], V);
  for (int part = 0; part < 2 && !s.interleaved; ++part)
    turned.update(part).vectorize(across[part], lanesFor(turning.angles, machine.lanes));
  return pipe;
}

} // namespace mille

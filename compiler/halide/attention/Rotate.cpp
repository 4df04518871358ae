// The kernel of kernel.rotate: RoPE as a launch of its own.
// Must not hold the rotation itself, which Turn.h has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/attention/Turn.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {

Pipe buildRotate(const KernelSpec &spec, const Machine &machine,
                 const Names &names) {
  const RotateSpec &s = spec.rotate;
  const int size = int(s.headDim), heads = int(s.heads);
  ImageParam input = bufferOf(s.input, names("input"));
  ImageParam rotation = bufferOf(s.rotation, names("rotation"));
  Pipe pipe;
  pipe.arguments = {input, rotation};
  Var n(names("n")), m(names("m")), dv(names("dv")), h(names("h"));

  // A head is rotated in memory of its own and copied to the out: its two
  // halves read each other.
  auto source = [&](const Expr &column, const Expr &row, const Expr &head) {
    return widened(input(head * size + column, row));
  };
  Turning turning{s.headDim, s.rotation.columns / 2, s.start, s.interleaved};
  TurnedHeads turned(turning, source, rotation, 0, names, "turned");
  pipe.out = Func(names("out"));
  pipe.out(n, m) = rounded(turned.at(n % size, m, n / size), spec.out.element);

  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, heads * size);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  if (machine.device) {
    buffer.dim(1).set_min(0);
    if (turning.isWhole()) {
      scheduleElements(pipe.out, n, m);
      return pipe;
    }
    pipe.out.bound(n, 0, heads * size)
        .split(n, h, n, size)
        .reorder(n, m, h)
        .gpu_blocks(m, h)
        .gpu_threads(n);
    turned.rows.compute_at(pipe.out, m);
    turned.spread([](Stage stage, VarOrRVar dimension, VarOrRVar) {
      stage.gpu_threads(dimension);
    });
    return pipe;
  }
  pipe.out.bound(n, 0, heads * size)
      .split(n, h, n, size)
      .split(n, n, dv, lanesFor(size, machine.lanes))
      .vectorize(dv);
  turned.rows.compute_at(pipe.out, h).store_in(MemoryType::Stack);
  turned.vectorize(machine.lanes);
  return pipe;
}

} // namespace mille

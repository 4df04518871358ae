// A thread turns 4 pairs of a row in several heads, which share its cosines and
// sines, or copies 8 columns that are not turned.
#include "compiler/nvvm/Rotate.h"
#include "compiler/nvvm/Builder.h"
#include "compiler/nvvm/Rows.h"

namespace mille::nvvm {

namespace {

constexpr unsigned blockThreads = 256;
// Heads of a thread: their reads are in flight together.
constexpr int64_t mostTogether = 4;

class RotateKernel {
public:
  RotateKernel(mlir::MLIRContext &context, const KernelSpec &spec,
               const std::string &entry)
      : spec(spec), s(spec.rotate), n(s.rotation.columns / 2),
        launch(describe(entry)), b(context, launch) {}

  Kernel write();

private:
  Launch describe(const std::string &entry);
  // Pieces of a head: of pairs that are turned, then of other columns.
  int64_t turnedPieces() const { return n / 4; }
  int64_t pieces() const { return turnedPieces() + (s.headDim - 2 * n) / 4; }
  int64_t together() const {
    int64_t heads = mostTogether;
    while (s.heads % heads)
      --heads;
    return heads;
  }
  int64_t itemsOfRow() const { return pieces() * (s.heads / together()); }

  Reg lineOf(unsigned argument, const BufferSpec &buffer, Reg row) {
    return b.at(b.argument(argument),
                b.widen(row) * (buffer.rowStride * bytesOf(buffer.element)));
  }
  Regs read(Reg line, const BufferSpec &buffer, Reg column);
  void store(const Regs &four, Reg line, Reg column);
  void item(Reg number);
  void turn(Reg row, Reg head, Reg piece);
  void copy(Reg row, Reg head, Reg piece);

  const KernelSpec &spec;
  const RotateSpec &s;
  const int64_t n; // pairs of a head
  Launch launch;
  Builder b;
};

Launch RotateKernel::describe(const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  launch.half = halfOf(spec);
  for (uint32_t buffer : {0, 1, 2})
    launch.addAddress(buffer);
  launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  launch.threads = blockThreads;
  launch.blocksPerUnit = blocksPerUnit;
  launch.overlaps = true;
  launch.tiles[0] =
      amountOf(MILLE_COUNT_ROWS, uint32_t(itemsOfRow()), blockThreads);
  return launch;
}

Regs RotateKernel::read(Reg line, const BufferSpec &buffer, Reg column) {
  if (buffer.element == Element::f32)
    return b.elements(
        b.load(b.at(line, column * 4), b.vectorOf(4, b.f32()), 16));
  Regs four;
  for (Reg word :
       b.elements(b.load(b.at(line, column * 2), b.vectorOf(2, b.i32()), 8)))
    for (Reg number : b.unpackHalf(word))
      four.push_back(number);
  return four;
}

void RotateKernel::store(const Regs &four, Reg line, Reg column) {
  if (spec.out.element == Element::f32)
    b.store(b.vector(four), b.at(line, column * 4), 16);
  else
    b.store(
        b.vector({b.packHalf(four[0], four[1]), b.packHalf(four[2], four[3])}),
        b.at(line, column * 2), 8);
}

void RotateKernel::turn(Reg row, Reg head, Reg piece) {
  Reg from = lineOf(0, s.input, row), to = lineOf(2, spec.out, row);
  Reg table = lineOf(1, s.rotation, row);
  Regs cosines = read(table, s.rotation, piece * 4),
       sines = read(table, s.rotation, piece * 4 + n);
  const int64_t heads = together(), apart = s.interleaved ? 4 : n;
  Reg first = head * s.headDim + (piece * (s.interleaved ? 8 : 4) + s.start);
  std::vector<Regs> low, high;
  for (int64_t h = 0; h < heads; ++h) {
    low.push_back(read(from, s.input, first + h * s.headDim));
    high.push_back(read(from, s.input, first + (h * s.headDim + apart)));
  }
  for (int64_t h = 0; h < heads; ++h) {
    Regs x = low[h], y = high[h], u, v;
    if (s.interleaved) { // pairs lie side by side
      x = {low[h][0], low[h][2], high[h][0], high[h][2]};
      y = {low[h][1], low[h][3], high[h][1], high[h][3]};
    }
    for (unsigned i = 0; i < 4; ++i) {
      u.push_back(x[i] * cosines[i] - y[i] * sines[i]);
      v.push_back(y[i] * cosines[i] + x[i] * sines[i]);
    }
    store(s.interleaved ? Regs{u[0], v[0], u[1], v[1]} : u, to,
          first + h * s.headDim);
    store(s.interleaved ? Regs{u[2], v[2], u[3], v[3]} : v, to,
          first + (h * s.headDim + apart));
  }
}

void RotateKernel::copy(Reg row, Reg head, Reg piece) {
  Reg from = lineOf(0, s.input, row), to = lineOf(2, spec.out, row);
  Reg column = (piece - turnedPieces()) * 4;
  if (s.start) // columns before those that are turned, and after them
    column = b.select(lt(column, s.start), column, column + 2 * n);
  else
    column = column + 2 * n;
  Reg first = head * s.headDim + column;
  for (int64_t h = 0; h < together(); ++h)
    store(read(from, s.input, first + h * s.headDim), to,
          first + h * s.headDim);
}

void RotateKernel::item(Reg number) {
  Reg row = number / itemsOfRow(), rest = number % itemsOfRow();
  Reg piece = rest % pieces(), head = rest / pieces() * together();
  if (pieces() == turnedPieces())
    return turn(row, head, piece);
  b.ifElse(
      lt(piece, turnedPieces()), [&] { turn(row, head, piece); },
      [&] { copy(row, head, piece); });
}

Kernel RotateKernel::write() {
  b.admitNextKernel();
  b.waitForEarlierKernels();
  Reg all = b.argument(3) * itemsOfRow();
  b.loop(
      {b.blockIndex() * int(blockThreads) + b.threadIndex()},
      [&](const Regs &now) { return lt(now[0], all); },
      [&](const Regs &now) {
        item(now[0]);
        return Regs{now[0] + b.blockCount() * int(blockThreads)};
      });
  return {b.finish(), launch};
}

} // namespace

std::string whyNotRotate(const KernelSpec &spec) {
  const RotateSpec &s = spec.rotate;
  for (int64_t number :
       {s.rotation.columns / 2, s.start, s.headDim, s.input.rowStride,
        s.rotation.rowStride, spec.out.rowStride})
    if (number % 4)
      return "RoPE turns " + std::to_string(s.rotation.columns / 2) +
             " pairs from column " + std::to_string(s.start) + " of " +
             std::to_string(s.headDim) + " but 4 are turned at a time";
  return "";
}

Kernel writeRotate(mlir::MLIRContext &context, const KernelSpec &spec,
                   const std::string &entry) {
  return RotateKernel(context, spec, entry).write();
}

} // namespace mille::nvvm

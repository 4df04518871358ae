// Loads are clamped and stores conditional, so that nothing lies outside of a
// buffer. Must not compute.
#include "compiler/nvvm/Extras.h"

#include "compiler/kernels/Describe.h"

namespace mille::nvvm {

// Weights begin at multiples of so many bytes, as do buffers of the arena.
constexpr unsigned knownAlignment = 16;

Extras::Extras(const KernelSpec &spec, Launch &launch)
    : out(spec.out), matmul(spec.matmul) {
  // The operands come first, the out last.
  for (unsigned i = 0; i < matmul.extras.size(); ++i)
    arguments.push_back(launch.addAddress(buffersBeforeExtras(matmul) + i));
  outArgument =
      launch.addAddress(buffersBeforeExtras(matmul) + matmul.extras.size());
}

void Extras::begin(Builder &builder, Reg numberOfRows) {
  b = &builder;
  rows = numberOfRows;
}

void Extras::enter(Reg number, Reg end) {
  expert = number;
  rows = end;
}

Reg Extras::startOf(unsigned extra) {
  const BufferSpec &its = matmul.extras[extra];
  Reg start = b->argument(arguments[extra]);
  if (its.rows <= 1) // not by expert
    return start;
  return b->at(start, b->widen(expert) * (its.columns * bytesOf(its.element)));
}

Reg Extras::clampedRow(Reg row) { return b->minSigned(row, rows - 1); }

Reg Extras::one(unsigned extra, Reg pointer) {
  if (matmul.extras[extra].element == Element::f32)
    return b->load(pointer, b->f32());
  return b->fromHalf(b->load(pointer, b->i16(), 2));
}

Reg Extras::scalar(unsigned extra) {
  return one(extra, b->argument(arguments[extra]));
}

// The address of a row.
static Reg lineOf(Builder &b, Reg start, Reg row, const BufferSpec &buffer) {
  return b.at(start, b.widenSigned(row) *
                         (buffer.rowStride * bytesOf(buffer.element)));
}

Reg Extras::atRow(unsigned extra, Reg row) {
  return one(extra, lineOf(*b, b->argument(arguments[extra]), clampedRow(row),
                           matmul.extras[extra]));
}

Regs Extras::atColumns(unsigned extra, Reg column) {
  return two(extra, startOf(extra), column);
}

Regs Extras::atElements(unsigned extra, Reg row, Reg column) {
  return two(extra,
             lineOf(*b, b->argument(arguments[extra]), clampedRow(row),
                    matmul.extras[extra]),
             column);
}

// Pairs start at even columns, so with an even number of columns and even
// strides both lie in one aligned word.
Regs Extras::two(unsigned extra, Reg line, Reg column) {
  const BufferSpec &buffer = matmul.extras[extra];
  const int64_t bytes = bytesOf(buffer.element), columns = buffer.columns;
  const bool together = columns % 2 == 0 && buffer.rowStride % 2 == 0;
  static_assert(knownAlignment % 8 == 0, "of two f32");
  if (!together) {
    Regs values;
    for (int e : {0, 1})
      values.push_back(one(
          extra, b->at(line, b->minSigned(column + e, columns - 1) * bytes)));
    return values;
  }
  Reg place = b->at(line, b->minSigned(column, columns - 2) * bytes);
  if (buffer.element == Element::f32)
    return b->elements(b->load(place, b->vectorOf(2, b->f32()), 8));
  return b->unpackHalf(b->load(place, b->i32(), 4));
}

Regs Extras::at(unsigned extra, Reg row, Reg column) {
  switch (reading(extra)) {
  case Reading::element:
    return atElements(extra, row, column);
  case Reading::column:
    return atColumns(extra, column);
  case Reading::row:
    return Regs(2, atRow(extra, row));
  case Reading::scalar:
    return Regs(2, scalar(extra));
  }
  return {};
}

void Extras::storeOne(Reg value, Reg line, Reg column) {
  if (isHalf(out.element))
    b->store(b->toHalf(value), b->at(line, column * 2), 2);
  else
    b->store(value, b->at(line, column * 4), 4);
}

void Extras::store(const Regs &pair, Reg row, Reg column) {
  Reg line = lineOf(*b, b->argument(outArgument), row, out);
  Reg inside = lt(row, rows);
  if (out.columns % 2 || out.rowStride % 2) {
    for (int e : {0, 1}) {
      Reg at = column + e;
      b->ifThen(inside & lt(at, out.columns),
                [&] { storeOne(pair[e], line, at); });
    }
    return;
  }
  b->ifThen(inside & lt(column, out.columns), [&] {
    if (isHalf(out.element))
      b->store(b->packHalf(pair[0], pair[1]), b->at(line, column * 2), 4);
    else
      b->store(b->vector(pair), b->at(line, column * 4), 8);
  });
}

} // namespace mille::nvvm

// Quantises rows to bytes, with a step and a zero for each row.
// Must round in the same way on every instruction set.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/device/Device.h"

using namespace Halide;

namespace mille {
namespace {

Expr bitsOf(const Expr &x) { return reinterpret<int32_t>(x); }

// How many columns of a row are read side by side. Which of two equal numbers
// is the outlier depends on it.
constexpr int rowLanes = 64;

// The bits of a row's numbers, as wide as the row's elements: bf16 needs half
// as many vectors.
struct Bits {
  Bits(const BufferSpec &row, const Machine &machine)
      : width(isBf16(row.element) && !machine.device ? 16 : 32),
        lanes(machine.lanes * 32 / width) {}

  Type type() const { return Int(width); }
  Expr none() const { return Internal::make_zero(type()); }
  Expr unsignedNone() const { return withoutSign(none()); }
  Expr sign() const {
    return Internal::make_const(UInt(width), uint64_t(1) << (width - 1));
  }
  Expr of(const Expr &x) const {
    return reinterpret(type(), width == 16 ? x : widened(x));
  }
  Expr number(const Expr &bits) const {
    return width == 16 ? widened(withoutSign(bits)) : reinterpret<float>(bits);
  }
  Expr withoutSign(const Expr &bits) const {
    return reinterpret(UInt(width), bits);
  }

  int width;
  int lanes; // in a vector
};

using Values = std::vector<Expr>;

// A reduction over a row of N numbers in one pass: `take` combines the numbers
// of each lane, then `combine` combines the lanes.
class AcrossRow {
public:
  using Take = std::function<Values(const Values &, Expr column)>;
  using Combine = std::function<Values(const Values &, const Values &)>;
  using Place = std::function<Values(const Values &)>;

  // `place` turns the values of one lane into values for all lanes.
  AcrossRow(
      const std::string &name, const Names &names, const Var &m, int N, int V,
      const Machine &machine, const Values &start, const Take &take,
      const Combine &combine,
      const Place &place = [](const Values &of) { return of; })
      : lanes(names((name + "_lanes").c_str())), all(names(name.c_str())), m(m),
        device(machine.device) {
    const int L = rowLanes, whole = N / L, rest = N % L;
    Var l(names("l"));
    lanes(l, m) = tupleOf(start);
    if (whole) {
      RDom r(0, whole, names("r"));
      lanes(l, m) = tupleOf(take(valuesOf(lanes, l), r * L + l));
      if (device)
        lanes.update(0).reorder(r, l).gpu_threads(l);
      else
        lanes.update(0).reorder(l, r).vectorize(l, V).unroll(l);
    }
    if (rest) {
      RDom r(0, rest, names("rest"));
      lanes(r, m) = tupleOf(take(valuesOf(lanes, r), whole * L + r));
      if (device)
        lanes.update(whole ? 1 : 0).gpu_threads(r);
    }
    lanes.bound_extent(l, L);
    auto placed = [&](const Expr &lane) { return place(ofLane(lane)); };
    if (device) {
      lanes.gpu_threads(l);
      all(m) = tupleOf(tree(L, combine, placed));
      return;
    }
    lanes.vectorize(l, V).unroll(l);
    fold(name, names, l, V,
         tree(L / V, combine, [&](int i) { return placed(i * V + l); }),
         combine);
  }

  Values ofLane(const Expr &lane) const { return valuesOf(lanes, lane); }
  Expr operator[](size_t i) const {
    return all.outputs() == 1 ? Expr(all(m)) : Expr(all(m)[int(i)]);
  }

  void computeAt(const Func &f) {
    std::vector<Func> parts = halves;
    parts.insert(parts.end(), {lanes, all});
    for (Func part : parts) {
      part.compute_at(f, m);
      if (!device)
        part.store_in(MemoryType::Stack);
    }
  }

private:
  static Tuple tupleOf(const Values &values) { return Tuple(values); }
  Values valuesOf(const Func &f, const Expr &lane) const {
    Values values;
    for (int i = 0; i < f.outputs(); ++i)
      values.push_back(f.outputs() == 1 ? Expr(f(lane, m))
                                        : Expr(f(lane, m)[i]));
    return values;
  }
  static Values tree(int size, const Combine &combine,
                     const std::function<Values(int)> &at) {
    std::vector<Values> left;
    for (int i = 0; i < size; ++i)
      left.push_back(at(i));
    for (; left.size() > 1; left.resize(left.size() / 2))
      for (size_t i = 0; i < left.size() / 2; ++i)
        left[i] = combine(left[i], left[i + left.size() / 2]);
    return left[0];
  }
  // Combines a vector of `size` lanes with its other half until one lane is
  // left; lane by lane this would take as long as a quarter of a row.
  void fold(const std::string &name, const Names &names, const Var &l, int size,
            const Values &across, const Combine &combine) {
    halves.emplace_back(names((name + "_folded").c_str()));
    halves.back()(l, m) = tupleOf(across);
    halves.back().bound_extent(l, size).vectorize(l, size);
    for (size /= 2; size > 1; size /= 2) {
      Func wider = halves.back();
      halves.emplace_back(names((name + "_" + std::to_string(size)).c_str()));
      halves.back()(l, m) =
          tupleOf(combine(valuesOf(wider, l), valuesOf(wider, l + size)));
      halves.back().bound_extent(l, size).vectorize(l, size);
    }
    all(m) = tupleOf(
        combine(valuesOf(halves.back(), 0), valuesOf(halves.back(), 1)));
  }

  Func lanes, all;
  std::vector<Func> halves; // of a vector of lanes
  Var m;
  bool device; // a work-item has a lane
};

// The two largest of two pairs.
Values twoLargest(const Expr &a, const Expr &second, const Expr &b,
                  const Expr &other) {
  return {max(a, b), max(min(a, b), max(second, other))};
}
Values joined(Values a, const Values &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The outlier of a row, and the range of its other numbers and 0, as
// magnitudes. Compared as signed integers, numbers that are not negative keep
// their order, NaN is the largest, and negative numbers are below 0. Compared
// as unsigned integers, negative numbers are above all others, and their
// magnitudes keep their order. One pass finds the largest of each lane in both
// orders. The second largest on the outlier's side is either the largest of
// another lane or in the outlier's lane, which is read again. (To keep the two
// largest of each lane in both orders, and to find the column by a second pass,
// takes a tenth to a third longer for 768 or 3072 columns.)
class RowEnds {
public:
  RowEnds(const ImageParam &input, int N, const Bits &bits, const Names &names,
          const Var &m, const Machine &machine)
      : bits(bits), ends(endsOf(input, N, names, m, machine)),
        isHigh(ends[0] >= negated(ends[2])),
        turn(select(isHigh, bits.sign(), bits.unsignedNone())),
        top(select(isHigh, ranked(ends[0]), ends[2])),
        firstLane(firstLaneOf(names, m, machine)), own(names("own")),
        rounds(0, (N + rowLanes - 1) / rowLanes, names("rounds")) {
    Expr lane = rowLanes - cast<int32_t>(firstLane[0]);
    readAgain(input, N, m, lane);
    Expr second = cast(UInt(bits.width), own(m)[2]);
    high = bits.number(
        select(isHigh, max(ends[1], reinterpret(bits.type(), second ^ turn)),
               ends[0]));
    low = bits.number(negated(select(isHigh, ends[2], max(ends[3], second))));
    column = clamp(own(m)[0] * rowLanes + lane, 0, N - 1);
  }

  Expr high, low, column; // of the outlier

  // What lies on a stack is computed by each `reader`: no work-item sees the
  // stack of another one.
  void computeAt(const Func &f, const Var &reader) {
    ends.computeAt(f);
    firstLane.computeAt(f);
    own.compute_at(f, reader).store_in(MemoryType::Stack);
    // Without this values pass through vectors, 10 cycles each.
    own.update().unroll(rounds, 4);
  }

private:
  AcrossRow endsOf(const ImageParam &input, int N, const Names &names,
                   const Var &m, const Machine &machine) const {
    const Expr none = bits.none(), unsignedNone = bits.unsignedNone();
    return AcrossRow(
        "ends", names, m, N, bits.lanes, machine, {none, unsignedNone},
        [&](const Values &so, const Expr &column) {
          Expr x = bits.of(input(column, m));
          return Values{max(so[0], x), max(so[1], bits.withoutSign(x))};
        },
        [](const Values &a, const Values &b) {
          return joined(twoLargest(a[0], a[1], b[0], b[1]),
                        twoLargest(a[2], a[3], b[2], b[3]));
        },
        [&](const Values &of) {
          return Values{of[0], none, of[1], unsignedNone};
        });
  }

  // The magnitude of a negative number, or none.
  Expr negated(const Expr &end) const {
    return reinterpret(bits.type(), select(end > bits.sign(), end ^ bits.sign(),
                                           bits.unsignedNone()));
  }

  // The rank of a number on the outlier's side, in unsigned order.
  Expr ranked(const Expr &x) const { return bits.withoutSign(x) ^ turn; }

  AcrossRow firstLaneOf(const Names &names, const Var &m,
                        const Machine &machine) const {
    return AcrossRow(
        "first_lane", names, m, rowLanes, bits.lanes, machine, {bits.none()},
        [&](const Values &so, const Expr &lane) {
          Values of = ends.ofLane(lane);
          Expr is = select(isHigh, ranked(of[0]), of[1]) == top;
          Expr left = cast(bits.type(), rowLanes - lane);
          return Values{select(is, max(so[0], left), so[0])};
        },
        [](const Values &a, const Values &b) {
          return Values{max(a[0], b[0])};
        });
  }

  // Reads the outlier's lane again, from the last round to the first: finds the
  // outlier's round, and the largest and second largest number.
  void readAgain(const ImageParam &input, int N, const Var &m,
                 const Expr &lane) {
    Expr round = (N - 1) / rowLanes - rounds, column = round * rowLanes + lane;
    Expr rank =
        cast<uint32_t>(ranked(bits.of(input(clamp(column, 0, N - 1), m))));
    const Expr nothing = cast<uint32_t>(0);
    if (N % rowLanes)
      rank = select(column < N, rank, nothing);
    own(m) = Tuple(0, nothing, nothing);
    own(m) =
        Tuple(joined({select(rank == cast<uint32_t>(top), round, own(m)[0])},
                     twoLargest(own(m)[1], own(m)[2], rank, nothing)));
  }

  Bits bits;
  AcrossRow ends;
  Expr isHigh, turn, top;
  AcrossRow firstLane;
  Func own;
  RDom rounds;
};

} // namespace

Pipe buildQuantize(const KernelSpec &spec, const Machine &machine,
                   const Names &names) {
  const QuantizeSpec &s = spec.quantize;
  const int N = int(s.input.columns);
  Var n(names("n")), m(names("m")), c(names("c"));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {input};
  auto at = [&](const Expr &column) { return widened(input(column, m)); };
  RowEnds ends(input, N, Bits(s.input, machine), names, m, machine);

  Expr exact = added(ends.high, ends.low) * (1.0f / 255);
  Func step(names("step")), values(names("values"));
  step(m) = reinterpret<float>(max(bitsOf(exact), bitsOf(Expr(0x1p-100f))));
  // No number is negative, so adding 0.5 and truncating rounds to nearest.
  Expr zero =
      clamp(cast<int32_t>(added(ends.low / step(m), Expr(0.5f))), 0, 255);
  pipe.out = Func(names("out"));
  Func &parameters = pipe.out;
  parameters(c, m) = mux(c, {step(m), cast<float>(zero), at(ends.column),
                             cast<float>(ends.column)});
  Func inverse(names("inverse"));
  inverse(m) = 1.0f / parameters(0, m);
  Expr shifted = added(at(n) * inverse(m), parameters(1, m) + 0.5f);
  // Between low and high the number is above -1; at high it may be 256. One
  // instruction narrows it and takes the minimum.
  Expr whole = reinterpret<uint32_t>(cast<int32_t>(shifted));
  Expr nearest = cast<uint8_t>(min(whole, Expr(uint32_t(255))));
  Expr there = clamp(cast<int32_t>(parameters(3, m)), 0, N - 1);
  Expr zeroThere = cast<uint8_t>(cast<int32_t>(parameters(1, m)));
  if (machine.device) {
    values(n, m) = select(n == there, zeroThere, nearest);
  } else { // one store is quicker than a comparison for each column
    values(n, m) = nearest;
    values(there, m) = zeroThere;
  }
  pipe.before = {values};

  auto last = parameters.output_buffer();
  last.dim(0).set_bounds(0, 4);
  last.dim(1).set_stride(int(spec.out.rowStride));
  auto buffer = values.output_buffer();
  buffer.dim(0).set_bounds(0, N);
  buffer.dim(1).set_stride(int(s.values.rowStride));
  parameters.bound(c, 0, 4);
  ends.computeAt(parameters, machine.device ? c : m);
  if (machine.device) {
    scheduleElements(values, n, m);
    last.dim(1).set_min(0);
    parameters.gpu_blocks(m).gpu_threads(c);
    return pipe;
  }
  values.vectorize(n, machine.lanes, TailStrategy::GuardWithIf);
  if (N % (4 * machine.lanes) == 0)
    values.unroll(n, 4);
  parameters.unroll(c);
  step.compute_at(parameters, m).store_in(MemoryType::Stack);
  inverse.compute_at(values, m).store_in(MemoryType::Stack);
  return pipe;
}

} // namespace mille

// Compares kernel.attention over a state's panels with double: grouped heads,
// one and several panels of columns, odd sizes, masks, windows, sinks, more
// than one stretch of keys, in f32, bf16, f16 and bytes, and values that are
// the first columns of the keys, held once. Panels lie in memory
// of three sequences. Memory after the keys, and keys that no query sees, are
// NaN. Rows one by one, and few rows in parts of stretches that are joined,
// give the same bits as all rows together.
//
// REQUIRES: x86-64-v4
// RUN: %programs/kernel-panels widest odd
#include "compiler/interpret/Judge.h"
#include "runtime/StatePanels.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;
constexpr int64_t fewest = 16; // rows that parts have room for

// What keys and values are; queries are of bf16 beside bf16, else of f32.
enum class Held { f32, bf16, f16, bytes };

struct Case {
  const char *name;
  int64_t heads, kvHeads, headDim, valueDim;
  Held held = Held::f32;
  bool masked = false;
  int64_t window = 0;
  bool sinks = false;
  bool once = false; // values are the first columns of the keys

  bool isBf16() const { return held == Held::bf16; }
  bool isBytes() const { return held == Held::bytes; }
  // Of neighbours that are multiplied together: of two bytes for bf16 alone.
  int64_t bytes() const { return isBf16() ? 2 : 4; }
  // The elements of a row of keys and of one of values.
  int64_t keyColumns() const {
    return kvHeads * (isBytes() ? mille_row_bytes(headDim) : headDim);
  }
  int64_t valueColumns() const {
    if (once)
      return keyColumns();
    return kvHeads * (isBytes() ? mille_row_bytes(valueDim) : valueDim);
  }
  double bound() const {
    return toleranceOf(isBytes()  ? "kernel_state_bytes"
                       : isBf16() ? "kernel_state_bf16"
                                  : "kernel_attention")
        .relative;
  }
  std::string rows(int64_t columns, const char *element) const {
    return "memref<?x" + std::to_string(columns) + "x" + element + ">";
  }
  std::string text() const {
    auto number = [](int64_t value) { return std::to_string(value); };
    const char *element = isBf16() ? "bf16" : "f32", *of = isBytes() ? "i8"
                                                           : held == Held::f16
                                                               ? "f16"
                                                               : element;
    std::string q = rows(heads * headDim, element), k = rows(keyColumns(), of),
                v = rows(valueColumns(), of), o = rows(heads * valueDim, "f32"),
                i = "memref<?xi32>", s = "memref<" + number(heads) + "xf32>";
    return "func.func @f(%t: index, %n: index, %p: index, %q: " + q +
           ", %k: " + k + ", %v: " + v + ", %m: " + i + ", %s: " + s +
           ", %past: " + i + ", %o: " + o + ") {\n kernel.attention %q, %k, " +
           (once ? "%k" : "%v") + (masked ? " key_mask %m : " + i : "") +
           (sinks ? " sink %s : " + s : "") + " past %past : " + i +
           " queries %t keys %n first %p outs(%o : " + o + ") heads " +
           number(heads) + " kv_heads " + number(kvHeads) + " head_dim " +
           number(headDim) + " value_dim " + number(valueDim) +
           " offsets [0, 0, 0] scale 0.125 causal true" +
           (window ? " window [" + number(window) + ", 0]" : "") +
           " panels : " + q + ", " + k + ", " + (once ? k : v) +
           "\n return\n}\n";
  }
};

uint16_t bf16Of(float value) {
  uint32_t word;
  memcpy(&word, &value, 4);
  return uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

// A buffer of elements that are set and read as f32; bytes are all 255, so that
// a step among them is NaN.
struct Elements {
  Guarded memory;
  Held held;
  Elements(int64_t count, Held held)
      : memory(count, Guarded::Side::end,
               held == Held::bytes ? 1
               : held == Held::f32 ? 4
                                   : 2),
        held(held) {
    if (held == Held::bytes)
      memset(memory.as<uint8_t>(), 0xff, count);
    else
      for (int64_t i = 0; i < count; ++i)
        set(i, NAN);
  }
  void *at(int64_t element) const {
    return memory.as<char>() + element * (held == Held::bytes ? 1
                                          : held == Held::f32 ? 4
                                                              : 2);
  }
  // What is kept.
  float set(int64_t at, float value) {
    if (held == Held::f32)
      return memory[at] = value;
    if (held == Held::f16)
      return memory.as<_Float16>()[at] = _Float16(value);
    uint16_t half = memory.as<uint16_t>()[at] = bf16Of(value);
    uint32_t word = uint32_t(half) << 16;
    memcpy(&value, &word, 4);
    return value;
  }
};

// As the runtime lays out a state: whole panels, and rows that may be read.
int64_t roomOf(int64_t keys) {
  return (keys + MILLE_PANEL_ROWS - 1) / MILLE_PANEL_ROWS * MILLE_PANEL_ROWS +
         MILLE_PANEL_ROWS;
}
// Of three sequences, of which the second is the kernel's.
int64_t elementsOf(int64_t keys, int64_t columns) {
  return (3 * roomOf(keys) + 64) * columns + 512;
}

struct Data {
  const Case &c;
  int64_t queries, keys, room;
  Elements query, key, value;
  Guarded mask, sink, out, parts;
  std::vector<float> q, k, v;  // [row, head, dimension]
  std::vector<int32_t> shifts; // of panels; some are read beside the last

  Data(const Case &c, int64_t queries, int64_t keys)
      : c(c), queries(queries), keys(keys), room(roomOf(keys)),
        query(queries * c.heads * c.headDim,
              c.isBf16() ? Held::bf16 : Held::f32),
        key(elementsOf(keys, c.keyColumns()), c.held),
        value(elementsOf(keys, c.valueColumns()), c.held), mask(room + 64),
        sink(c.heads), out(queries * c.heads * c.valueDim),
        parts(2 * stretches() * fewest * c.heads * c.valueDim),
        shifts(room / MILLE_PANEL_ROWS + 8) {
    std::mt19937 random(unsigned(keys * 31 + c.headDim));
    for (int64_t p = 0; p < room / MILLE_PANEL_ROWS; ++p)
      shifts[p] = int32_t(random() % 3) - 1;
    std::uniform_real_distribution<float> draw(-2, 2);
    for (int64_t h = 0; h < c.heads; ++h)
      sink[h] = draw(random);
    for (int64_t i = 0; i < queries * c.heads * c.headDim; ++i)
      q.push_back(query.set(i, draw(random)));
    for (int64_t i = 0; c.isBytes() && i < queries * c.heads; ++i) {
      float *row = &q[i * c.headDim], step = stepOf(row, c.headDim);
      for (int64_t d = 0; d < c.headDim; ++d)
        row[d] = std::nearbyint(row[d] / step) * step;
    }
    for (int64_t j = 0; j < keys; ++j)
      shown()[j] = !c.masked || random() % 4 != 0;
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t h = 0; h < c.kvHeads; ++h) {
        const bool nan = !shown()[j] || (c.window && j == firstSeen()) ||
                         (j + 1 == keys && keys % 2);
        for (int64_t d = 0; d < c.headDim; ++d)
          k.push_back(shown()[j] ? draw(random) : NAN);
        for (int64_t d = 0; d < c.valueDim; ++d)
          v.push_back(c.once ? k[k.size() - c.headDim + d]
                      : nan  ? NAN
                             : draw(random));
        keep(j, h, &k[k.size() - c.headDim], &v[v.size() - c.valueDim]);
      }
    if (!c.isBytes() && mille_value_pair(c.bytes()) == 2 && keys % 2)
      for (int64_t h = 0; h < c.kvHeads; ++h)
        for (int64_t d = 0; d < c.valueDim; ++d)
          (c.once ? key : value).set(valuePlace(keys, h, d), 0);
  }
  static float stepOf(const float *row, int64_t size) {
    float most = 0;
    for (int64_t d = 0; d < size; ++d)
      most = std::isnan(row[d]) ? NAN : std::max(most, std::fabs(row[d]));
    return most / 127;
  }
  // Puts a row into the panels, and what is kept of it into the row.
  void keep(int64_t j, int64_t h, float *keyRow, float *valueRow) {
    if (c.isBytes())
      return keepBytes(j, h, keyRow, valueRow);
    for (int64_t d = 0; d < c.headDim; ++d)
      keyRow[d] =
          key.set(c.once ? valuePlace(j, h, d) : keyPlace(j, h, d), keyRow[d]);
    for (int64_t d = 0; d < c.valueDim; ++d)
      valueRow[d] =
          c.once ? keyRow[d] : value.set(valuePlace(j, h, d), valueRow[d]);
  }
  void keepBytes(int64_t j, int64_t h, float *keyRow, float *valueRow) {
    uint8_t *keyHead = key.memory.as<uint8_t>() +
                       sequenceAt(j, c.keyColumns()) +
                       h * room * mille_row_bytes(c.headDim),
            *valueHead = value.memory.as<uint8_t>() +
                         sequenceAt(j, c.valueColumns()) +
                         h * room * mille_row_bytes(c.valueDim);
    const float keyStep = stepOf(keyRow, c.headDim),
                valueStep = stepOf(valueRow, c.valueDim);
    memcpy(keyHead + mille_key_step(j, c.headDim), &keyStep, 4);
    memcpy(valueHead + mille_value_step(j), &valueStep, 4);
    for (int64_t d = 0; d < c.headDim; ++d) {
      const float number = std::nearbyint(keyRow[d] / keyStep);
      if (!std::isnan(keyStep))
        keyHead[mille_key_byte(j, d, c.headDim)] = uint8_t(int(number) + 128);
      keyRow[d] = number * keyStep;
    }
    for (int64_t d = 0; d < c.valueDim; ++d) {
      const float number = std::nearbyint(valueRow[d] / valueStep);
      if (!std::isnan(valueStep))
        valueHead[mille_value_byte(j, d, c.valueDim, room)] =
            uint8_t(int8_t(number));
      valueRow[d] = number * valueStep;
    }
  }
  // Of the first query; a window hides it from the last of several.
  int64_t firstSeen() const {
    return std::max<int64_t>(0, keys - queries - c.window + 1);
  }
  int32_t *shown() { return reinterpret_cast<int32_t *>(mask.data()); }
  // The element with which the sequence begins whose memory a row is in.
  int64_t sequenceAt(int64_t row, int64_t columns) const {
    return (1 + shifts[row / MILLE_PANEL_ROWS]) * room * columns;
  }
  int64_t keyPlace(int64_t row, int64_t head, int64_t d) const {
    return sequenceAt(row, c.keyColumns()) + head * room * c.headDim +
           mille_key_place(row, d, c.headDim,
                           mille_key_pair(c.bytes(), c.headDim));
  }
  int64_t valuePlace(int64_t row, int64_t head, int64_t d) const {
    const int64_t size = c.once ? c.headDim : c.valueDim;
    return sequenceAt(row, c.valueColumns()) + head * room * size +
           mille_value_place(row, d, size, mille_value_pair(c.bytes()), room);
  }

  int64_t stretches() const { return (keys + 511) / 512; }

  Argument range(int64_t m0, int64_t m1) {
    const int32_t wide = int32_t(c.heads * c.valueDim);
    return {&out[m0 * wide],
            {{0, int32_t(c.valueDim), 1, 0},
             {int32_t(m0), int32_t(m1 - m0), wide, 0},
             {0, int32_t(c.heads), int32_t(c.valueDim), 0}}};
  }
  std::vector<Argument> inputs() {
    std::vector<Argument> inputs{
        matrix(query.memory.data(), queries, c.heads * c.headDim,
               c.heads * c.headDim),
        matrix(key.at(room * c.keyColumns()), room, c.keyColumns(),
               c.keyColumns()),
        matrix((c.once ? key : value).at(room * c.valueColumns()), room,
               c.valueColumns(), c.valueColumns())};
    if (c.masked)
      inputs.push_back(vector(mask.data(), room));
    if (c.sinks)
      inputs.push_back(vector(sink.data(), c.heads));
    return inputs;
  }
  std::vector<Argument> inputsWithShifts() {
    std::vector<Argument> all = inputs();
    all.push_back(vector(shifts.data(), int64_t(shifts.size())));
    return all;
  }
  std::vector<int32_t> scalars() const {
    return {int32_t(queries), int32_t(keys), int32_t(keys - queries)};
  }
  int32_t run(mille_kernel_function kernel, int64_t m0, int64_t m1) {
    return call(kernel, inputsWithShifts(), scalars(), range(m0, m1));
  }

  // The parts of stretches `first` to `end` - 1; which: values, marks.
  Argument part(int which, int64_t m0, int64_t m1, int64_t first, int64_t end) {
    const int64_t row = c.valueDim, head = row * fewest, each = head * c.heads;
    return {&parts[which * each * stretches() + first * each],
            {{0, int32_t(c.valueDim), 1, 0},
             {int32_t(m0), int32_t(m1 - m0), int32_t(row), 0},
             {0, int32_t(c.heads), int32_t(head), 0},
             {int32_t(first), int32_t(end - first), int32_t(each), 0}}};
  }
  // Few rows; the stretches come one after another, from the last.
  int32_t runParts(mille_kernel_function few, mille_kernel_function join,
                   int64_t m0, int64_t m1) {
    for (int64_t e = stretches(); e-- > 0;) {
      std::vector<Argument> given = inputsWithShifts();
      if (int32_t code =
              call(few, given, scalars(),
                   {part(0, m0, m1, e, e + 1), part(1, m0, m1, e, e + 1)}))
        return code;
    }
    std::vector<Argument> given = inputs();
    for (int which : {0, 1})
      given.push_back(part(which, m0, m1, 0, stretches()));
    return call(join, given, scalars(), range(m0, m1));
  }

  // One head of a row; NaN where a value that it sees is.
  std::vector<double> expected(int64_t i, int64_t h) {
    const int64_t g = h / (c.heads / c.kvHeads), at = keys - queries + i;
    std::vector<double> weight(keys), mixed(c.valueDim);
    double top = -INFINITY, sum = 0;
    auto sees = [&](int64_t j) {
      return j <= at && (!c.window || j > at - c.window) && shown()[j];
    };
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t d = 0; sees(j) && d < c.headDim; ++d)
        weight[j] += 0.125 * double(q[(i * c.heads + h) * c.headDim + d]) *
                     k[(j * c.kvHeads + g) * c.headDim + d];
      top = sees(j) ? std::max(top, weight[j]) : top;
    }
    if (c.sinks) {
      top = std::max(top, double(sink[h]));
      sum = std::exp(sink[h] - top);
    }
    for (int64_t j = 0; j < keys; ++j)
      sum += weight[j] = sees(j) ? std::exp(weight[j] - top) : 0;
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t d = 0; sees(j) && d < c.valueDim; ++d)
        mixed[d] += weight[j] / sum * v[(j * c.kvHeads + g) * c.valueDim + d];
    return mixed;
  }
  double worst() {
    double most = 0;
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t h = 0; h < c.heads; ++h) {
        std::vector<double> right = expected(i, h);
        for (int64_t d = 0; d < c.valueDim; ++d) {
          double got = out[(i * c.heads + h) * c.valueDim + d];
          if (std::isnan(got) && std::isnan(right[d]))
            continue;
          double error = std::fabs(got - right[d]) / (1 + std::fabs(right[d]));
          most = std::isnan(error) ? INFINITY : std::max(most, error);
        }
      }
    return most;
  }
};

void expect(bool holds, const Data &data, const std::string &what) {
  if (holds)
    return;
  ++failures;
  const Case &c = data.c;
  printf("%s heads %ld/%ld dim %ld/%ld%s, %ld queries of %ld keys: %s\n",
         c.name, long(c.heads), long(c.kvHeads), long(c.headDim),
         long(c.valueDim),
         c.isBytes()           ? " bytes"
         : c.isBf16()          ? " bf16"
         : c.held == Held::f16 ? " f16"
                               : "",
         long(data.queries), long(data.keys), what.c_str());
}

void check(const Case &c, const Target &isa) {
  ParsedKernel parsed(c.text());
  mille_kernel_function kernel = load(parsed, isa, RowClass::many),
                        few = load(parsed, isa, RowClass::few),
                        join = load(parsed, isa, RowClass::join);
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1},
                               {5, 5},
                               {3, 17},
                               {33, 100},
                               {20, 131},
                               {19, 1290}}) {
    Data data(c, queries, keys);
    resetScratch();
    expect(data.run(kernel, 0, queries) == 0, data, "status");
    uint64_t given =
        parsed.info.scratchBytes + parsed.info.scratchBytesPerToken * keys;
    expect(peakScratch() <= given, data,
           "scratch " + std::to_string(peakScratch()) + " of " +
               std::to_string(given));
    double error = data.worst();
    expect(error < c.bound(), data, "error " + std::to_string(error));
    std::vector<float> together(data.out.data(),
                                data.out.data() + data.out.size());
    for (int64_t i = 0; i < queries; i += 1 + i % 3)
      data.run(kernel, i, std::min(queries, i + 1 + i % 3));
    expect(memcmp(together.data(), data.out.data(), together.size() * 4) == 0,
           data, "other bits row by row");
    const int64_t most = parsed.info.partRows;
    std::fill_n(data.out.data(), data.out.size(), NAN);
    resetScratch();
    for (int64_t i = 0, rows = 1; i < queries; i += rows, rows = i % most + 1)
      expect(data.runParts(few, join, i, std::min(queries, i + rows)) == 0,
             data, "status of parts");
    expect(peakScratch() <= given, data,
           "scratch of parts " + std::to_string(peakScratch()) + " of " +
               std::to_string(given));
    expect(memcmp(together.data(), data.out.data(), together.size() * 4) == 0,
           data, "other bits in parts");
  }
}

} // namespace

int main(int argc, char **argv) {
  const Target &isa = isaToTest(argc, argv);
  Turns turns(argc, argv);
  auto judge = [&](const Case &c) {
    if (turns.takesNext())
      check(c, isa);
  };
  for (Held held : {Held::f32, Held::bf16, Held::f16, Held::bytes}) {
    judge({"three of a key head", 9, 3, 64, 64, held, true});
    judge({"odd", 6, 2, held == Held::bytes ? 20 : 5, 7, held, false, 9});
    judge({"two panels", 4, 2, 32, 128, held, true, 40});
    judge({"sinks", 4, 2, 16, 32, held, true, 0, true});
    if (held == Held::bytes)
      continue;
    judge({"held once", 8, 1, 192, 128, held, true, 0, false, true});
    judge({"odd, held once", 3, 1, 22, 12, held, true, 9, true, true});
    judge({"a part of a panel", 2, 1, 128, 96, held, false, 0, false, true});
    judge({"alone", 2, 2, 8, 24, held, false});
    judge({"seven of a key head", 7, 1, 16, 80, held, true});
  }
  printf("%d failures\n", failures);
  return failures != 0;
}

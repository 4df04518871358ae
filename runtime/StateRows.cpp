// The runtime's steps that write states: rows of the run go behind those that
// a state holds, as rows, in panels, or in panels of bytes.
// Must not read a row that `past` does not count.
#include "runtime/Backend.h"
#include "runtime/StatePanels.h"
#include "runtime/States.h"

#include <string.h>

namespace mille {
namespace {

// The run's rows that each sequence has room for: `each` gets the sequence, the
// first row of the run, the first row of the state, and how many there are.
// `dropped`: how many of a sequence's rows a state with a window has dropped;
// null: none.
template <typename Each>
void eachSequence(mille_run *run, const int32_t *past, int64_t stateRows,
                  const int32_t *dropped, int64_t tokens, const Each &each) {
  mille_session &session = sessionOf(run);
  if (session.planning || session.stopped())
    return;
  Sequences own = sequencesOf(run, tokens);
  for (int64_t s = 0; s < own.batch; ++s) {
    int64_t first = (past ? past[s] : 0) + own.before(s) -
                    (dropped ? dropped[s] : 0),
            room = stateRows - first;
    each(s, own.first(s), first, own.rows(s) < room ? own.rows(s) : room);
  }
}

// The input's rows of heads, and the rows of a sequence's state.
struct Heads {
  int64_t stride, heads, size, stateRows;
  const int32_t *dropped = nullptr; // of each sequence, where there are windows
  StateRuns *runs = nullptr;        // null: each sequence's rows are its own

  void findRows(const mille_session &session, const void *state) {
    runs = runsOf(session, state);
    if (!isWindow(session, state))
      return;
    stateRows = session.windows.rows;
    dropped = session.windows.first;
  }
  // The sequence in whose memory a row is.
  int64_t ownerOf(int64_t sequence, int64_t row) const {
    return runs ? runs->ownerOf(sequence, row / runRows) : sequence;
  }
  // Where a head's rows begin in the memory in which this row of it is.
  int64_t headAt(int64_t sequence, int64_t row, int64_t head,
                 int64_t rowElements) const {
    return (ownerOf(sequence, row) * heads + head) * rowElements * stateRows;
  }
  // Before a run of the program writes these rows.
  void holdAlone(mille_session &session, int64_t sequence, int64_t row,
                 int64_t rows) const {
    for (int64_t r = row / runRows; runs && r * runRows < row + rows; ++r)
      mille::holdAlone(session, *runs, sequence, r, row - r * runRows);
  }
};

// Scatters rows of heads into panels; Element has the bytes of an element.
template <typename Element> struct PanelWriter : Heads {
  const Element *input;
  Element *entry;

  void writeKey(int64_t sequence, int64_t from, int64_t row) const {
    const int64_t pair = mille_key_pair(sizeof(Element), size);
    for (int64_t h = 0; h < heads; ++h) {
      const Element *key = input + from * stride + h * size;
      Element *to = entry + headAt(sequence, row, h, size) +
                    mille_key_place(row, 0, size, pair);
      // Elements of a pair are neighbours, pairs a panel's row apart.
      for (int64_t d = 0; d < size; d += pair)
        if (pair == 2)
          memcpy(to + d * MILLE_PANEL_ROWS, key + d, 2 * sizeof *to);
        else
          to[d * MILLE_PANEL_ROWS] = key[d];
    }
  }
  // `last`: the next row is not written by this run.
  void writeValue(int64_t sequence, int64_t from, int64_t row,
                  bool last) const {
    const int64_t pair = mille_value_pair(sizeof(Element));
    const bool alone = last && row % pair + 1 < pair;
    const int64_t columns = mille_panel_columns(size);
    for (int64_t h = 0; h < heads; ++h) {
      const Element *value = input + from * stride + h * size;
      Element *head = entry + headAt(sequence, row, h, size);
      for (int64_t d = 0; d < size; d += columns)
        writeColumns(head + mille_value_place(row, d, size, pair, stateRows),
                     value + d, columns, pair, alone);
    }
  }

private:
  // A panel's columns of a row, `pair` apart; `alone`: with zeros between.
  static void writeColumns(Element *to, const Element *value, int64_t columns,
                           int64_t pair, bool alone) {
    if (alone)
      for (int64_t d = 0; d < columns; ++d) {
        to[2 * d] = value[d];
        to[2 * d + 1] = 0;
      }
    else if (pair == 2)
      for (int64_t d = 0; d < columns; ++d)
        to[2 * d] = value[d];
    else
      memcpy(to, value, columns * sizeof *to);
  }
};

// The run's rows, by a writer of keys and values.
template <typename Writer>
void writeRows(mille_run *run, const Writer &writer, bool keys,
               const int32_t *past, int64_t tokens) {
  eachSequence(run, past, writer.stateRows, writer.dropped, tokens,
               [&](int64_t s, int64_t from, int64_t row, int64_t rows) {
                 if (rows > 0)
                   writer.holdAlone(sessionOf(run), s, row, rows);
                 for (int64_t m = 0; m < rows; ++m)
                   keys
                       ? writer.writeKey(s, from + m, row + m)
                       : writer.writeValue(s, from + m, row + m, m + 1 == rows);
               });
}

// The largest integer of a row in bytes, and what is added to x so that the low
// bits of the sum are x as an integer, to nearest.
constexpr float mostOfRow = 127;
constexpr float integerShifter = 3 << 22;
constexpr int32_t shifterBits = 0x4b400000, keyOffset = 128;
constexpr uint32_t infinity = 0x7f800000, leastNormal = 0x00800000;

float floatOf(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
uint32_t bitsOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
float numberOf(const float *at) { return *at; }
float numberOf(const uint16_t *at) { return floatOf((uint32_t)*at << 16); }

// A row of a head as integers from -127 to 127 and their step. The step is NaN
// where the row holds a number that is not finite: whoever sees the row then
// sees that.
constexpr int64_t rowPart = 64;
template <typename Element> struct RoundedRow {
  const Element *row;
  int64_t size;
  float step, inverse;

  RoundedRow(const Element *row, int64_t size) : row(row), size(size) {
    uint32_t most = 0;
    for (int64_t d = 0; d < size; ++d) {
      const uint32_t bits = bitsOf(numberOf(row + d)) & 0x7fffffff;
      most = bits > most ? bits : most;
    }
    step = most >= infinity ? floatOf(0x7fc00000) : floatOf(most) / mostOfRow;
    const bool counts = most < infinity && bitsOf(step) >= leastNormal;
    inverse = counts ? 1 / step : 0;
  }
  // Integers of columns `first` to `first` + `count` - 1, at most rowPart.
  void round(int64_t first, int64_t count, int32_t offset, uint8_t *to) const {
    if (inverse == 0) { // the row may hold NaN
      memset(to, offset, count);
      return;
    }
    for (int64_t d = 0; d < count; ++d) {
      const float x = numberOf(row + first + d) * inverse + integerShifter;
      to[d] = (uint8_t)((int32_t)bitsOf(x) - shifterBits + offset);
    }
  }
};

// The same in bytes; Element is the input's.
template <typename Element> struct ByteWriter : Heads {
  const Element *input;
  uint8_t *entry;

  void writeKey(int64_t sequence, int64_t from, int64_t row) const {
    for (int64_t h = 0; h < heads; ++h) {
      uint8_t *head = entry + headAt(sequence, row, h, mille_row_bytes(size));
      const RoundedRow<Element> key(input + from * stride + h * size, size);
      uint8_t part[rowPart];
      for (int64_t d = 0; d < size; d += rowPart) {
        const int64_t count = size - d < rowPart ? size - d : rowPart;
        key.round(d, count, keyOffset, part);
        for (int64_t i = 0; i < count; i += MILLE_KEY_GROUP)
          memcpy(head + mille_key_byte(row, d + i, size), part + i,
                 MILLE_KEY_GROUP);
      }
      memcpy(head + mille_key_step(row, size), &key.step, MILLE_STEP_BYTES);
    }
  }
  // The other row of a pair may hold any integers: its weight is 0.
  void writeValue(int64_t sequence, int64_t from, int64_t row, bool) const {
    for (int64_t h = 0; h < heads; ++h) {
      uint8_t *head = entry + headAt(sequence, row, h, mille_row_bytes(size));
      const RoundedRow<Element> value(input + from * stride + h * size, size);
      memcpy(head + mille_value_step(row), &value.step, MILLE_STEP_BYTES);
      uint8_t part[rowPart];
      for (int64_t d = 0; d < size; d += rowPart) {
        const int64_t count = size - d < rowPart ? size - d : rowPart;
        value.round(d, count, 0, part);
        for (int64_t i = 0; i < count; ++i)
          head[mille_value_byte(row, d + i, size, stateRows)] = part[i];
      }
    }
  }
};

// An f16, to nearest, ties to even. Numbers of more than 65504 become that, so
// that no key becomes infinite; what is not finite stays so.
uint16_t halfOf(float x) {
  const uint32_t bits = bitsOf(x), size = bits & 0x7fffffff;
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  constexpr uint32_t most = 0x477fe000, least = 0x38800000, half = 0x3f000000;
  if (size >= infinity)
    return sign | (size > infinity ? 0x7e00 : 0x7c00);
  if (size >= most)
    return sign | 0x7bff;
  if (size < least) // the sum's last bit is that of the smallest f16
    return sign | (uint16_t)(bitsOf(floatOf(size) + floatOf(half)) - half);
  return sign |
         (uint16_t)((size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}

// The same in f16: rows in lanes for keys, columns for values.
template <typename Element> struct HalfWriter : Heads {
  const Element *input;
  uint16_t *entry;

  template <typename Place>
  void write(int64_t sequence, int64_t from, int64_t row,
             const Place &place) const {
    for (int64_t h = 0; h < heads; ++h) {
      const Element *numbers = input + from * stride + h * size;
      uint16_t *head = entry + headAt(sequence, row, h, size);
      for (int64_t d = 0; d < size; ++d)
        head[place(d)] = halfOf(numberOf(numbers + d));
    }
  }
  void writeKey(int64_t sequence, int64_t from, int64_t row) const {
    write(sequence, from, row,
          [&](int64_t d) { return mille_key_place(row, d, size, /*pair=*/1); });
  }
  void writeValue(int64_t sequence, int64_t from, int64_t row, bool) const {
    write(sequence, from, row, [&](int64_t d) {
      return mille_value_place(row, d, size, /*pair=*/1, stateRows);
    });
  }
};

// Where the session is on a device, whole numbers are remembered by the host
// too. True where nothing is left to do.
bool rememberedOnDevice(mille_run *run, const Remember &what) {
  return doneOnDevice(sessionOf(run), &mille_backend::remember, what) &&
         DeviceStates::isApart(what.entry);
}

// Writes rows of f32, or of bf16 where elements have two bytes.
template <template <typename From> class Writer, typename To>
void writeFrom(mille_run *run, Heads own, const void *input,
               int64_t elementBytes, bool keys, const int32_t *past,
               int64_t tokens, To *entry) {
  own.findRows(sessionOf(run), entry);
  if (elementBytes == 2)
    return writeRows(run, Writer<uint16_t>{own, (const uint16_t *)input, entry},
                     keys, past, tokens);
  writeRows(run, Writer<float>{own, (const float *)input, entry}, keys, past,
            tokens);
}

} // namespace
} // namespace mille

using namespace mille;

extern "C" {

void mille_remember(mille_run *run, const void *input, int64_t input_stride,
                    int64_t row_bytes, const int32_t *past, int64_t state_rows,
                    int64_t tokens, void *entry) {
  const int64_t rows = tokens == MILLE_RUN_TOKENS ? run->tokens : tokens;
  if (rememberedOnDevice(run, {input, input_stride, row_bytes, past, run->batch,
                               rows, state_rows, entry}))
    return;
  eachSequence(run, past, state_rows, nullptr, tokens,
               [&](int64_t s, int64_t from, int64_t row, int64_t rows) {
                 char *to = (char *)entry + (s * state_rows + row) * row_bytes;
                 for (int64_t m = 0; m < rows; ++m)
                   memcpy(to + m * row_bytes,
                          (const char *)input + (from + m) * input_stride,
                          row_bytes);
               });
}

void mille_remember_panels(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           int64_t tokens, void *entry) {
  if (sessionOf(run).part) { // which has rows in place of panels
    mille_remember(run, input, input_stride * element_bytes,
                   heads * size * element_bytes, past, state_rows, tokens,
                   entry);
    return;
  }
  Heads own = {input_stride, heads, size, state_rows};
  own.findRows(sessionOf(run), entry);
  if (element_bytes == 2)
    return writeRows(
        run,
        PanelWriter<uint16_t>{own, (const uint16_t *)input, (uint16_t *)entry},
        keys, past, tokens);
  writeRows(
      run,
      PanelWriter<uint32_t>{own, (const uint32_t *)input, (uint32_t *)entry},
      keys, past, tokens);
}

void mille_remember_bytes(mille_run *run, const void *input,
                          int64_t input_stride, int32_t keys, int64_t heads,
                          int64_t size, int64_t element_bytes,
                          const int32_t *past, int64_t state_rows,
                          int64_t tokens, void *entry) {
  writeFrom<ByteWriter>(run, {input_stride, heads, size, state_rows}, input,
                        element_bytes, keys, past, tokens, (uint8_t *)entry);
}

void mille_remember_halves(mille_run *run, const void *input,
                           int64_t input_stride, int32_t keys, int64_t heads,
                           int64_t size, int64_t element_bytes,
                           const int32_t *past, int64_t state_rows,
                           int64_t tokens, void *entry) {
  writeFrom<HalfWriter>(run, {input_stride, heads, size, state_rows}, input,
                        element_bytes, keys, past, tokens, (uint16_t *)entry);
}

void mille_positions(mille_run *run, const int32_t *past, int64_t rows,
                     int32_t *out) {
  HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  Sequences own = sequencesOf(run, MILLE_RUN_TOKENS);
  for (int64_t s = 0; s < own.batch; ++s)
    for (int64_t t = 0; t < own.rows(s); ++t)
      out[own.first(s) + t] = past[s] + (int32_t)(own.before(s) + t);
  host.give();
}
}

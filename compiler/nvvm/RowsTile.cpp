// How threads share rows, and what kernels of rows are declined.
// Must not write code.
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/RowsPart.h"

#include <algorithm>

namespace mille::nvvm {

namespace {

// A block's threads, where a part needs no more.
constexpr unsigned usualThreads = 256;
constexpr int64_t usualColumns = 8; // of a thread
// Columns of a thread where nothing is normed.
constexpr int64_t pieceColumns = 16;
} // namespace

std::vector<Part> partsOf(const KernelSpec &spec) {
  std::vector<Part> parts = {{spec.rows, spec.out, spec.written,
                              std::vector<int>(spec.rows.inputs.size(), -1)}};
  for (const JoinedRows &joined : spec.joined)
    parts.push_back({joined.rows, joined.out, joined.written, joined.sources});
  return parts;
}

bool isElement(const Part &part, size_t input) {
  const RowsSpec &s = part.rows;
  return part.sources[input] < 0 &&
         (s.gather[input] >= 0 || s.inputs[input].reading == Reading::element);
}

namespace {

// The largest power of two that divides columns and strides, up to 16 bytes.
unsigned vectorOf(const KernelSpec &spec, int64_t group) {
  int64_t vector = 16 / bytesOf(spec.outs().front().element);
  auto divide = [&](const BufferSpec &buffer) {
    vector = std::min(vector, 16 / bytesOf(buffer.element));
    while (buffer.rowStride % vector)
      vector /= 2;
  };
  while (spec.rows.columns % vector || group % vector)
    vector /= 2;
  for (const BufferSpec &out : spec.outs())
    divide(out);
  for (const Part &part : partsOf(spec))
    for (size_t i = 0; i < part.rows.inputs.size(); ++i)
      if (isElement(part, i))
        divide(part.rows.inputs[i]);
  return unsigned(vector);
}

// The columns that are normed together; 0: no norm.
int64_t groupOf(const KernelSpec &spec) {
  for (const Part &part : partsOf(spec))
    if (isNormed(part.rows))
      return part.rows.group;
  return 0;
}

int64_t powerOfTwo(int64_t least) {
  int64_t power = 1;
  while (power < least)
    power *= 2;
  return power;
}

int64_t over(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

RowsTile::RowsTile(const KernelSpec &spec) {
  const RowsSpec &s = spec.rows;
  const bool normed = groupOf(spec) > 0;
  columns = normed ? groupOf(spec) : s.columns;
  vector = vectorOf(spec, columns);
  if (!normed)
    columns = std::min<int64_t>(columns, usualThreads * pieceColumns);
  parts = over(s.columns, columns);
  const int64_t each = normed ? usualColumns : pieceColumns;
  threads = unsigned(std::min(powerOfTwo(over(columns, each)), mostThreads));
  // Neighbours read side by side.
  threads = std::max(threads, unsigned(std::min<int64_t>(
                                  powerOfTwo(over(columns, vector)), 32)));
  steps = unsigned(over(columns, int64_t(vector) * threads));
  together = std::max(1u, usualThreads / threads);
}

std::string wordsOf(const RowsTile &tile) {
  return std::to_string(tile.threads) + " threads for " +
         std::to_string(tile.columns) + " columns, " +
         std::to_string(tile.vector) + " at a time";
}

static std::string whyNotPart(const Part &part) {
  const RowsSpec &s = part.rows;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    if (!isFloat(s.inputs[i].element))
      return "input " + std::to_string(i) + " holds integers";
    if (s.gather[i] >= 0 && s.inputs[i].rows < 0)
      return "input " + std::to_string(i) +
             " is gathered from as many rows as a run has";
  }
  if (!isFloat(part.out.element))
    return "the out holds integers";
  if (s.norm != RowStatistic::none && s.group > mostNormed)
    return std::to_string(s.group) +
           " columns are normed together but registers hold " +
           std::to_string(mostNormed);
  return whyNoRegion(s.body);
}

std::string whyNotRows(const KernelSpec &spec) {
  const std::vector<Part> parts = partsOf(spec);
  unsigned norms = 0;
  for (const Part &part : parts) {
    if (std::string why = whyNotPart(part); !why.empty())
      return why;
    norms += isNormed(part.rows);
    if (part.rows.columns != spec.rows.columns)
      return "joined rows have other columns";
    for (int source : part.sources)
      if (source >= 0 && isHalf(parts[source].out.element))
        return "joined rows read a rounded out";
  }
  return norms > 1 ? "it has two norms" : "";
}

} // namespace mille::nvvm

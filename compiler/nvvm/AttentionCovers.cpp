// What the attention generator makes, and why it leaves the rest. Must not look
// at tiles.
#include "compiler/nvvm/Attention.h"
#include "compiler/nvvm/StateAttention.h"

namespace mille::nvvm {

using Optional = AttentionOperand;

// Tensor maps take heads that begin at multiples of 16 bytes.
static std::string whyNotHeads(const char *name, const BufferSpec &buffer,
                               int64_t size, int64_t offset) {
  const std::string of = std::string(name) + " ";
  if (size % 8)
    return of + "has heads of " + std::to_string(size) +
           " columns but copies move 8 at a time";
  if (size > 256)
    return of + "has heads of " + std::to_string(size) +
           " columns but registers hold 256";
  if (buffer.rowStride * bytesOf(buffer.element) % 16)
    return of + "has rows of " + std::to_string(buffer.rowStride) +
           " elements but copies move 16 bytes at a time";
  if (offset % size)
    return of + "begins at column " + std::to_string(offset) +
           " but its heads have " + std::to_string(size);
  return "";
}

static std::string whyNotRotation(const AttentionSpec &s) {
  const BufferSpec &table = *s[Optional::rotation];
  if (s.angles() % 4 || s.start % 4 || table.rowStride % 4)
    return "RoPE turns " + std::to_string(s.angles()) + " pairs from column " +
           std::to_string(s.start) + " but 4 are turned at a time";
  if (table.element != Element::f32)
    return "RoPE's table is not f32";
  return "";
}

static std::string whyNotByParts(const AttentionSpec &s) {
  if (s.has(Optional::rotation))
    return "RoPE of f32 is not in the kernel of attention";
  if (s.valueDim > 192 && s.valueDim != 256)
    return "values of f32 have " + std::to_string(s.valueDim) +
           " columns but a group of threads sums up to 192, or two groups 128 "
           "each";
  return "";
}

std::string whyNotAttention(const KernelSpec &spec) {
  const AttentionSpec &s = spec.attention;
  if (s.decay)
    return "linear attention adds up products in order";
  if (!isFloat(s.query.element))
    return "the query is no float";
  if (s.has(Optional::contentQuery) || s.has(Optional::contentKey))
    return "scores have a term by content and distance";
  struct Heads {
    const char *name;
    const BufferSpec &buffer;
    int64_t size, offset;
  };
  for (const Heads &of :
       {Heads{"the query", s.query, s.headDim, s.queryOffset},
        Heads{"the key", s.key, s.headDim, s.keyOffset},
        Heads{"the value", s.value, s.valueDim, s.valueOffset},
        Heads{"the out", spec.out, s.valueDim, 0}}) {
    if (of.buffer.element != s.query.element)
      return std::string(of.name) + " is of another type than the query";
    std::string why = whyNotHeads(of.name, of.buffer, of.size, of.offset);
    if (!why.empty())
      return why;
  }
  if (s.past)
    return isHalf(s.query.element) ? whyNotStateAttention(spec)
                                   : "keys of a state are f32";
  if (s.query.element == Element::f32)
    return whyNotByParts(s);
  return s.has(Optional::rotation) ? whyNotRotation(s) : "";
}

} // namespace mille::nvvm

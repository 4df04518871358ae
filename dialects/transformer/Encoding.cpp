// The table of encodings, in the order of the enum.
#include "dialects/transformer/Encoding.h"
#include "llvm/Support/MathExtras.h"

using namespace mille;

namespace {

struct Entry {
  Encoding encoding;
  llvm::StringRef name;
  int64_t length, bytes; // of a block
};

// A block of 32 has a scale (2 bytes), with _1 a least value (2); one of 256
// has a scale, with minima two, and those of its parts in 6 bits or 8.
constexpr Entry entries[] = {{Encoding::f64, "F64", 1, 8},
                             {Encoding::f32, "F32", 1, 4},
                             {Encoding::f16, "F16", 1, 2},
                             {Encoding::bf16, "BF16", 1, 2},
                             {Encoding::i64, "I64", 1, 8},
                             {Encoding::i32, "I32", 1, 4},
                             {Encoding::i16, "I16", 1, 2},
                             {Encoding::i8, "I8", 1, 1},
                             {Encoding::u8, "U8", 1, 1},
                             {Encoding::boolean, "BOOL", 1, 1},
                             {Encoding::q4_0, "Q4_0", 32, 2 + 16},
                             {Encoding::q4_1, "Q4_1", 32, 4 + 16},
                             {Encoding::q5_0, "Q5_0", 32, 2 + 4 + 16},
                             {Encoding::q5_1, "Q5_1", 32, 4 + 4 + 16},
                             {Encoding::q8_0, "Q8_0", 32, 2 + 32},
                             {Encoding::iq4_nl, "IQ4_NL", 32, 2 + 16},
                             {Encoding::mxfp4, "MXFP4", 32, 1 + 16},
                             {Encoding::q2_k, "Q2_K", 256, 16 + 64 + 4},
                             {Encoding::q3_k, "Q3_K", 256, 32 + 64 + 12 + 2},
                             {Encoding::q4_k, "Q4_K", 256, 4 + 12 + 128},
                             {Encoding::q5_k, "Q5_K", 256, 4 + 12 + 32 + 128},
                             {Encoding::q6_k, "Q6_K", 256, 128 + 64 + 16 + 2},
                             {Encoding::iq4_xs, "IQ4_XS", 256, 4 + 4 + 128}};

constexpr bool inOrder() {
  unsigned at = 0;
  for (const Entry &entry : entries)
    if (unsigned(entry.encoding) != at++)
      return false;
  return at == transformer::getMaxEnumValForEncoding() + 1;
}
static_assert(inOrder());

constexpr Encoding multiplied[] = {
    Encoding::q8_0, Encoding::q6_k,   Encoding::q5_k,   Encoding::q5_1,
    Encoding::q5_0, Encoding::iq4_xs, Encoding::iq4_nl, Encoding::q4_k,
    Encoding::q4_1, Encoding::q4_0,   Encoding::mxfp4};

} // namespace

llvm::StringRef mille::nameOf(Encoding encoding) {
  return entries[unsigned(encoding)].name;
}

std::optional<Encoding> mille::encodingNamed(llvm::StringRef name) {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return entry.encoding;
  return std::nullopt;
}

int64_t mille::blockLength(Encoding encoding) {
  return entries[unsigned(encoding)].length;
}

int64_t mille::blockBytes(Encoding encoding) {
  return entries[unsigned(encoding)].bytes;
}

mille::BlockForm mille::blockFormOf(Encoding encoding) {
  switch (encoding) {
  case Encoding::q8_0:
    return {"q8_0", 8, 128};
  case Encoding::q5_0:
    return {"q5_0", 5, 16};
  case Encoding::q4_0:
    return {"q4_0", 4, 8};
  case Encoding::q5_1:
    return {"q5_1", 5, 0, /*hasLeast=*/true};
  case Encoding::q4_1:
    return {"q4_1", 4, 0, /*hasLeast=*/true};
  case Encoding::q6_k:
    return {"q6_k", 6, 32, /*hasLeast=*/false, /*parts=*/2, /*blocks=*/8};
  case Encoding::q5_k:
    return {"q5_k", 5, 0, /*hasLeast=*/true, /*parts=*/1, /*blocks=*/8};
  case Encoding::q4_k:
    return {"q4_k", 4, 0, /*hasLeast=*/true, /*parts=*/1, /*blocks=*/8};
  case Encoding::iq4_nl:
    return {"iq4_nl", 4, 127};
  case Encoding::iq4_xs:
    return {"iq4_xs", 4, 127, /*hasLeast=*/false, /*parts=*/1, /*blocks=*/8};
  case Encoding::mxfp4:
    return {"mxfp4", 4, 12};
  default:
    return {};
  }
}

llvm::ArrayRef<mille::Encoding> mille::multipliedEncodings() {
  return multiplied;
}

std::string mille::multipliedNames() {
  std::string names;
  for (Encoding encoding : multiplied)
    names += (names.empty()                          ? ""
              : encoding == std::end(multiplied)[-1] ? " or "
                                                     : ", ") +
             transformer::stringifyEncoding(encoding).str();
  return names;
}

std::optional<int64_t> mille::bytesOfRow(Encoding encoding, int64_t numbers) {
  int64_t bytes;
  if (numbers < 0 || numbers % blockLength(encoding) ||
      llvm::MulOverflow(numbers / blockLength(encoding), blockBytes(encoding),
                        bytes))
    return std::nullopt;
  return bytes;
}

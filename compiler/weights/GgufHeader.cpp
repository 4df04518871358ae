// Reads the container of GGUF. Must compare every length with the rest of the
// file, and check every sum and product, before it reads anything there.
#include "compiler/weights/GgufHeader.h"
#include "compiler/weights/Elements.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mille;
using llvm::StringRef;
using llvm::Twine;

namespace {

// Limits that no model reaches; they bound the memory for a header.
constexpr uint64_t mostKeys = 1 << 16, mostTensors = 1 << 18;
constexpr uint64_t longestName = 1 << 12;
constexpr uint32_t mostExtents = 4;

// Tensor types by number. Those without an encoding are not supported.
struct TypeName {
  uint32_t number;
  StringRef name;
  std::optional<Encoding> encoding = {};
};
constexpr TypeName typeNames[] = {{0, "F32", Encoding::f32},
                                  {1, "F16", Encoding::f16},
                                  {2, "Q4_0", Encoding::q4_0},
                                  {3, "Q4_1", Encoding::q4_1},
                                  {6, "Q5_0", Encoding::q5_0},
                                  {7, "Q5_1", Encoding::q5_1},
                                  {8, "Q8_0", Encoding::q8_0},
                                  {9, "Q8_1"},
                                  {10, "Q2_K", Encoding::q2_k},
                                  {11, "Q3_K", Encoding::q3_k},
                                  {12, "Q4_K", Encoding::q4_k},
                                  {13, "Q5_K", Encoding::q5_k},
                                  {14, "Q6_K", Encoding::q6_k},
                                  {15, "Q8_K"},
                                  {16, "IQ2_XXS"},
                                  {17, "IQ2_XS"},
                                  {18, "IQ3_XXS"},
                                  {19, "IQ1_S"},
                                  {20, "IQ4_NL", Encoding::iq4_nl},
                                  {21, "IQ3_S"},
                                  {22, "IQ2_S"},
                                  {23, "IQ4_XS", Encoding::iq4_xs},
                                  {24, "I8", Encoding::i8},
                                  {25, "I16", Encoding::i16},
                                  {26, "I32", Encoding::i32},
                                  {27, "I64", Encoding::i64},
                                  {28, "F64", Encoding::f64},
                                  {29, "IQ1_M"},
                                  {30, "BF16", Encoding::bf16},
                                  {34, "TQ1_0"},
                                  {35, "TQ2_0"},
                                  {39, "MXFP4", Encoding::mxfp4},
                                  {40, "NVFP4"}};

std::string listOfTypes() {
  std::string list;
  for (const TypeName &known : typeNames)
    if (known.encoding)
      list += (list.empty() ? "" : ", ") + known.name.str();
  return list;
}

} // namespace

uint64_t mille::bytesOf(GgufType type) {
  constexpr uint64_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[unsigned(type)];
}

bool GgufHeader::have(uint64_t size, const Twine &what) {
  if (size <= bytes.size() - next)
    return true;
  error() << what << " takes " << size << " bytes from byte " << next
          << " on but the file has " << bytes.size();
  return false;
}

template <typename Number>
bool GgufHeader::take(Number &number, const Twine &what) {
  if (!have(sizeof(Number), what))
    return false;
  number = loadAs<Number>(bytes.data() + next);
  next += sizeof(Number);
  return true;
}

bool GgufHeader::takeText(StringRef &text, uint64_t most, const Twine &what) {
  uint64_t length;
  if (!take(length, "the length of " + what))
    return false;
  if (length > most) {
    error() << what << " has " << length << " bytes but at most " << most
            << " are read";
    return false;
  }
  if (!have(length, what))
    return false;
  text = bytes.substr(next, length);
  next += length;
  return true;
}

bool GgufHeader::takeCounts(uint64_t &tensors, uint64_t &keys) {
  uint32_t magic, version;
  if (!take(magic, "the file's first word") ||
      !take(version, "the file's version"))
    return false;
  if (version == llvm::byteswap(uint32_t(2)) ||
      version == llvm::byteswap(uint32_t(3))) {
    error() << "the file's numbers are big-endian but only little-endian files "
               "are read";
    return false;
  }
  if (version != 2 && version != 3) {
    error() << "the file is of GGUF version " << version
            << " but versions 2 and 3 are read";
    return false;
  }
  if (!take(tensors, "the number of tensors") ||
      !take(keys, "the number of keys"))
    return false;
  if (tensors > mostTensors || keys > mostKeys) {
    error() << "the file has " << tensors << " tensors and " << keys
            << " keys but at most " << mostTensors << " and " << mostKeys
            << " are read";
    return false;
  }
  return true;
}

bool GgufHeader::takeArray(GgufKey &key) {
  const std::string what = "key '" + escaped(key.name) + "'";
  uint32_t type;
  if (!take(type, "the type of " + what) ||
      !take(key.count, "the length of " + what))
    return false;
  key.entries = GgufType(type);
  if (type > uint32_t(GgufType::f64) || key.entries == GgufType::array) {
    error() << what << " is an array of type " << type
            << " but entries of arrays are of a type from 0 to 12 and not 9";
    return false;
  }
  key.at = bytes.data() + next;
  if (key.entries == GgufType::text) {
    StringRef entry;
    for (uint64_t i = 0; i < key.count; ++i)
      if (!takeText(entry, bytes.size(), "an entry of " + what))
        return false;
    return true;
  }
  bool overflows;
  const uint64_t size =
      llvm::SaturatingMultiply(key.count, bytesOf(key.entries), &overflows);
  if (overflows) {
    error() << what << " has " << key.count
            << " entries, whose size does not fit 64 bits";
    return false;
  }
  if (!have(size, what))
    return false;
  next += size;
  return true;
}

bool GgufHeader::takeValue(GgufKey &key) {
  const std::string what = "key '" + escaped(key.name) + "'";
  uint32_t type;
  if (!take(type, "the type of " + what))
    return false;
  if (type > uint32_t(GgufType::f64)) {
    error() << what << " is of type " << type << " but types are 0 to 12";
    return false;
  }
  key.type = GgufType(type);
  if (key.type == GgufType::array)
    return takeArray(key);
  key.at = bytes.data() + next;
  if (key.type == GgufType::text) {
    StringRef value;
    return takeText(value, bytes.size(), what);
  }
  if (!have(bytesOf(key.type), what))
    return false;
  next += bytesOf(key.type);
  if (key.type == GgufType::boolean && uint8_t(*key.at) > 1) {
    error() << what << " is true or false but its byte is "
            << unsigned(uint8_t(*key.at));
    return false;
  }
  return true;
}

bool GgufHeader::takeKey(GgufKey &key, uint64_t number) {
  return takeText(key.name, longestName, "the name of key " + Twine(number)) &&
         takeValue(key);
}

bool GgufHeader::takeAlignment(llvm::ArrayRef<GgufKey> keys) {
  for (const GgufKey &key : keys) {
    if (key.name != "general.alignment")
      continue;
    if (key.type != GgufType::u32) {
      error() << "general.alignment is of type " << unsigned(key.type)
              << " but must be a u32, type 4";
      return false;
    }
    alignment = loadAs<uint32_t>(key.at);
    if (!llvm::isPowerOf2_64(alignment)) {
      error() << "general.alignment is " << alignment
              << " but must be a power of 2";
      return false;
    }
  }
  return true;
}

bool GgufHeader::takeShape(StoredTensor &tensor) {
  const std::string what = "tensor '" + escaped(tensor.name) + "'";
  uint32_t rank;
  if (!take(rank, "the rank of " + what))
    return false;
  if (rank > mostExtents) {
    error() << what << " has " << rank << " extents but at most " << mostExtents
            << " are read";
    return false;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    uint64_t extent;
    if (!take(extent, "an extent of " + what))
      return false;
    if (extent < 1 || extent > uint64_t(INT64_MAX)) {
      error() << what << " has extent " << extent
              << " but extents are whole numbers from 1 to "
              << uint64_t(INT64_MAX);
      return false;
    }
    tensor.shape.push_back(int64_t(extent));
  }
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  return true;
}

// Reads a tensor's type and computes its size in bytes.
bool GgufHeader::takeType(StoredTensor &tensor, uint64_t &size) {
  const std::string what = "tensor '" + escaped(tensor.name) + "'";
  uint32_t number;
  if (!take(number, "the type of " + what))
    return false;
  const TypeName *type = llvm::find_if(
      typeNames, [&](const TypeName &t) { return t.number == number; });
  const bool known = type != std::end(typeNames);
  if (!known || !type->encoding) {
    error() << what << " is of type "
            << (known ? type->name.str() : std::to_string(number))
            << " but Mille reads " << listOfTypes();
    return false;
  }
  tensor.type = *type->encoding;
  const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  std::optional<int64_t> rowBytes = bytesOfRow(tensor.type, row);
  if (!rowBytes && row % blockLength(tensor.type)) {
    error() << what << " has rows of " << row << " numbers but a block of "
            << type->name << " has " << blockLength(tensor.type);
    return false;
  }
  int64_t whole = rowBytes.value_or(0);
  bool fits = rowBytes.has_value();
  for (int64_t extent :
       llvm::ArrayRef(tensor.shape).drop_back(tensor.shape.empty() ? 0 : 1))
    fits = fits && !llvm::MulOverflow(whole, extent, whole);
  // The number of decoded f32 numbers must fit as well.
  int64_t numbers = 8;
  for (int64_t extent : tensor.shape)
    fits = fits && !llvm::MulOverflow(numbers, extent, numbers);
  if (!fits) {
    error() << what << " has shape " << shapeText(tensor.shape)
            << ", whose size does not fit 64 bits";
    return false;
  }
  size = uint64_t(whole);
  return true;
}

bool GgufHeader::takeTensor(StoredTensor &tensor, uint64_t &offset,
                            uint64_t number) {
  StringRef name;
  uint64_t size;
  if (!takeText(name, longestName, "the name of tensor " + Twine(number)))
    return false;
  tensor.name = name.str();
  if (!takeShape(tensor) || !takeType(tensor, size) ||
      !take(offset, "the offset of tensor '" + escaped(name) + "'"))
    return false;
  if (offset % alignment) {
    error() << "tensor '" << escaped(name) << "' begins at byte " << offset
            << " of the data but must begin at a multiple of "
            << "general.alignment, which is " << alignment;
    return false;
  }
  tensor.bytes = {nullptr,
                  size_t(size)}; // placed when the data's begin is known
  return true;
}

bool GgufHeader::place(std::vector<StoredTensor> &tensors,
                       llvm::ArrayRef<uint64_t> offsets, uint64_t begin) {
  std::vector<Place> places;
  const uint64_t size = begin > bytes.size() ? 0 : bytes.size() - begin;
  for (size_t i = 0; i < tensors.size(); ++i) {
    StoredTensor &tensor = tensors[i];
    bool overflows;
    const uint64_t end = llvm::SaturatingAdd(
        offsets[i], uint64_t(tensor.bytes.size()), &overflows);
    if (overflows) {
      error() << "tensor '" << escaped(tensor.name) << "' has "
              << tensor.bytes.size() << " bytes from " << offsets[i]
              << " on, whose end does not fit 64 bits";
      return false;
    }
    if (end > size) {
      error() << "tensor '" << escaped(tensor.name) << "' ends at byte " << end
              << " of the data but the file holds " << size << " bytes of data";
      return false;
    }
    tensor.bytes = {bytes.data() + begin + offsets[i], tensor.bytes.size()};
    places.push_back({offsets[i], end, &tensor});
  }
  return apart(places, size);
}

// The data must be the tensors, each padded to the alignment, and nothing else.
bool GgufHeader::apart(llvm::ArrayRef<Place> all, uint64_t size) {
  std::vector<Place> places(all.begin(), all.end());
  std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t reached = 0;
  const StoredTensor *before = nullptr;
  for (const Place &place : places) {
    if (place.begin < reached || place.begin - reached >= alignment) {
      error() << "tensor '" << escaped(place.tensor->name)
              << "' begins at byte " << place.begin << " but "
              << (before ? "tensor '" + escaped(before->name) + "' ends"
                         : std::string("the data begins"))
              << " at " << reached << ": they "
              << (place.begin < reached ? "overlap" : "leave a gap");
      return false;
    }
    reached = place.end;
    before = place.tensor;
  }
  if (before && size - reached >= alignment) {
    error() << "the tensors end at byte " << reached << " but the file holds "
            << size << " bytes of data";
    return false;
  }
  return true;
}

bool GgufHeader::read(std::vector<GgufKey> &keys,
                      std::vector<StoredTensor> &tensors) {
  uint64_t tensorCount, keyCount;
  if (!takeCounts(tensorCount, keyCount))
    return false;
  llvm::StringSet<> names;
  for (uint64_t i = 0; i < keyCount; ++i) {
    GgufKey key;
    if (!takeKey(key, i))
      return false;
    if (!names.insert(key.name).second) {
      error() << "key '" << escaped(key.name) << "' is given twice";
      return false;
    }
    keys.push_back(key);
  }
  if (!takeAlignment(keys))
    return false;
  names.clear();
  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i < tensorCount; ++i) {
    StoredTensor tensor;
    uint64_t offset;
    if (!takeTensor(tensor, offset, i))
      return false;
    if (!names.insert(tensor.name).second) {
      error() << "tensor '" << escaped(tensor.name) << "' is given twice";
      return false;
    }
    tensors.push_back(std::move(tensor));
    offsets.push_back(offset);
  }
  return place(tensors, offsets, llvm::alignTo(next, alignment));
}

// Opens a safetensors file: every number in its header is checked before it is
// believed. Writing is in WriteSafetensors.cpp.
#include "compiler/weights/Safetensors.h"
#include "compiler/json/Json.h"
#include "compiler/weights/Elements.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mille;

namespace {

struct TypeName {
  ElementType type;
  llvm::StringRef name;
  int64_t bytes;
};
constexpr TypeName typeNames[] = {
    {ElementType::f64, "F64", 8}, {ElementType::f32, "F32", 4},
    {ElementType::f16, "F16", 2}, {ElementType::bf16, "BF16", 2},
    {ElementType::i64, "I64", 8}, {ElementType::i32, "I32", 4},
    {ElementType::i16, "I16", 2}, {ElementType::i8, "I8", 1},
    {ElementType::u8, "U8", 1},   {ElementType::boolean, "BOOL", 1},
};

// The format says none; no model's tensor has so many.
constexpr size_t mostExtents = 8;

// Reads one header entry after another; errors name tensor and both values.
class HeaderReader {
public:
  HeaderReader(const json::Document &header, llvm::ArrayRef<char> data,
               mlir::MLIRContext &context)
      : header(header), data(data), context(context) {}

  bool read(std::vector<StoredTensor> &tensors) {
    for (const json::Member &member : header.root.members) {
      if (member.key == "__metadata__") {
        if (!metadata(member))
          return false;
        continue;
      }
      StoredTensor tensor;
      if (!entry(member, tensor))
        return false;
      tensors.push_back(std::move(tensor));
    }
    return contiguous();
  }

private:
  mlir::InFlightDiagnostic error(json::Position at) {
    return mlir::emitError(header.locate(at, context));
  }

  bool metadata(const json::Member &member) {
    bool fine = member.value.kind == json::Kind::object;
    for (const json::Member &note : member.value.members)
      fine &= note.value.kind == json::Kind::string;
    if (!fine)
      error(member.at) << "__metadata__ must be an object of strings";
    return fine;
  }

  const json::Value *part(const json::Member &member, llvm::StringRef key,
                          json::Kind kind, llvm::StringRef what) {
    if (member.value.kind != json::Kind::object) {
      error(member.at) << "tensor '" << member.key << "' is "
                       << member.value.describe() << " but must be an object";
      return nullptr;
    }
    const json::Member *found = member.value.find(key);
    if (!found) {
      error(member.at) << "tensor '" << member.key << "' has no " << key;
      return nullptr;
    }
    if (found->value.kind != kind) {
      error(found->value.at)
          << "tensor '" << member.key << "' has " << key << " "
          << found->value.describe() << " but it must be " << what;
      return nullptr;
    }
    return &found->value;
  }

  bool entry(const json::Member &member, StoredTensor &tensor) {
    tensor.name = member.key;
    auto *dtype = part(member, "dtype", json::Kind::string, "a string");
    if (!dtype)
      return false;
    std::optional<ElementType> type = elementTypeNamed(dtype->text);
    if (!type) {
      auto message = error(dtype->at);
      message << "tensor '" << member.key << "' has dtype " << dtype->describe()
              << " but known are ";
      llvm::interleaveComma(typeNames, message, [&](const TypeName &known) {
        message << known.name;
      });
      return false;
    }
    tensor.type = *type;
    auto *shape = part(member, "shape", json::Kind::array, "a list of extents");
    if (!shape)
      return false;
    if (shape->items.size() > mostExtents) {
      error(shape->at) << "tensor '" << member.key << "' has "
                       << shape->items.size() << " extents but at most "
                       << mostExtents << " are read";
      return false;
    }
    int64_t bytes = bytesOf(*type);
    for (const json::Value &extent : shape->items) {
      if (!extent.whole || extent.integer < 0) {
        error(extent.at) << "tensor '" << member.key << "' has extent "
                         << extent.describe()
                         << " but extents are whole numbers from 0";
        return false;
      }
      tensor.shape.push_back(extent.integer);
      if (llvm::MulOverflow(bytes, extent.integer, bytes)) {
        error(shape->at) << "tensor '" << member.key << "' has shape "
                         << shape->describe()
                         << ", whose size does not fit 64 bits";
        return false;
      }
    }
    return offsets(member, *shape, bytes, tensor);
  }

  bool offsets(const json::Member &member, const json::Value &shape,
               int64_t bytes, StoredTensor &tensor) {
    auto *offsets =
        part(member, "data_offsets", json::Kind::array, "[begin, end]");
    if (!offsets)
      return false;
    bool fine = offsets->items.size() == 2;
    for (const json::Value &offset : offsets->items)
      fine &= offset.whole && offset.integer >= 0;
    if (!fine) {
      error(offsets->at) << "tensor '" << member.key << "' has data_offsets "
                         << offsets->describe()
                         << " but they must be two whole numbers from 0";
      return false;
    }
    int64_t begin = offsets->items[0].integer, end = offsets->items[1].integer;
    if (begin > end) {
      error(offsets->at) << "tensor '" << member.key << "' begins at " << begin
                         << " but ends at " << end;
      return false;
    }
    if (uint64_t(end) > data.size()) {
      error(offsets->at) << "tensor '" << member.key << "' ends at byte " << end
                         << " but the file holds " << data.size()
                         << " bytes of data";
      return false;
    }
    if (end - begin != bytes) {
      error(offsets->at) << "tensor '" << member.key << "' has " << end - begin
                         << " bytes but shape " << shape.describe() << " of "
                         << nameOf(tensor.type) << " takes " << bytes;
      return false;
    }
    tensor.bytes = data.slice(begin, bytes);
    places.push_back({begin, end, member.key, offsets->at});
    return true;
  }

  // The data must be the tensors and nothing else: no overlap, gap or tail.
  bool contiguous() {
    std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
      return std::tie(a.begin, a.end, a.name) <
             std::tie(b.begin, b.end, b.name);
    });
    int64_t reached = 0;
    const Place *before = nullptr;
    for (const Place &place : places) {
      if (place.begin != reached) {
        auto message = error(place.at);
        message << "tensor '" << place.name << "' begins at byte "
                << place.begin << " but "
                << (before ? "tensor '" + before->name.str() + "' ends"
                           : std::string("the data begins"))
                << " at " << reached << ": they "
                << (place.begin < reached ? "overlap" : "leave a gap");
        if (before)
          message.attachNote(header.locate(before->at, context))
              << "the other offsets are here";
        return false;
      }
      reached = place.end;
      before = &place;
    }
    if (uint64_t(reached) != data.size()) {
      error({0, 0}) << "the tensors end at byte " << reached
                    << " but the file holds " << data.size()
                    << " bytes of data";
      return false;
    }
    return true;
  }

  struct Place {
    int64_t begin, end;
    llvm::StringRef name;
    json::Position at;
  };
  const json::Document &header;
  llvm::ArrayRef<char> data;
  mlir::MLIRContext &context;
  std::vector<Place> places;
};

} // namespace

llvm::StringRef mille::nameOf(ElementType type) {
  return typeNames[unsigned(type)].name;
}

int64_t mille::bytesOf(ElementType type) {
  return typeNames[unsigned(type)].bytes;
}

std::optional<ElementType> mille::elementTypeNamed(llvm::StringRef name) {
  for (const TypeName &known : typeNames)
    if (known.name == name)
      return known.type;
  return std::nullopt;
}

int64_t StoredTensor::elements() const {
  return int64_t(bytes.size()) / bytesOf(type);
}

void StoredTensor::read(int64_t first,
                        llvm::MutableArrayRef<double> into) const {
  const int64_t width = bytesOf(type);
  const char *from = bytes.data() + first * width;
  withLoader(type, [&](auto load) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = load(from + i * width);
  });
}

void StoredTensor::read(int64_t first,
                        llvm::MutableArrayRef<float> into) const {
  const int64_t width = bytesOf(type);
  const char *from = bytes.data() + first * width;
  if (type == ElementType::f32) {
    if (!into.empty())
      std::memcpy(into.data(), from, into.size() * sizeof(float));
    return;
  }
  withLoader(type, [&](auto load) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = float(load(from + i * width));
  });
}

std::unique_ptr<Safetensors> Safetensors::open(llvm::StringRef path,
                                               mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(path, status);
  if (!error && !llvm::sys::fs::is_regular_file(status)) {
    mlir::emitError(at) << "is not a regular file";
    return nullptr;
  }
  // The wrong kind of file is refused above: a pipe would be read without end.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    mlir::emitError(at) << "cannot read the file: "
                        << buffer.getError().message();
    return nullptr;
  }
  llvm::StringRef all = (*buffer)->getBuffer();
  if (all.size() < 8) {
    mlir::emitError(at) << "the file has " << all.size()
                        << " bytes but the header's length alone takes 8";
    return nullptr;
  }
  uint64_t length = loadAs<uint64_t>(all.data());
  if (length > all.size() - 8) {
    mlir::emitError(at) << "the header has " << length
                        << " bytes but the file has " << all.size() - 8
                        << " after its length";
    return nullptr;
  }
  auto header = json::parse(all.substr(8, length), path, context,
                            /*firstColumn=*/9);
  if (!header)
    return nullptr;
  llvm::StringRef data = all.substr(8 + length);
  auto file = std::make_unique<Safetensors>();
  HeaderReader reader(*header, {data.data(), data.size()}, context);
  if (!reader.read(file->all))
    return nullptr;
  file->filePath = path.str();
  file->buffer = std::move(*buffer);
  if (const json::Member *metadata = header->root.find("__metadata__"))
    for (const json::Member &note : metadata->value.members)
      file->notes[note.key] = note.value.text;
  for (size_t i = 0; i < file->all.size(); ++i)
    file->byName[file->all[i].name] = i;
  return file;
}

const StoredTensor *Safetensors::find(llvm::StringRef name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &all[found->second];
}

llvm::StringRef Safetensors::note(llvm::StringRef key) const {
  auto found = notes.find(key);
  return found == notes.end() ? "" : llvm::StringRef(found->second);
}

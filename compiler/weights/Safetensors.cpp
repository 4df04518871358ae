// Opens a safetensors file. Must check every number of the header before using
// it. WriteSafetensors.cpp writes files.
#include "compiler/weights/Safetensors.h"
#include "compiler/json/Json.h"
#include "compiler/weights/Elements.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mille;

namespace {

// The format's names of element types.
constexpr Encoding known[] = {Encoding::f64,    Encoding::f32, Encoding::f16,
                              Encoding::bf16,   Encoding::i64, Encoding::i32,
                              Encoding::i16,    Encoding::i8,  Encoding::u8,
                              Encoding::boolean};

// The format has no limit, but no model's tensor has so many dimensions.
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
    std::optional<Encoding> type = encodingNamed(dtype->text);
    if (!type || isBlocks(*type)) {
      auto message = error(dtype->at);
      message << "tensor '" << member.key << "' has dtype " << dtype->describe()
              << " but known are ";
      llvm::interleaveComma(known, message, [&](Encoding encoding) {
        message << nameOf(encoding);
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
    int64_t bytes = blockBytes(*type);
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

std::unique_ptr<Safetensors> Safetensors::open(llvm::StringRef path,
                                               mlir::MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> bytes = map(path, context);
  return bytes ? read(path, std::move(bytes), context) : nullptr;
}

std::unique_ptr<Safetensors>
Safetensors::read(llvm::StringRef path,
                  std::unique_ptr<llvm::MemoryBuffer> bytes,
                  mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  llvm::StringRef all = bytes->getBuffer();
  if (all.starts_with("version https://git-lfs")) {
    auto error = mlir::emitError(at)
                 << "the file is Git LFS's pointer to the tensors";
    error.attachNote() << "help: git lfs pull";
    return nullptr;
  }
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
  std::vector<StoredTensor> tensors;
  HeaderReader reader(*header, {data.data(), data.size()}, context);
  if (!reader.read(tensors))
    return nullptr;
  std::unique_ptr<Safetensors> file(
      new Safetensors(path, std::move(bytes), std::move(tensors)));
  if (const json::Member *metadata = header->root.find("__metadata__"))
    for (const json::Member &note : metadata->value.members)
      file->notes[note.key] = note.value.text;
  return file;
}

llvm::StringRef Safetensors::note(llvm::StringRef key) const {
  auto found = notes.find(key);
  return found == notes.end() ? "" : llvm::StringRef(found->second);
}

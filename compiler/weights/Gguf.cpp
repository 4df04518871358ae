// Reads the values of a GGUF's keys from the mapped file.
#include "compiler/weights/Gguf.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/GgufHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <charconv>
#include <cmath>

using namespace mille;
using llvm::StringRef;

namespace {

StringRef textAt(const char *at) {
  return {at + sizeof(uint64_t), size_t(loadAs<uint64_t>(at))};
}

std::optional<int64_t> integerAt(GgufType type, const char *at) {
  switch (type) {
  case GgufType::u8:
    return loadAs<uint8_t>(at);
  case GgufType::i8:
    return loadAs<int8_t>(at);
  case GgufType::u16:
    return loadAs<uint16_t>(at);
  case GgufType::i16:
    return loadAs<int16_t>(at);
  case GgufType::u32:
    return loadAs<uint32_t>(at);
  case GgufType::i32:
    return loadAs<int32_t>(at);
  case GgufType::i64:
    return loadAs<int64_t>(at);
  case GgufType::u64:
    if (auto number = loadAs<uint64_t>(at); number <= uint64_t(INT64_MAX))
      return int64_t(number);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<double> numberAt(GgufType type, const char *at) {
  if (type == GgufType::f32)
    return loadAs<float>(at);
  if (type == GgufType::f64)
    return loadAs<double>(at);
  if (type == GgufType::boolean)
    return *at != 0;
  std::optional<int64_t> whole = integerAt(type, at);
  if (!whole)
    return std::nullopt;
  return double(*whole);
}

template <typename Number> std::string fewestDigits(Number number) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return std::string(text, end);
}

} // namespace

std::string mille::escaped(StringRef text) {
  constexpr size_t most = 64;
  std::string shown;
  llvm::raw_string_ostream stream(shown);
  llvm::printEscapedString(text.take_front(most), stream);
  return shown + (text.size() > most ? "..." : "");
}

std::unique_ptr<Gguf> Gguf::open(StringRef path, mlir::MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> bytes = map(path, context);
  if (!bytes)
    return nullptr;
  if (bytes->getBuffer().starts_with("GGUF"))
    return read(path, std::move(bytes), context);
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << "the file has " << bytes->getBufferSize()
      << " bytes but they do not begin with \"GGUF\"";
  return nullptr;
}

std::unique_ptr<Gguf> Gguf::read(StringRef path,
                                 std::unique_ptr<llvm::MemoryBuffer> bytes,
                                 mlir::MLIRContext &context) {
  std::vector<GgufKey> keys;
  std::vector<StoredTensor> tensors;
  if (!GgufHeader(path, bytes->getBuffer(), context).read(keys, tensors))
    return nullptr;
  std::unique_ptr<Gguf> file(
      new Gguf(path, std::move(bytes), std::move(tensors)));
  file->all = std::move(keys);
  for (size_t i = 0; i < file->all.size(); ++i)
    file->byName[file->all[i].name] = i;
  return file;
}

const GgufKey *Gguf::key(StringRef name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &all[found->second];
}

std::optional<int64_t> Gguf::integer(StringRef name) const {
  const GgufKey *found = key(name);
  return found ? integerAt(found->type, found->at) : std::nullopt;
}

std::optional<double> Gguf::number(StringRef name) const {
  const GgufKey *found = key(name);
  if (!found || found->type == GgufType::boolean)
    return std::nullopt;
  return numberAt(found->type, found->at);
}

std::optional<bool> Gguf::flag(StringRef name) const {
  const GgufKey *found = key(name);
  if (!found || found->type != GgufType::boolean)
    return std::nullopt;
  return *found->at != 0;
}

std::optional<StringRef> Gguf::text(StringRef name) const {
  const GgufKey *found = key(name);
  if (!found || found->type != GgufType::text)
    return std::nullopt;
  return textAt(found->at);
}

bool Gguf::texts(StringRef name,
                 llvm::function_ref<void(StringRef)> use) const {
  const GgufKey *found = key(name);
  if (!found || found->type != GgufType::array ||
      found->entries != GgufType::text)
    return false;
  const char *at = found->at;
  for (uint64_t i = 0; i < found->count; ++i) {
    StringRef entry = textAt(at);
    use(entry);
    at = entry.end();
  }
  return true;
}

bool Gguf::numbers(StringRef name, llvm::function_ref<void(double)> use) const {
  const GgufKey *found = key(name);
  if (!found || found->type != GgufType::array ||
      found->entries == GgufType::text)
    return false;
  const uint64_t size = bytesOf(found->entries);
  for (uint64_t i = 0; i < found->count; ++i)
    use(numberAt(found->entries, found->at + i * size).value_or(NAN));
  return true;
}

std::string Gguf::describe(const GgufKey &key) const {
  switch (key.type) {
  case GgufType::array:
    return "an array of " + std::to_string(key.count) +
           (key.entries == GgufType::text ? " texts" : " numbers");
  case GgufType::text:
    return "\"" + escaped(textAt(key.at)) + "\"";
  case GgufType::boolean:
    return *key.at ? "true" : "false";
  case GgufType::f32:
    return fewestDigits(loadAs<float>(key.at));
  case GgufType::f64:
    return fewestDigits(loadAs<double>(key.at));
  case GgufType::u64:
    return fewestDigits(loadAs<uint64_t>(key.at));
  default:
    return std::to_string(integerAt(key.type, key.at).value_or(0));
  }
}

// Writes the weights in one pass over the entries: first the layout, since all
// sizes are known, then the numbers, which are hashed on the way, and the
// header last. What a trainer draws has a place behind all others, and is not
// written. Must store equal values once.
#include "compiler/link/WriteWeights.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/abi.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;

namespace mille::link {
namespace {

constexpr uint64_t alignment = 64;

// The place of each value. Offsets count from the header's data_offset.
struct Layout {
  std::vector<uint64_t> table;
  llvm::MapVector<std::pair<Attribute, Type>,
                  std::pair<uint64_t, const WeightEntry *>>
      tensors;
  uint64_t dataBytes = 0, storedBytes = 0; // what is drawn lies behind these
  const WeightEntry *tooLarge = nullptr;   // the first that does not fit

  uint64_t place(const WeightEntry &entry) {
    auto [at, fresh] =
        tensors.insert({{entry.value, entry.type}, {dataBytes, &entry}});
    if (fresh && !add(entry) && !tooLarge)
      tooLarge = &entry;
    return at->second.first;
  }

private:
  // File offsets are signed, and mapping the file must leave room for others.
  static constexpr uint64_t mostBytes = uint64_t(1) << 62;

  bool add(const WeightEntry &entry) {
    if (entry.elements < 0 || uint64_t(entry.elements) > mostBytes / 4)
      return false;
    uint64_t bytes = llvm::alignTo(entry.bytes(), alignment);
    if (bytes > mostBytes - dataBytes)
      return false;
    dataBytes += bytes;
    return true;
  }
};

Layout layOut(const WeightTable &table) {
  Layout layout;
  for (bool drawn : {false, true}) {
    layout.storedBytes = layout.dataBytes;
    auto place = [&](const WeightEntry &entry) {
      if (table.drawn.contains(entry.value) == drawn)
        layout.place(entry);
    };
    llvm::for_each(table.globals, place);
    for (const WeightTable::Layers &layers : table.layers)
      for (const std::vector<WeightEntry> &row : layers.rows)
        llvm::for_each(row, place);
  }
  for (const WeightEntry &entry : table.globals)
    layout.table.push_back(layout.place(entry));
  for (const WeightTable::Layers &layers : table.layers)
    for (auto [body, row] : llvm::zip(layers.bodies, layers.rows)) {
      size_t end = layout.table.size() + layers.rowEntries;
      layout.table.push_back(body);
      for (const WeightEntry &entry : row)
        layout.table.push_back(layout.place(entry));
      layout.table.resize(end, 0);
    }
  return layout;
}

// A file that hashes the bytes written to it. Its pieces begin at multiples of
// 2 MB and are as long: a file system with large folios then keeps it in large
// pages, which whoever maps the file reads as quickly as its own.
class HashedFile {
public:
  HashedFile(Staging &staging, llvm::StringRef file)
      : staging(staging), name(file.str()),
        handle(::open(staging.path(file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                      0666)),
        held(piece) {
    if (handle < 0)
      staging.fail(name, errno);
  }
  ~HashedFile() {
    if (handle >= 0)
      ::close(handle);
  }

  // Leaves room that is not hashed, at the beginning.
  void skip(uint64_t size) { holds = hashed = size; }
  bool append(const void *bytes, uint64_t size) {
    auto *next = static_cast<const char *>(bytes);
    while (size) {
      uint64_t part = std::min<uint64_t>(size, piece - holds);
      std::memcpy(held.data() + holds, next, part);
      holds += part;
      next += part;
      size -= part;
      if (holds == piece && !flush())
        return false;
    }
    return true;
  }
  bool pad(uint64_t size) {
    char zeros[alignment] = {};
    return append(zeros, size);
  }
  // Of what was appended, which is a multiple of 8 bytes: whole words are
  // hashed.
  uint64_t hashSoFar() {
    hash = mille_weights_hash(hash, held.data() + hashed, holds - hashed);
    hashed = holds;
    return hash;
  }
  bool flush() {
    hashSoFar();
    bool good = put(held.data(), holds, end);
    end += holds;
    holds = hashed = 0;
    return good;
  }
  bool put(const void *bytes, uint64_t size, uint64_t at) {
    const char *next = static_cast<const char *>(bytes);
    while (size && handle >= 0) {
      ssize_t count =
          ::pwrite(handle, next, std::min<uint64_t>(size, 1 << 30), at);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return staging.fail(name, errno);
      next += count;
      at += count;
      size -= count;
    }
    return handle >= 0;
  }

private:
  static constexpr uint64_t piece = 2 << 20;

  Staging &staging;
  std::string name;
  int handle;
  std::vector<char> held;
  uint64_t end = 0;               // of what is written
  uint64_t holds = 0, hashed = 0; // of the piece
  uint64_t hash = MILLE_HASH_START;
};

Status writeTensors(const LinkInput &input, const Layout &layout,
                    HashedFile &file) {
  for (const auto &[stored, place] : layout.tensors) {
    const WeightEntry &entry = *place.second;
    if (place.first >= layout.storedBytes) // all others are, too
      break;
    bool good = true;
    auto write = [&](ArrayRef<char> bytes) {
      good = file.append(bytes.data(), bytes.size());
      return mlir::success(good);
    };
    if (failed(input.parameters->evaluateAs(entry.type, entry.value,
                                            entry.location, write)))
      return good ? Status::input : Status::machine;
    const uint64_t size = entry.bytes();
    if (!file.pad(llvm::alignTo(size, alignment) - size))
      return Status::machine;
  }
  return Status::done;
}

} // namespace

Status writeWeights(const LinkInput &input, Staging &staging,
                    llvm::StringRef file, PackageFacts &facts) {
  Layout layout = layOut(*input.table);
  if (layout.tooLarge) {
    emitError(layout.tooLarge->location)
        << "the weights up to this one are more bytes than a file can have";
    return Status::input;
  }
  mille_weights_header header = {};
  std::memcpy(header.magic, MILLE_WEIGHTS_MAGIC, sizeof header.magic);
  header.version = MILLE_WEIGHTS_VERSION;
  header.table_offset = sizeof header;
  header.table_count = layout.table.size();
  uint64_t tableEnd = sizeof header + layout.table.size() * 8;
  header.data_offset = llvm::alignTo(tableEnd, alignment);
  header.total_bytes = header.data_offset + layout.storedBytes;
  std::strncpy(header.model, input.name.c_str(), sizeof header.model - 1);
  facts.weights.bytes = header.total_bytes;
  facts.weights.drawnBytes = layout.dataBytes - layout.storedBytes;
  if (input.withoutWeights)
    return Status::done;

  HashedFile out(staging, file);
  out.skip(sizeof header);
  if (!out.append(layout.table.data(), layout.table.size() * 8) ||
      !out.pad(header.data_offset - tableEnd))
    return Status::machine;
  facts.weights.tableHash = out.hashSoFar();
  if (Status status = writeTensors(input, layout, out); mille::failed(status))
    return status;
  header.hash = out.hashSoFar();
  if (!out.flush() || !out.put(&header, sizeof header, 0))
    return Status::machine;
  facts.weights.hash = header.hash;
  return Status::done;
}

} // namespace mille::link

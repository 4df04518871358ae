// A gpu.module that carries its launch. Must not know what it computes.
#include "compiler/emulate/Written.h"
#include "compiler/emulate/ReadLaunch.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"

#include <cstring>
#include <random>

using namespace mille;
using namespace mille::emulate;
using namespace mlir;

static const llvm::fltSemantics *semanticsOf(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real ? &real.getFloatSemantics() : nullptr;
}

static void put(char *at, Type type, double value) {
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  uint64_t bits = uint64_t(int64_t(value));
  if (const llvm::fltSemantics *semantics = semanticsOf(type)) {
    llvm::APFloat number(value);
    bool lost;
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    bits = number.bitcastToAPInt().getZExtValue();
  }
  std::memcpy(at, &bits, bytes);
}

static double get(const char *at, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t bits = 0;
  std::memcpy(&bits, at, width / 8);
  const llvm::fltSemantics *semantics = semanticsOf(type);
  if (!semantics)
    return double(llvm::APInt(width, bits).getSExtValue());
  llvm::APFloat number(*semantics, llvm::APInt(width, bits));
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

// Calls use(offset in elements) for each element of the memref, in order.
template <typename Use> static void eachElement(MemRefType type, Use use) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t at = 0, rest = i;
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      at += rest % type.getDimSize(d) * strides[d];
      rest /= type.getDimSize(d);
    }
    use(at);
  }
}

static int64_t elementsOf(MemRefType type) {
  int64_t most = -1;
  eachElement(type, [&](int64_t at) { most = std::max(most, at); });
  return most + 1;
}

// Between rows there are NaNs; nobody may read them as numbers.
static Buffer fill(const WrittenLaunch::Slot &slot, size_t number,
                   std::mt19937 &random) {
  Type element = slot.type.getElementType();
  Buffer buffer;
  buffer.name = "buffer " + std::to_string(number);
  buffer.elementBytes = element.getIntOrFloatBitWidth() / 8;
  buffer.written = !slot.out;
  // A row's stride reaches to the end of the last row.
  buffer.bytes.assign(
      llvm::alignTo(elementsOf(slot.type) * buffer.elementBytes, 16),
      char(0xff));
  if (slot.out)
    return buffer;
  eachElement(slot.type, [&](int64_t at) {
    double value = (int(random() % 33) - 16) / 16.0;
    if (auto real = dyn_cast_or_null<FloatAttr>(slot.value))
      value = real.getValueAsDouble();
    else if (auto integer = dyn_cast_or_null<IntegerAttr>(slot.value))
      value = double(integer.getInt());
    put(&buffer.bytes[at * buffer.elementBytes], element, value);
  });
  return buffer;
}

static Status write(const std::vector<Buffer> &buffers,
                    const std::string &folder) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::error_code error;
    llvm::raw_fd_ostream file(folder + "/" + std::to_string(i) + ".bin", error);
    if (error) {
      llvm::errs() << folder << ": " << error.message() << "\n";
      return Status::machine;
    }
    file.write(buffers[i].bytes.data(), buffers[i].bytes.size());
  }
  return Status::done;
}

static void print(const WrittenLaunch &launch,
                  const std::vector<Buffer> &buffers, llvm::raw_ostream &out) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const WrittenLaunch::Slot &slot = launch.buffers[i];
    if (!slot.out)
      continue;
    out << buffers[i].name << ":";
    eachElement(slot.type, [&](int64_t at) {
      out << " "
          << llvm::format("%g",
                          get(&buffers[i].bytes[at * buffers[i].elementBytes],
                              slot.type.getElementType()));
    });
    out << "\n";
  }
}

Status mille::emulate::runWritten(Operation *kernels,
                                  const WrittenOptions &options,
                                  llvm::raw_ostream &out) {
  auto read = readLaunch(kernels);
  if (failed(read))
    return Status::input;
  const WrittenLaunch &written = **read;
  std::string problem;
  std::unique_ptr<Kernel> kernel =
      Kernel::make(kernels, written.description, problem);
  if (!kernel) {
    if (!problem.empty())
      kernels->emitError() << problem;
    return Status::input;
  }
  std::mt19937 random(1);
  std::vector<Buffer> buffers;
  for (auto [i, slot] : llvm::enumerate(written.buffers))
    buffers.push_back(fill(slot, i, random));
  LaunchCase launch;
  launch.scalars = written.scalars;
  launch.units = options.units;
  std::copy(options.counts, options.counts + 5, launch.counts);
  std::vector<Buffer> before;
  auto judge = [&](const std::vector<Buffer> &results) -> std::string {
    if (before.empty())
      before = results;
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].bytes != before[i].bytes)
        return results[i].name + " has other bits than with the first seed";
    return "";
  };
  Status status = run(*kernel, launch, buffers, options.trials, judge, out);
  if (options.print)
    print(written, buffers, out);
  if (!options.folder.empty() && !mille::failed(status))
    return write(buffers, options.folder);
  return status;
}

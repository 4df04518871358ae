// Lists the kernels of a planned entry in their order, and when each buffer of
// its arena's rows holds something. Must not place buffers.
#include "compiler/driver/program/Memory.h"

#include "compiler/plan/Arena.h"
#include "dialects/transformer/UnitNames.h"
#include "llvm/ADT/DenseMap.h"

using namespace mille;

namespace {

class Walk {
public:
  explicit Walk(llvm::function_ref<std::string(mlir::Operation *)> nameOf)
      : nameOf(nameOf) {}

  MemoryUse of(mlir::func::FuncOp entry) {
    number(entry.getBody(), "");
    entry.walk([&](kernel::ArenaOp arena) {
      if (!arena.getFixed())
        add(arena);
    });
    return std::move(use);
  }

private:
  // The first and the last step of an op. An op that is no kernel stands at the
  // step that follows it.
  struct Span {
    int64_t first, last;
  };

  void number(mlir::Region &region, const std::string &layers) {
    for (mlir::Operation &op : region.getOps()) {
      const int64_t first = use.steps.size();
      if (kernel::isGenerated(&op)) {
        use.steps.push_back({nameOf(&op), layers});
      } else {
        for (mlir::Region &inner : op.getRegions())
          number(inner, llvm::isa<kernel::LayersOp>(op)
                            ? layersOf(llvm::cast<kernel::LayersOp>(op),
                                       inner.getRegionNumber())
                            : layers);
      }
      spans[&op] = {first, std::max(first, int64_t(use.steps.size()) - 1)};
    }
  }

  static std::string layersOf(kernel::LayersOp layers, unsigned body) {
    std::vector<int64_t> numbers;
    for (auto [layer, which] : llvm::enumerate(layers.getBodies()))
      if (which == body)
        numbers.push_back(layer);
    return rangesOf(numbers);
  }

  void add(kernel::ArenaOp arena) {
    auto type = llvm::cast<mlir::MemRefType>(arena.getResult().getType());
    MemoryUse::Buffer buffer;
    buffer.offset = arena.getOffset();
    buffer.bytes = plan::bytesPerRow(
        type,
        kernel::rowSpaceOfSize(arena.getRows()).value_or(kernel::RowSpace()));
    buffer.first = use.steps.size();
    buffer.last = -1;
    touch(arena.getResult(), buffer);
    if (buffer.last < 0)
      return; // nobody reads or writes it
    const int64_t end = int64_t(use.steps.size()) - 1;
    buffer.first = std::min(buffer.first, end);
    buffer.last = std::min(buffer.last, end);
    use.buffers.push_back(buffer);
  }

  void touch(mlir::Value memory, MemoryUse::Buffer &buffer) {
    for (mlir::Operation *user : memory.getUsers()) {
      auto span = spans.find(user);
      if (span == spans.end())
        continue;
      buffer.first = std::min(buffer.first, span->second.first);
      buffer.last = std::max(buffer.last, span->second.last);
      for (mlir::Value alias : user->getResults())
        if (llvm::isa<mlir::MemRefType>(alias.getType()))
          touch(alias, buffer);
    }
  }

  llvm::function_ref<std::string(mlir::Operation *)> nameOf;
  llvm::DenseMap<mlir::Operation *, Span> spans;
  MemoryUse use;
};

} // namespace

MemoryUse
mille::memoryOf(mlir::func::FuncOp entry,
                llvm::function_ref<std::string(mlir::Operation *)> nameOf) {
  return Walk(nameOf).of(entry);
}

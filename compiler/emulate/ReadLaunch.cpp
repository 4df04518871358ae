// The launch of a kernel as an attribute. Must not run it.
#include "compiler/emulate/ReadLaunch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mille::emulate;
using namespace mlir;

namespace {
class Reader {
public:
  Reader(Operation *op, WrittenLaunch &into) : op(op), into(into) {}
  bool read(DictionaryAttr launch);

private:
  bool refuse(const llvm::Twine &what) {
    op->emitError() << "'launch': " << what;
    return false;
  }
  bool amount(Attribute from, mille_amount &to);
  bool buffer(Attribute from);
  bool argument(DictionaryAttr from);
  bool tensor(DictionaryAttr from, mille_launch_argument &to);
  uint32_t number(DictionaryAttr from, StringRef key, uint32_t otherwise) {
    auto value = from.getAs<IntegerAttr>(key);
    return value ? uint32_t(value.getInt()) : otherwise;
  }

  Operation *op;
  WrittenLaunch &into;
};
} // namespace

bool Reader::amount(Attribute from, mille_amount &to) {
  if (auto value = dyn_cast_or_null<IntegerAttr>(from)) {
    to = {MILLE_COUNT_ONE, uint32_t(value.getInt()), 1};
    return true;
  }
  auto parts = dyn_cast_or_null<ArrayAttr>(from);
  auto count = parts && parts.size() == 3 ? dyn_cast<StringAttr>(parts[0])
                                          : StringAttr();
  if (!count || !isa<IntegerAttr>(parts[1]) || !isa<IntegerAttr>(parts[2]))
    return refuse("a number is an integer or [\"COUNT\", times, per]");
  int which = llvm::StringSwitch<int>(count.getValue())
                  .Case("rows", MILLE_COUNT_ROWS)
                  .Case("sequences", MILLE_COUNT_SEQUENCES)
                  .Case("queries", MILLE_COUNT_QUERIES)
                  .Case("keys", MILLE_COUNT_KEYS)
                  .Default(-1);
  if (which < 0)
    return refuse("there is no count '" + count.getValue() + "'");
  to = {uint32_t(which), uint32_t(cast<IntegerAttr>(parts[1]).getInt()),
        uint32_t(cast<IntegerAttr>(parts[2]).getInt())};
  return true;
}

bool Reader::buffer(Attribute from) {
  WrittenLaunch::Slot slot;
  auto type = dyn_cast<TypeAttr>(from);
  if (auto parts = dyn_cast<DictionaryAttr>(from)) {
    type = parts.getAs<TypeAttr>("type");
    slot.value = parts.get("value");
    slot.out = bool(parts.get("out"));
  }
  slot.type = type ? dyn_cast<MemRefType>(type.getValue()) : MemRefType();
  if (!slot.type || !slot.type.hasStaticShape())
    return refuse("a buffer is a memref of a fixed shape");
  into.buffers.push_back(slot);
  return true;
}

// By default the buffer's own dimensions, the innermost first.
bool Reader::tensor(DictionaryAttr from, mille_launch_argument &to) {
  auto box = from.getAs<ArrayAttr>("box");
  MemRefType type = into.buffers[to.number].type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!box || box.size() > MILLE_MAX_RANK ||
      failed(type.getStridesAndOffset(strides, offset)))
    return refuse("a tensor has a box of at most 5 dimensions");
  to.rank = box.size();
  auto extents = from.getAs<ArrayAttr>("extent");
  auto bytes = from.getAs<ArrayAttr>("stride");
  bool own = !extents && !bytes && int64_t(to.rank) == type.getRank();
  if (!own && (!extents || !bytes || extents.size() != to.rank ||
               bytes.size() != to.rank))
    return refuse("a tensor has extents and strides for each dimension");
  for (unsigned i = 0; i < to.rank; ++i) {
    to.box[i] = uint32_t(cast<IntegerAttr>(box[i]).getInt());
    unsigned dimension = to.rank - 1 - i;
    if (!own) {
      if (!amount(extents[i], to.extent[i]) || !amount(bytes[i], to.stride[i]))
        return false;
      continue;
    }
    uint32_t element = type.getElementTypeBitWidth() / 8;
    to.extent[i] = {MILLE_COUNT_ONE, uint32_t(type.getDimSize(dimension)), 1};
    to.stride[i] = {MILLE_COUNT_ONE, uint32_t(strides[dimension]) * element, 1};
  }
  return true;
}

bool Reader::argument(DictionaryAttr from) {
  mille_launch_argument to = {};
  to.amount.per = 1;
  bool good = true;
  if (from.get("tensor") || from.get("address")) {
    to.kind =
        from.get("tensor") ? MILLE_ARGUMENT_TENSOR : MILLE_ARGUMENT_ADDRESS;
    to.number = number(from, "tensor", number(from, "address", ~0u));
    if (to.number >= into.buffers.size())
      return refuse("an argument is buffer " + llvm::Twine(to.number) +
                    ", but there are " + llvm::Twine(into.buffers.size()));
    if (to.kind == MILLE_ARGUMENT_TENSOR)
      good = tensor(from, to);
  } else if (auto value = from.get("value")) {
    to.kind = MILLE_ARGUMENT_SCALAR;
    to.number = uint32_t(into.scalars.size());
    if (auto real = dyn_cast<FloatAttr>(value))
      into.scalars.push_back(
          uint32_t(real.getValue().bitcastToAPInt().getZExtValue()));
    else if (auto integer = dyn_cast<IntegerAttr>(value))
      into.scalars.push_back(uint32_t(integer.getInt()));
    else
      return refuse("a value is an integer or a number of f32");
  } else if (from.get("zeros")) {
    to.kind = MILLE_ARGUMENT_ZEROS;
    good = amount(from.get("zeros"), to.amount);
  } else {
    to.kind = MILLE_ARGUMENT_AMOUNT;
    good = amount(from.get("amount"), to.amount);
  }
  into.arguments.push_back(to);
  return good;
}

bool Reader::read(DictionaryAttr launch) {
  auto buffers = launch.getAs<ArrayAttr>("buffers");
  auto arguments = launch.getAs<ArrayAttr>("arguments");
  auto tiles = launch.getAs<ArrayAttr>("tiles");
  if (!buffers || !arguments || !tiles || tiles.size() > 3)
    return refuse("there must be 'buffers', 'arguments' and 'tiles'");
  for (Attribute one : buffers)
    if (!buffer(one))
      return false;
  for (Attribute one : arguments)
    if (!isa<DictionaryAttr>(one) || !argument(cast<DictionaryAttr>(one)))
      return false;
  mille_device_kernel &to = into.description;
  to.threads = number(launch, "threads", 128);
  to.cluster = number(launch, "cluster", 1);
  to.shared_bytes = number(launch, "shared", 0);
  to.blocks_per_unit = number(launch, "blocks_per_unit", 0);
  to.overlaps = launch.contains("overlaps");
  to.apart = launch.contains("apart");
  for (unsigned i = 0; i < 3; ++i) {
    to.tiles[i] = {MILLE_COUNT_ONE, 1, 1};
    if (i < tiles.size() && !amount(tiles[i], to.tiles[i]))
      return false;
  }
  to.argument_count = uint32_t(into.arguments.size());
  to.arguments = into.arguments.data();
  return true;
}

FailureOr<std::unique_ptr<WrittenLaunch>>
mille::emulate::readLaunch(Operation *kernels) {
  auto launch = kernels->getAttrOfType<DictionaryAttr>("launch");
  if (!launch) {
    kernels->emitError() << "has no attribute 'launch'";
    return failure();
  }
  auto read = std::make_unique<WrittenLaunch>();
  if (!Reader(kernels, *read).read(launch))
    return failure();
  // Threads and cluster stand at the kernel too.
  kernels->walk([&](LLVM::LLVMFuncOp kernel) {
    if (auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"))
      read->description.threads = threads[0];
    if (auto cluster =
            kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim"))
      read->description.cluster = cluster[0];
  });
  return read;
}

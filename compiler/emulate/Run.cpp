// Arguments and grid of a launch, by its description. Must not know what made
// the kernel.
#include "compiler/emulate/Run.h"
#include "compiler/emulate/Machine.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mille::emulate;

static int64_t valueOf(const mille_amount &amount, const LaunchCase &launch) {
  int64_t per = amount.per ? amount.per : 1;
  return (launch.counts[amount.count] * amount.times + per - 1) / per;
}

std::unique_ptr<Kernel> Kernel::make(mlir::Operation *kernels,
                                     const mille_device_kernel &description,
                                     std::string &problem) {
  std::unique_ptr<Kernel> kernel(new Kernel);
  kernel->description = description;
  kernel->arguments.assign(description.arguments,
                           description.arguments + description.argument_count);
  kernel->description.arguments = kernel->arguments.data();
  kernel->description.entry = nullptr; // its owner may go
  kernel->lowered = lower(kernels, description.entry ? description.entry : "");
  const Lowered &lowered = kernel->lowered;
  if (!lowered.module)
    return nullptr;
  auto differ = [&](const char *what, uint64_t kernelSays, uint64_t says) {
    problem = "the kernel has " + std::to_string(kernelSays) + " " + what +
              " but its launch has " + std::to_string(says);
    return nullptr;
  };
  if (lowered.threads && lowered.threads != description.threads)
    return differ("threads", lowered.threads, description.threads);
  if (lowered.cluster != description.cluster)
    return differ("blocks in a cluster", lowered.cluster, description.cluster);
  if (lowered.argumentKinds.size() != description.argument_count)
    return differ("arguments", lowered.argumentKinds.size(),
                  description.argument_count);
  if (description.threads % 32 || description.threads > 1024 ||
      description.cluster > 16 || description.shared_bytes > 232448) {
    problem = "a launch of " + std::to_string(description.threads) +
              " threads in clusters of " + std::to_string(description.cluster) +
              " with " + std::to_string(description.shared_bytes) +
              " bytes of shared memory is not what a device takes";
    return nullptr;
  }
  kernel->code = Code::make(lowered, problem);
  return kernel->code ? std::move(kernel) : nullptr;
}

namespace {
// The memory of a launch: a copy of each buffer between unused pages, so that
// an access beside it is seen as such; zeros; tensor maps.
struct Arguments {
  std::vector<std::vector<char>> memory;
  std::vector<Region> regions;
  std::vector<TensorMap> maps;
  std::vector<uint64_t> slots;
  Region counters = {};

  char *add(const std::string &name, size_t bytes, bool written,
            bool weights = false) {
    memory.emplace_back(bytes + 2 * 8192 + 256, char(0xff));
    auto start = (uintptr_t)memory.back().data() + 8192;
    char *base = (char *)llvm::alignTo(start, 256);
    regions.push_back({name, base, bytes, written, weights});
    return base;
  }
};
} // namespace

// What cuTensorMapEncodeTiled demands.
static std::string checkMap(const TensorMap &map, const std::string &name) {
  std::string of = " of the tensor map of " + name;
  if (map.box[0] * map.elementBytes != 128)
    return "a line of " + std::to_string(map.box[0] * map.elementBytes) +
           " bytes" + of + ", but lines have 128";
  for (int i = 0; i < map.rank; ++i) {
    if (map.extent[i] < 1)
      return "extent " + std::to_string(map.extent[i]) + of;
    if (map.box[i] < 1 || map.box[i] > 256)
      return "a box of " + std::to_string(map.box[i]) + of +
             ", but a box has 1 to 256";
    if (i && map.stride[i] % 16)
      return "a stride of " + std::to_string(map.stride[i]) + " bytes" + of +
             ", which is no multiple of 16";
  }
  return "";
}

static std::string addArgument(Arguments &into,
                               const mille_launch_argument &argument,
                               const LaunchCase &launch,
                               const std::vector<Buffer> &buffers) {
  uint64_t slot = 0;
  bool needsBuffer = argument.kind == MILLE_ARGUMENT_ADDRESS ||
                     argument.kind == MILLE_ARGUMENT_TENSOR ||
                     argument.kind == MILLE_ARGUMENT_STARTS;
  if (needsBuffer && argument.number >= buffers.size())
    return "an argument is buffer " + std::to_string(argument.number) +
           ", but the launch has " + std::to_string(buffers.size());
  switch (argument.kind) {
  case MILLE_ARGUMENT_ADDRESS:
  case MILLE_ARGUMENT_STARTS:
    slot = (uint64_t)into.regions[argument.number].base;
    break;
  case MILLE_ARGUMENT_TENSOR: {
    TensorMap map = {};
    map.base = into.regions[argument.number].base;
    map.elementBytes = buffers[argument.number].elementBytes;
    map.rank = int(argument.rank);
    for (int i = 0; i < map.rank; ++i) {
      map.box[i] = int(argument.box[i]);
      map.extent[i] = valueOf(argument.extent[i], launch);
      map.stride[i] = i ? valueOf(argument.stride[i], launch) : 0;
    }
    into.maps.push_back(map);
    slot = (uint64_t)&into.maps.back();
    if (auto problem = checkMap(map, buffers[argument.number].name);
        !problem.empty())
      return problem;
    break;
  }
  case MILLE_ARGUMENT_AMOUNT:
    slot = uint32_t(valueOf(argument.amount, launch));
    break;
  case MILLE_ARGUMENT_SCALAR:
    if (argument.number >= launch.scalars.size())
      return "an argument is scalar " + std::to_string(argument.number) +
             ", but the launch has " + std::to_string(launch.scalars.size());
    slot = launch.scalars[argument.number];
    break;
  case MILLE_ARGUMENT_ZEROS:
  case MILLE_ARGUMENT_COUNTERS: {
    size_t bytes = valueOf(argument.amount, launch);
    const bool counters = argument.kind == MILLE_ARGUMENT_COUNTERS;
    char *zeros = into.add(counters ? "counters" : "zeros", bytes, true);
    std::memset(zeros, 0, bytes);
    if (counters)
      into.counters = into.regions.back();
    slot = (uint64_t)zeros;
    break;
  }
  case MILLE_ARGUMENT_SCRATCH: {
    size_t bytes = 1;
    for (uint32_t i = 0; i < argument.rank; ++i)
      bytes *= valueOf(argument.extent[i], launch);
    slot = (uint64_t)into.add("scratch", bytes, false);
    break;
  }
  case MILLE_ARGUMENT_PAST: {
    const size_t bytes = launch.past.size() * sizeof(int32_t);
    char *past = into.add("past", bytes, true);
    std::memcpy(past, launch.past.data(), bytes);
    slot = (uint64_t)past;
    break;
  }
  default:
    return "an argument is of the unknown kind " +
           std::to_string(argument.kind);
  }
  into.slots.push_back(slot);
  return "";
}

std::string Kernel::run(const LaunchCase &launch,
                        std::vector<Buffer> &buffers) const {
  Arguments arguments;
  arguments.maps.reserve(description.argument_count); // addresses stay
  for (const Buffer &buffer : buffers)
    std::copy(buffer.bytes.begin(), buffer.bytes.end(),
              arguments.add(buffer.name, buffer.bytes.size(), buffer.written,
                            buffer.weights));
  for (unsigned i = 0; i < description.argument_count; ++i)
    if (auto problem =
            addArgument(arguments, description.arguments[i], launch, buffers);
        !problem.empty())
      return problem;
  int64_t clusters = 1;
  for (const mille_amount &tiles : description.tiles)
    clusters *= valueOf(tiles, launch);
  if (description.blocks_per_unit)
    clusters = std::min<int64_t>(
        clusters, std::max<int64_t>(1, int64_t(launch.units) *
                                           description.blocks_per_unit /
                                           description.cluster));
  if (description.apart)
    clusters = std::max<int64_t>(clusters, launch.units);
  BlockShape shape = {description.threads, description.cluster,
                      size_t(description.shared_bytes + lowered.staticShared),
                      lowered.granule};
  Machine machine(shape, lowered.places, launch.seed);
  if (!machine.ready())
    return "no memory for the emulated threads";
  machine.memory.setRegions(arguments.regions);
  machine.memory.setOverlaps(description.overlaps);
  machine.copies.setMaps(&arguments.maps);
  machine.broken = launch.broken;
  std::string problem;
  for (int64_t cluster = 0; cluster < clusters && problem.empty(); ++cluster)
    problem = machine.run(code->entry, arguments.slots.data(), int(cluster),
                          int(clusters));
  if (launch.reached)
    *launch.reached = machine.reached;
  for (size_t i = 0; i < arguments.counters.bytes && problem.empty(); ++i)
    if (arguments.counters.base[i])
      problem =
          "byte " + std::to_string(i) + " of the counters is not 0 at the end";
  if (!problem.empty())
    return problem;
  for (size_t i = 0; i < buffers.size(); ++i)
    std::memcpy(buffers[i].bytes.data(), arguments.regions[i].base,
                buffers[i].bytes.size());
  return "";
}

// Loads kernels as an application would, from a shared object.
// Must define for them the functions that the runtime defines, and no others.
#include "test/compiler/halide/Inputs/LoadedKernel.h"
#include "test/compiler/halide/Inputs/TileEmulator.h"

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace mille;
using namespace mille::test;

namespace {

std::atomic<size_t> held{0}, peak{0};

[[noreturn]] void giveUp(const std::string &why) {
  fprintf(stderr, "kernel test: %s\n", why.c_str());
  exit(1);
}

// The kernels that tests called, each with the extents of its arguments.
bool counts = false;
std::mutex counting;
std::set<std::vector<int64_t>> sizesRun;

void count(mille_kernel_function kernel,
           const std::vector<Argument> &arguments) {
  std::vector<int64_t> sizes{reinterpret_cast<intptr_t>(kernel)};
  for (const Argument &argument : arguments)
    for (const mille_dimension &dimension : argument.dimensions)
      sizes.push_back(dimension.extent);
  std::lock_guard<std::mutex> lock(counting);
  sizesRun.insert(std::move(sizes));
}

bool keeps = false;
std::multimap<size_t, Guarded *> kept;

Guarded *takeKept(size_t bytes) {
  auto found = keeps ? kept.find(bytes) : kept.end();
  if (found == kept.end())
    return nullptr;
  Guarded *memory = found->second;
  kept.erase(found);
  return memory;
}

} // namespace

// What kernels call; the runtime has its own. Scratch memory ends at a guard
// page, but for the bytes up to a line.
extern "C" __attribute__((visibility("default"))) void *
halide_malloc(void *, size_t bytes) {
  size_t now = held += bytes, seen = peak;
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
  Guarded *memory = takeKept(bytes);
  if (!memory)
    memory = new Guarded((bytes + 127) / 64 * 64, Guarded::Side::end, 1);
  auto *start = memory->as<char>();
  memcpy(start, &memory, sizeof memory);
  memcpy(start + sizeof memory, &bytes, sizeof bytes);
  return start + 64;
}
extern "C" __attribute__((visibility("default"))) void
halide_free(void *, void *given) {
  if (!given)
    return;
  Guarded *memory;
  size_t bytes;
  memcpy(&memory, static_cast<char *>(given) - 64, sizeof memory);
  memcpy(&bytes, static_cast<char *>(given) - 64 + sizeof memory, sizeof bytes);
  held -= bytes;
  if (keeps)
    kept.emplace(bytes, memory);
  else
    delete memory;
}

void mille::test::keepScratch() { keeps = true; }
size_t mille::test::peakScratch() { return peak; }
void mille::test::resetScratch() { peak = held.load(); }

Guarded::Guarded(size_t count, Side side, size_t elementBytes) : count(count) {
  size_t page = sysconf(_SC_PAGESIZE), bytes = count * elementBytes;
  size_t inner = (bytes + page - 1) / page * page + (bytes ? 0 : page);
  mapBytes = inner + 2 * page;
  map = mmap(nullptr, mapBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *start = static_cast<char *>(map) + page;
  if (map == MAP_FAILED || mprotect(start, inner, PROT_READ | PROT_WRITE))
    giveUp("no memory");
  first = reinterpret_cast<float *>(side == Side::end ? start + inner - bytes
                                                      : start);
  if (elementBytes != 4)
    memset(first, 0xff, bytes);
  for (size_t i = 0; elementBytes == 4 && i < count; ++i) {
    uint32_t bits = poison();
    memcpy(first + i, &bits, 4);
  }
}
Guarded::Guarded(Guarded &&other) noexcept
    : map(std::exchange(other.map, nullptr)), mapBytes(other.mapBytes),
      count(other.count), first(other.first) {}
Guarded::~Guarded() {
  if (map)
    munmap(map, mapBytes);
}

const Generators &mille::test::generators() {
  static const Generators list({&halideGenerator()});
  return list;
}

ParsedKernel::ParsedKernel(const std::string &text) {
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    giveUp("cannot parse\n" + text);
  module->walk([&](mlir::Operation *inner) {
    if (!op && kernel::isGenerated(inner))
      op = inner;
  });
  if (!op)
    giveUp("no kernel in\n" + text);
  info = generators().describe(op);
}

const Target &mille::test::isaNamed(const std::string &name) {
  for (const Target &isa : knownTargets())
    if (isa.name == name)
      return isa;
  giveUp("no instruction set " + name);
}

bool mille::test::machineHas(const Target &isa) {
  bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
  if ((isa.features & MILLE_CPU_AVX512) && !avx512)
    return false;
  if ((isa.features & MILLE_CPU_AVX512_BF16) &&
      !__builtin_cpu_supports("avx512bf16"))
    return false;
  if ((isa.features & MILLE_CPU_AVX512_VNNI) &&
      !__builtin_cpu_supports("avx512vnni"))
    return false;
  bool vbmi2 = __builtin_cpu_supports("avx512ifma") &&
               __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2") &&
               __builtin_cpu_supports("avx512bitalg");
  if ((isa.features & MILLE_CPU_AVX512_VBMI2) && !vbmi2)
    return false;
  // Also asks the system for the registers. AVX-VNNI tells a Zen 5 from a Zen
  // 4, which runs its kernels too: none uses these instructions.
  if (isa.features & MILLE_CPU_AMX & ~mille_cpu_features())
    return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool lacksTilesAlone(const Target &isa) {
  Target others = isa;
  others.features &= ~uint64_t(MILLE_CPU_AMX);
  return !machineHas(isa) && machineHas(others);
}

static const Target *widestIsa() {
  for (const Target &isa : knownTargets()) // best first
    if (isa.features & MILLE_CPU_AVX512 &&
        !(isa.features & ~mille_cpu_features()))
      return &isa;
  return nullptr;
}

const Target &mille::test::isaToTest(int argc, char **argv) {
  const std::string named = argc > 1 ? argv[1] : "widest";
  const Target *isa = named == "widest" ? widestIsa() : &isaNamed(named);
  const bool emulates = isa && lacksTilesAlone(*isa);
  if (emulates)
    emulateTiles();
  if (!isa || (!machineHas(*isa) && !emulates)) {
    // Tests name the features that they require, so this is never asked.
    fprintf(stderr, "this machine lacks %s\n",
            isa ? isa->name.c_str() : "AVX-512");
    exit(1);
  }
  printf("%s\n", isa->name.c_str());
  counts = true;
  atexit([] { printf("%zu sizes of kernels ran\n", sizesRun.size()); });
  if (emulates)
    atexit(
        [] { printf("emulated %" PRIu64 " products\n", productsOfTiles()); });
  return *isa;
}

mille::test::Turns::Turns(int argc, char **argv) {
  for (int i = 2; i < argc; ++i)
    if (std::string(argv[i]) == "odd")
      kind = Kind::odd;
    else if (std::string(argv[i]) == "even")
      kind = Kind::even;
}

bool mille::test::Turns::takesNext() {
  ++turn;
  return kind == Kind::all || (turn % 2 != 0) == (kind == Kind::odd);
}

mille_kernel_function mille::test::load(ParsedKernel &kernel, const Target &isa,
                                        RowClass rows, unsigned rank) {
  std::string object;
  if (failed(generators().generate(kernel.op, isa, rows, false, object, rank)))
    giveUp("cannot generate");
  std::string symbol = kernelSymbol(kernel.info, isa, rows);
  char folder[] = "/tmp/mille-kernel-XXXXXX";
  if (!mkdtemp(folder))
    giveUp("no folder for temporary files");
  std::string base = std::string(folder) + "/kernel";
  std::ofstream(base + ".o", std::ios::binary) << object;
  std::string link =
      std::string(MILLE_LINKER) + " -shared -o " + base + ".so " + base + ".o";
  if (system(link.c_str()) != 0)
    giveUp("cannot link");
  void *library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    giveUp(dlerror());
  unlink((base + ".o").c_str());
  unlink((base + ".so").c_str());
  rmdir(folder);
  void *entry = dlsym(library, symbol.c_str());
  if (!entry)
    giveUp("no symbol " + symbol);
  return reinterpret_cast<mille_kernel_function>(entry);
}

const MadeKernel &mille::test::made(const std::string &text, const Target &isa,
                                    RowClass rows, unsigned rank) {
  static std::map<std::tuple<RowClass, unsigned, std::string>, MadeKernel> all;
  MadeKernel &entry = all[{rows, rank, isa.name + text}];
  if (!entry.parsed) {
    entry.parsed = std::make_unique<ParsedKernel>(text);
    entry.function = load(*entry.parsed, isa, rows, rank);
  }
  return entry;
}

std::string mille::test::rowsOf(int64_t columns, int64_t stride,
                                const char *element) {
  return "memref<?x" + std::to_string(columns) + "x" + element + ", strided<[" +
         std::to_string(stride) + ", 1]>>";
}

Argument mille::test::matrix(void *host, int64_t rows, int64_t columns,
                             int64_t stride) {
  return {
      host,
      {{0, int32_t(columns), 1, 0}, {0, int32_t(rows), int32_t(stride), 0}}};
}
Argument mille::test::vector(const void *host, int64_t count) {
  return {const_cast<void *>(host), {{0, int32_t(count), 1, 0}}};
}

int32_t mille::test::call(mille_kernel_function kernel,
                          std::vector<Argument> inputs,
                          std::vector<int32_t> scalars, Argument out) {
  return call(kernel, std::move(inputs), std::move(scalars),
              std::vector<Argument>{std::move(out)});
}

int32_t mille::test::call(mille_kernel_function kernel,
                          std::vector<Argument> inputs,
                          std::vector<int32_t> scalars,
                          std::vector<Argument> outs) {
  void *context = nullptr;
  std::vector<mille_buffer> buffers;
  const size_t given = inputs.size();
  inputs.insert(inputs.end(), outs.begin(), outs.end());
  if (counts)
    count(kernel, inputs);
  for (Argument &input : inputs) {
    mille_buffer buffer{};
    buffer.host = input.host;
    buffer.type_code = 2;
    buffer.type_bits = 32;
    buffer.type_lanes = 1;
    buffer.dimensions = int32_t(input.dimensions.size());
    buffer.dimension = input.dimensions.data();
    buffers.push_back(buffer);
  }
  std::vector<void *> arguments{&context};
  for (size_t i = 0; i < given; ++i)
    arguments.push_back(&buffers[i]);
  for (int32_t &scalar : scalars)
    arguments.push_back(&scalar);
  for (size_t i = given; i < buffers.size(); ++i)
    arguments.push_back(&buffers[i]);
  return kernel(arguments.data());
}

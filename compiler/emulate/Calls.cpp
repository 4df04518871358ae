// What lowered kernels call: each instruction of the device, in terms of the
// machine whose thread runs. Must not keep state of its own.
#include "compiler/emulate/Calls.h"
#include "compiler/emulate/Machine.h"
#include "dialects/transformer/E4m3.h"

#include <cmath>
#include <cstring>

using namespace mille::emulate;

// Memory of a thread between two calls. Threads change only inside of calls.
static thread_local uint32_t scratchWords[256];
static uint32_t *scratch() { return scratchWords; }

static void *shared(int32_t offset) {
  return machine->memory.window(machine->block()) + offset;
}

// The order of LowerOps.cpp.
static int32_t readRegister(int32_t which) {
  const Machine &m = *machine;
  int threads = m.shape.threads, cluster = m.shape.cluster;
  switch (which) {
  case 0:
    return m.current % threads;
  case 1:
    return threads;
  case 2:
    return m.clusterNumber * cluster + m.block();
  case 3:
    return m.clusterCount * cluster;
  case 4:
    return m.current % 32;
  case 5:
    return m.block();
  case 6:
    return cluster;
  case 7:
    return m.clusterNumber;
  case 8:
    return m.clusterCount;
  case 9:
    return 0;
  default:
    return 1;
  }
}

static void access(int32_t place, void *address, int32_t bytes, int32_t kind,
                   int32_t space) {
  machine->enter(place);
  machine->memory.access(address, bytes, kind, space);
}

static void seeEarlier(int32_t place) {
  if (machine->enter(place))
    machine->memory.seeEarlierKernels();
}

// ---- barriers

static void mbarrierInit(int32_t place, void *address, int32_t count) {
  machine->enter(place);
  machine->barriers.init(address, count);
}

static void mbarrierWait(int32_t place, void *address, int32_t parity) {
  if (machine->enter(place))
    machine->barriers.wait(address, parity);
}

static void mbarrierArrive(int32_t place, void *address, int32_t count,
                           int32_t bytes) {
  if (machine->enter(place))
    machine->barriers.arrive(address, count, bytes);
}

static void barrier(int32_t place, int32_t id, int32_t count) {
  if (!machine->enter(place))
    return;
  machine->enterAligned(place);
  machine->barriers.sync(id, count);
}

static void barrierArrive(int32_t place, int32_t id, int32_t count) {
  if (!machine->enter(place))
    return;
  machine->enterAligned(place);
  machine->barriers.arriveNamed(id, count);
}

static void clusterArrive(int32_t place, int32_t aligned) {
  if (!machine->enter(place))
    return;
  if (aligned)
    machine->enterAligned(place);
  machine->barriers.clusterArrive();
}

static void clusterWait(int32_t place, int32_t aligned) {
  if (!machine->enter(place))
    return;
  if (aligned)
    machine->enterAligned(place);
  machine->barriers.clusterWait();
}

static void fenceInit(int32_t place) {
  if (machine->enter(place))
    machine->barriers.fenceInit();
}

static void fenceDevice(int32_t place) {
  if (machine->enter(place))
    machine->memory.fenceDevice();
}

static void fenceProxy(int32_t place) {
  if (machine->enter(place))
    machine->clocks.fence(machine->current);
}

static void *mapa(int32_t place, void *address, int32_t rank) {
  machine->enter(place);
  if (rank < 0 || rank >= int(machine->shape.cluster))
    machine->fault("mapa of block %d in a cluster of %u", rank,
                   machine->shape.cluster);
  machine->memory.offset(address, 1, "mapa");
  return machine->memory.window(rank) + (uintptr_t)address % sharedWindow;
}

static void aligned(int32_t place) {
  machine->enter(place);
  machine->enterAligned(place);
}

// ---- copies

static void loadTensor(int32_t place, void *to, const TensorMap *map,
                       void *mbarrier, int32_t mask, int32_t rank, int32_t a,
                       int32_t b, int32_t c, int32_t d, int32_t e) {
  int at[] = {a, b, c, d, e};
  machine->enter(place);
  machine->copies.loadTensor(to, map, mbarrier, mask, rank, at);
}

static void storeTensor(int32_t place, const TensorMap *map, void *from,
                        int32_t rank, int32_t a, int32_t b, int32_t c,
                        int32_t d, int32_t e) {
  int at[] = {a, b, c, d, e};
  machine->enter(place);
  machine->copies.storeTensor(map, from, rank, at);
}

static void loadBulk(int32_t place, void *to, void *from, void *mbarrier,
                     int32_t bytes, int32_t mask) {
  machine->enter(place);
  machine->copies.load(to, from, mbarrier, bytes, mask);
}

static void storeBulk(int32_t place, void *to, void *from, int32_t bytes) {
  machine->enter(place);
  machine->copies.store(to, from, bytes);
}

static void send(int32_t place, void *to, void *from, void *mbarrier,
                 int32_t bytes) {
  machine->enter(place);
  machine->copies.send(to, from, mbarrier, bytes);
}

static void bulkCommit(int32_t place) {
  machine->enter(place);
  machine->copies.commit();
}

static void bulkWait(int32_t place, int32_t left, int32_t readOnly) {
  if (machine->enter(place))
    machine->copies.waitGroups(left, readOnly);
}

// ---- products

static void product(int32_t place, uint32_t *sum, int32_t a0, int32_t a1,
                    int32_t a2, int32_t a3, int64_t a, int64_t b,
                    int32_t columns, int32_t form, int32_t adds,
                    int32_t fromRegisters) {
  uint32_t rows[] = {uint32_t(a0), uint32_t(a1), uint32_t(a2), uint32_t(a3)};
  machine->enter(place);
  machine->enterAligned(place);
  machine->products.issue(sum, fromRegisters ? rows : nullptr, a, b, columns,
                          ProductForm::unpacked(form), adds);
}

static void productFence(int32_t place) {
  if (!machine->enter(place))
    return;
  machine->enterAligned(place);
  machine->products.fence();
}

static void productCommit(int32_t place) {
  machine->enter(place);
  machine->enterAligned(place);
  machine->products.commit();
}

static void productWait(int32_t place, int32_t left) {
  if (!machine->enter(place))
    return;
  machine->enterAligned(place);
  machine->products.wait(left);
}

static void pin(int32_t place, uint32_t *registers, int32_t count,
                int32_t strict) {
  machine->enter(place);
  machine->products.pin(registers, count, strict);
}

// ---- warps

static int32_t shuffle(int32_t place, int32_t kind, int32_t mask, int32_t value,
                       int32_t offset, int32_t clamp) {
  machine->enter(place);
  return machine->warps.shuffle(Shuffle(kind), mask, value, offset, clamp);
}

static int32_t vote(int32_t place, int32_t kind, int32_t mask, int32_t value) {
  machine->enter(place);
  return machine->warps.vote(Vote(kind), mask, value);
}

static void warpSync(int32_t place, int32_t mask) {
  if (machine->enter(place))
    machine->warps.synchronize(mask);
}

static int32_t elect(int32_t place) {
  machine->enter(place);
  return machine->warps.elect();
}

static void loadMatrices(int32_t place, void *address, int32_t count,
                         int32_t transposed, uint32_t *out) {
  machine->enter(place);
  machine->enterAligned(place);
  uint32_t values[4];
  machine->warps.loadMatrices(address, count, transposed, values);
  std::copy(values, values + count, out);
}

static void storeMatrices(int32_t place, void *address, int32_t count,
                          int32_t transposed, const uint32_t *values) {
  uint32_t own[4];
  std::copy(values, values + count, own);
  machine->enter(place);
  machine->enterAligned(place);
  machine->warps.storeMatrices(address, count, transposed, own);
}

// ---- numbers: the approximate units, taken as exact, and one rounding

static float reciprocal(float x) { return 1 / x; }
static float reciprocalRoot(float x) { return 1 / std::sqrt(x); }
static float root(float x) { return std::sqrt(x); }
static float exp2Of(float x) { return std::exp2(x); }
static float log2Of(float x) { return std::log2(x); }

static uint16_t toBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if (x != x)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t toF16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  uint16_t sign = bits >> 16 & 0x8000;
  float size = std::fabs(x);
  if (x != x)
    return 0x7fff;
  if (size == 0)
    return sign;
  if (size >= 65520)
    return sign | 0x7c00;
  int exponent;
  std::frexp(size, &exponent);
  // The distance of f16 numbers at x.
  float unit = std::ldexp(1.f, std::max(exponent - 11, -24));
  float units = std::nearbyint(size / unit);
  return sign |
         uint16_t(exponent - 11 <= -24 ? units
                                       : units + float((exponent + 13) * 1024));
}

// `a` is the upper byte.
static uint16_t toE4m3x2(float a, float b) {
  return uint16_t(mille::narrowE4m3(a) << 8 | mille::narrowE4m3(b));
}

llvm::ArrayRef<Function> mille::emulate::functions() {
  static const Function all[] = {
      {"scratch", (void *)scratch},
      {"shared", (void *)shared},
      {"register", (void *)readRegister},
      {"access", (void *)access},
      {"mbarrier_init", (void *)mbarrierInit},
      {"mbarrier_wait", (void *)mbarrierWait},
      {"mbarrier_arrive", (void *)mbarrierArrive},
      {"barrier", (void *)barrier},
      {"barrier_arrive", (void *)barrierArrive},
      {"cluster_arrive", (void *)clusterArrive},
      {"cluster_wait", (void *)clusterWait},
      {"see_earlier", (void *)seeEarlier},
      {"fence_init", (void *)fenceInit},
      {"fence_proxy", (void *)fenceProxy},
      {"fence_device", (void *)fenceDevice},
      {"mapa", (void *)mapa},
      {"aligned", (void *)aligned},
      {"load_tensor", (void *)loadTensor},
      {"store_tensor", (void *)storeTensor},
      {"load_bulk", (void *)loadBulk},
      {"store_bulk", (void *)storeBulk},
      {"send", (void *)send},
      {"bulk_commit", (void *)bulkCommit},
      {"bulk_wait", (void *)bulkWait},
      {"product", (void *)product},
      {"product_fence", (void *)productFence},
      {"product_commit", (void *)productCommit},
      {"product_wait", (void *)productWait},
      {"pin", (void *)pin},
      {"shuffle", (void *)shuffle},
      {"vote", (void *)vote},
      {"warp_sync", (void *)warpSync},
      {"elect", (void *)elect},
      {"load_matrices", (void *)loadMatrices},
      {"store_matrices", (void *)storeMatrices},
      {"exp2", (void *)exp2Of},
      {"log2", (void *)log2Of},
      {"reciprocal", (void *)reciprocal},
      {"reciprocal_root", (void *)reciprocalRoot},
      {"root", (void *)root},
      {"to_bf16", (void *)toBf16},
      {"to_f16", (void *)toF16},
      {"to_e4m3x2", (void *)toE4m3x2},
  };
  return all;
}

// wgmma: registers, descriptors and the order of products.
#include "compiler/emulate/Products.h"
#include "compiler/emulate/Machine.h"

#include <cmath>
#include <cstring>

using namespace mille::emulate;

static constexpr int ringSize = 16, mostSums = 8192;
// A NaN that says which sum, and which of the thread's registers of it.
static constexpr uint32_t tokenBits = 0x7fa00000;
static uint32_t token(int sum, int index) {
  return tokenBits | uint32_t(sum % mostSums) << 7 | index;
}
static bool isToken(uint32_t word) { return word >> 20 == tokenBits >> 20; }
static int sumOfToken(uint32_t word) { return word >> 7 & (mostSums - 1); }

static int rowOf(int thread, int i) {
  return 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
}
static int columnOf(int thread, int i) {
  return 8 * (i / 4) + 2 * (thread % 4) + i % 2;
}

void Products::restart() {
  groups.resize(machine.clocks.groups);
  for (Group &group : groups) {
    group.waiting.clear();
    group.first = 0;
    group.sums = 0;
    group.ring.resize(ringSize);
    for (Sum &sum : group.ring)
      sum.number = -1;
  }
  mine.assign(machine.clocks.threads, Mine());
}

// ---- operands

// A descriptor: address / 16, and the distances of panels and of groups of 8
// lines, in 16 bytes; lines of 128 bytes, swizzled.
void Products::checkDescriptor(uint64_t descriptor, bool transposed,
                               const ProductForm &form) {
  if (descriptor >> 62 != 1)
    machine.fault("a matrix descriptor with swizzle %d; only lines of 128 "
                  "bytes (1) are modelled",
                  int(descriptor >> 62));
  if (descriptor >> 49 & 7)
    machine.fault("a matrix descriptor with base offset %d, which is not "
                  "modelled",
                  int(descriptor >> 49 & 7));
  if (transposed && form.elementBytes() != 2)
    machine.fault("a transposed operand of bytes, which wgmma does not have");
}

// `row`: of A, or the column of the sum for B.
char *Products::operand(uint64_t descriptor, const ProductForm &form,
                        bool transposed, int row, int k) const {
  uintptr_t address = (uintptr_t)machine.memory.window(machine.block()) +
                      ((descriptor & 0x3fff) << 4);
  uint64_t panels = (descriptor >> 16 & 0x3fff) << 4;
  uint64_t eight = (descriptor >> 32 & 0x3fff) << 4;
  if (transposed)
    address += k / 8 * eight + k % 8 * 128 + row / 64 * panels + row % 64 * 2;
  else
    address += row / 8 * eight + row % 8 * 128 + k * form.elementBytes();
  return (char *)(address ^ ((address >> 3) & 0x70));
}

void Products::checkReads(Product &product, uint64_t descriptor,
                          bool transposed, int rows) {
  const ProductForm &form = product.form;
  int steps = form.steps(), chunk = 16 / form.elementBytes();
  int slot = machine.clocks.ofProducts(machine.group());
  auto read = [&](int row, int k) {
    machine.memory.readAsync(operand(descriptor, form, transposed, row, k), 16,
                             product.known.data(), product.proxied.data(), slot,
                             product.group + 1, "a product");
  };
  if (transposed)
    for (int k = 0; k < steps; ++k)
      for (int row = 0; row < rows; row += chunk)
        read(row, k);
  else
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < steps; k += chunk)
        read(row, k);
}

static float eightBits(uint8_t bits, int exponentBits, int bias) {
  int mantissaBits = 7 - exponentBits;
  int exponent = (bits & 127) >> mantissaBits;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  bool isNan = exponentBits == 4 ? (bits & 127) == 127 : exponent == 31;
  float value = isNan ? NAN
                : exponent
                    ? std::ldexp(float(mantissa + (1 << mantissaBits)),
                                 exponent - bias - mantissaBits)
                    : std::ldexp(float(mantissa), 1 - bias - mantissaBits);
  return bits & 128 ? -value : value;
}

static float half(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                : exponent     ? std::ldexp(mantissa + 1024.f, exponent - 25)
                               : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -value : value;
}

static float number(const void *at, Element type) {
  uint8_t byte;
  uint16_t two;
  std::memcpy(&byte, at, 1);
  switch (type) {
  case Element::bf16: {
    std::memcpy(&two, at, 2);
    uint32_t bits = uint32_t(two) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  case Element::f16:
    std::memcpy(&two, at, 2);
    return half(two);
  case Element::e4m3:
    return eightBits(byte, 4, 7);
  case Element::e5m2:
    return eightBits(byte, 5, 15);
  case Element::s8:
    return float(int8_t(byte));
  case Element::u8:
    return float(byte);
  }
  return 0;
}

// ---- the products themselves

template <typename T>
static void addProducts(const float *a, const float *b, uint32_t words[64][256],
                        int columns, int steps, bool adds) {
  for (int row = 0; row < 64; ++row) {
    T sums[256] = {};
    if (adds)
      std::memcpy(sums, words[row], 4 * columns);
    for (int k = 0; k < steps; ++k) {
      T factor = T(a[row * steps + k]);
      for (int column = 0; column < columns; ++column)
        sums[column] += factor * T(b[k * 256 + column]);
    }
    std::memcpy(words[row], sums, 4 * columns);
  }
}

void Products::multiply(const Product &product, Sum &sum) {
  const ProductForm &form = product.form;
  int steps = form.steps(), bytes = form.elementBytes(), per = 4 / bytes;
  std::vector<float> a(64 * steps), b(256 * steps);
  if (product.fromRegisters)
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < 4; ++i)
        for (int e = 0; e < per; ++e)
          a[rowOf(thread, 2 * (i & 1)) * steps + per * (thread % 4) + e +
            4 * per * (i >> 1)] =
              number((const char *)&product.rows[thread][i] + e * bytes,
                     form.a);
  else
    for (int row = 0; row < 64; ++row)
      for (int k = 0; k < steps; ++k)
        a[row * steps + k] = number(
            operand(product.a, form, form.aIsTransposed, row, k), form.a);
  for (int column = 0; column < product.columns; ++column)
    for (int k = 0; k < steps; ++k)
      b[k * 256 + column] = number(
          operand(product.b, form, form.bIsTransposed, column, k), form.b);
  if (form.aIsNegative != form.bIsNegative)
    for (float &value : a)
      value = -value;
  if (form.isInteger())
    addProducts<int32_t>(a.data(), b.data(), sum.words, product.columns, steps,
                         product.adds);
  else
    addProducts<float>(a.data(), b.data(), sum.words, product.columns, steps,
                       product.adds);
}

// Runs the oldest product of a group. Its operands lie in the block that the
// group is in, whoever runs now.
void Products::run(int warpGroup) {
  Group &group = groups[warpGroup];
  Product product = std::move(group.waiting.front());
  group.waiting.pop_front();
  ++group.first;
  multiply(product, group.ring[product.sum % ringSize]);
}

Products::Sum &Products::sumOf(int number) {
  Sum &sum = groups[machine.group()].ring[number % ringSize];
  if (sum.number % mostSums != number)
    machine.fault("registers of a sum that is more than %d sums old", ringSize);
  return sum;
}

// ---- what a thread says

void Products::begin(Group &group, uint64_t a, uint64_t b, int columns,
                     ProductForm form, bool adds, bool fromRegisters, int sum) {
  int none = INT32_MAX, slots = machine.clocks.slots;
  group.waiting.push_back({a,
                           b,
                           fromRegisters,
                           adds,
                           columns,
                           sum,
                           0,
                           mine[machine.current].groups,
                           form,
                           Clock(slots, none),
                           Clock(slots, none),
                           {}});
  Sum &words = group.ring[sum % ringSize];
  words.number = sum;
  words.lastGroup = mine[machine.current].groups;
  if (group.waiting.size() > 512)
    machine.fault("more than 512 products without a wait");
}

void Products::issue(uint32_t *registers, const uint32_t *rows, uint64_t a,
                     uint64_t b, int columns, ProductForm form, bool adds) {
  const int me = machine.current, threads = int(machine.shape.threads);
  const int inBlock = me % threads, thread = inBlock % 128;
  if (inBlock - thread + 128 > threads)
    machine.fault("a product in warp group %d of a block of %d threads, which "
                  "is not whole",
                  inBlock / 128, threads);
  Group &group = groups[machine.group()];
  Mine &my = mine[me];
  bool goesOn = adds && isToken(registers[0]);
  if (!my.fenced && !(goesOn && !rows))
    machine.fault("a product of registers that were written since the last "
                  "wgmma.fence");
  for (int i = 0; adds && i < columns / 2; ++i)
    if (isToken(registers[i]) != goesOn ||
        (goesOn && registers[i] != token(sumOfToken(registers[0]), i)))
      machine.fault("register %d of a sum holds another number of the group's "
                    "sums",
                    i);
  int64_t number = my.issued++;
  if (number == group.first + int64_t(group.waiting.size())) {
    if (!rows)
      checkDescriptor(a, form.aIsTransposed, form);
    checkDescriptor(b, form.bIsTransposed, form);
    int sum = goesOn ? sumOf(sumOfToken(registers[0])).number : group.sums++;
    begin(group, a, b, columns, form, adds, rows, sum);
  }
  Product &product = group.waiting[number - group.first];
  if ((!rows && product.a != a) || product.b != b ||
      product.columns != columns || product.adds != adds ||
      product.group != my.groups || product.form.packed() != form.packed() ||
      (goesOn && sumOfToken(registers[0]) != product.sum % mostSums))
    machine.fault("the threads of a warp group issue different products");
  Sum &sum = group.ring[product.sum % ringSize];
  for (int i = 0; i < columns / 2; ++i) {
    if (adds && !goesOn)
      sum.words[rowOf(thread, i)][columnOf(thread, i)] = registers[i];
    registers[i] = token(product.sum, i);
  }
  if (rows)
    std::copy(rows, rows + 4, product.rows[thread]);
  const int32_t *known = machine.clocks.known(me);
  const int32_t *proxied = machine.clocks.proxied(me);
  for (int i = 0; i < machine.clocks.slots; ++i) {
    product.known[i] = std::min(product.known[i], known[i]);
    product.proxied[i] = std::min(product.proxied[i], proxied[i]);
  }
  if (++product.threads < 128)
    return;
  if (!product.fromRegisters)
    checkReads(product, product.a, form.aIsTransposed, 64);
  checkReads(product, product.b, form.bIsTransposed, product.columns);
  ++machine.progress;
  if (machine.draw() % 2)
    while (!group.waiting.empty() && group.waiting.front().threads == 128)
      run(machine.group());
}

void Products::fence() { mine[machine.current].fenced = true; }

void Products::commit() {
  ++mine[machine.current].groups;
  mine[machine.current].fenced = false;
}

bool Products::complete(int64_t warpGroup, int64_t below) const {
  for (const Product &product : groups[warpGroup].waiting)
    if (product.group < below && product.threads < 128)
      return false;
  return true;
}

void Products::wait(int left) {
  Mine &my = mine[machine.current];
  int done = my.groups - left, group = machine.group();
  if (done <= my.waited)
    return;
  machine.wait(Waits::products, group, done);
  while (!groups[group].waiting.empty() &&
         groups[group].waiting.front().group < done)
    run(group);
  my.waited = done;
  int32_t &slot =
      machine.clocks.known(machine.current)[machine.clocks.ofProducts(group)];
  slot = std::max(slot, done);
  machine.yieldSometimes(8);
}

void Products::pin(uint32_t *registers, int count, bool strict) {
  int thread = machine.current % int(machine.shape.threads) % 128;
  for (int i = 0; i < count; ++i) {
    if (!isToken(registers[i]))
      continue;
    const Sum &sum = sumOf(sumOfToken(registers[i]));
    if (sum.lastGroup >= mine[machine.current].waited) {
      if (strict)
        machine.fault("sums are read before wgmma.wait_group covers their "
                      "products");
      continue;
    }
    int index = registers[i] & 127;
    registers[i] = sum.words[rowOf(thread, index)][columnOf(thread, index)];
  }
}

void Products::checkEnd() {
  for (const Group &group : groups)
    if (!group.waiting.empty())
      machine.fault("the kernel ends with %zu products that nobody has waited "
                    "for",
                    group.waiting.size());
}

// Decodes AMX instructions at the place of a signal and executes them.
// Must use nothing in the handler that a signal may not interrupt.
#include "test/compiler/halide/Inputs/TileEmulator.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <ucontext.h>
#include <unistd.h>

namespace {

constexpr int mostRows = 16, mostBytes = 64, registers = 8;

struct Register {
  int rows = 0, bytes = 0; // as configured; 0: it is not
  alignas(64) uint8_t line[mostRows][mostBytes] = {};

  template <typename Number> Number at(int row, int column) const {
    Number number;
    memcpy(&number, line[row] + column * sizeof number, sizeof number);
    return number;
  }
  template <typename Number> void put(int row, int column, Number number) {
    memcpy(line[row] + column * sizeof number, &number, sizeof number);
  }
};

struct Tiles {
  bool configured = false;
  Register of[registers];
};

thread_local Tiles tiles;
std::atomic<uint64_t> products{0};

[[noreturn]] void giveUp(const char *why) {
  char text[160];
  const int length =
      snprintf(text, sizeof text, "tile registers (AMX): %s\n", why);
  if (write(STDERR_FILENO, text, size_t(length)) < 0)
    _exit(2);
  _exit(1);
}

void demand(bool holds, const char *why) {
  if (!holds)
    giveUp(why);
}

// The prefix that stands for an operand's kind, as VEX encodes it.
enum class Prefix { none, x66, xf3, xf2 };

// An instruction with a VEX prefix of three bytes, opcode and operands.
struct Instruction {
  Prefix prefix;
  uint8_t opcode;
  bool hasMemory;
  int reg, rm, vvvv;          // numbers of registers
  uint8_t *address = nullptr; // of memory
  int64_t stride = 0;         // the index times its scale
  const uint8_t *next = nullptr;

  bool is(Prefix with, int code) const {
    return prefix == with && opcode == code;
  }
};

int64_t general(const ucontext_t &at, int number) {
  static constexpr int places[] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return at.uc_mcontext.gregs[places[number]];
}

// Reads `from` on, and gives the bytes after it.
template <typename Number>
const uint8_t *take(const uint8_t *from, int64_t &into) {
  Number number;
  memcpy(&number, from, sizeof number);
  into = number;
  return from + sizeof number;
}

// The operand in memory, from the byte after ModRM on.
void readAddress(const ucontext_t &at, const uint8_t *byte, int mod, int rm,
                 int extendIndex, int extendBase, Instruction &into) {
  int64_t address = 0, distance = 0;
  int base = rm;
  bool hasBase = true;
  if (rm == 4) {
    const int sib = *byte++, index = (sib >> 3 & 7) | extendIndex;
    base = sib & 7;
    if (index != 4)
      into.stride = general(at, index) * (int64_t(1) << (sib >> 6));
  }
  if (mod == 0 && base == 5) {
    demand(rm == 4, "an address relative to the instruction");
    hasBase = false;
  }
  if (mod == 1)
    byte = take<int8_t>(byte, distance);
  else if (mod == 2 || !hasBase)
    byte = take<int32_t>(byte, distance);
  if (hasBase)
    address = general(at, base | extendBase);
  into.address = reinterpret_cast<uint8_t *>(address + distance);
  into.next = byte;
}

// Nothing where no AMX instruction stands.
std::optional<Instruction> decode(const ucontext_t &at) {
  const auto *byte =
      reinterpret_cast<const uint8_t *>(at.uc_mcontext.gregs[REG_RIP]);
  constexpr int vex3 = 0xc4, map0f38 = 2;
  if (byte[0] != vex3 || (byte[1] & 31) != map0f38 || byte[2] & 0x84)
    return {}; // another map, wide operands, or vectors of 256 bits
  Instruction found{Prefix(byte[2] & 3), byte[3],     byte[4] < 0xc0,
                    byte[4] >> 3 & 7,    byte[4] & 7, ~byte[2] >> 3 & 15};
  switch (found.opcode) {
  case 0x49:
  case 0x4b:
  case 0x5c:
  case 0x5e:
    break;
  default:
    return {};
  }
  found.next = byte + 5;
  if (found.hasMemory)
    readAddress(at, byte + 5, byte[4] >> 6, found.rm, byte[1] & 0x40 ? 0 : 8,
                byte[1] & 0x20 ? 0 : 8, found);
  return found;
}

void configure(const uint8_t *from) {
  tiles = {};
  demand(from[0] == 1, "a configuration of another palette than 1");
  for (int i = 1; i < 16; ++i)
    demand(from[i] == 0, "a configuration with a start row, or reserved bytes");
  for (int t = 0; t < 16; ++t) {
    uint16_t bytes;
    memcpy(&bytes, from + 16 + 2 * t, sizeof bytes);
    const int rows = from[48 + t];
    demand(t < registers || (!bytes && !rows), "a configuration of register 8");
    demand(bytes <= mostBytes && rows <= mostRows && !bytes == !rows,
           "a configured shape beyond 16 rows x 64 bytes");
    if (t < registers) {
      tiles.of[t].rows = rows;
      tiles.of[t].bytes = bytes;
    }
  }
  tiles.configured = true;
}

Register &known(int number) {
  demand(tiles.configured && number < registers && tiles.of[number].rows,
         "a register that is not configured");
  return tiles.of[number];
}

void clear(Register &what) { memset(what.line, 0, sizeof what.line); }

void load(const Instruction &by) {
  Register &to = known(by.reg);
  clear(to);
  for (int row = 0; row < to.rows; ++row)
    memcpy(to.line[row], by.address + row * by.stride, size_t(to.bytes));
}

void store(const Instruction &by) {
  const Register &from = known(by.reg);
  for (int row = 0; row < from.rows; ++row)
    memcpy(by.address + row * by.stride, from.line[row], size_t(from.bytes));
}

// The sums and the operands of products, whose shapes must fit together.
struct Product {
  explicit Product(const Instruction &by)
      : sums(known(by.reg)), input(known(by.rm)), weight(known(by.vvvv)) {
    demand(by.reg != by.rm && by.reg != by.vvvv && by.rm != by.vvvv,
           "a product with one register in two places");
    demand(sums.rows == input.rows && sums.bytes == weight.bytes &&
               input.bytes == 4 * weight.rows && sums.bytes % 4 == 0,
           "a product of shapes that do not fit together");
    ++products;
  }
  Register &sums;
  const Register &input, &weight;
};

template <typename Input, typename Weight>
void addBytes(const Instruction &by) {
  const Product of(by);
  for (int m = 0; m < of.sums.rows; ++m)
    for (int n = 0; n < of.sums.bytes / 4; ++n) {
      auto sum = of.sums.at<uint32_t>(m, n);
      for (int k = 0; k < of.input.bytes; ++k)
        sum += uint32_t(int32_t(of.input.at<Input>(m, k)) *
                        int32_t(of.weight.at<Weight>(k / 4, 4 * n + k % 4)));
      of.sums.put(m, n, sum);
    }
}

float flushed(float number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0f, number)
                                                 : number;
}

float widened(uint16_t bf16) {
  const uint32_t bits = uint32_t(bf16) << 16;
  float number;
  memcpy(&number, &bits, sizeof number);
  return flushed(number);
}

// Even and odd values of K have sums of their own, which are added at the end.
void addPairs(const Instruction &by) {
  const Product of(by);
  for (int m = 0; m < of.sums.rows; ++m)
    for (int n = 0; n < of.sums.bytes / 4; ++n) {
      float sums[2] = {};
      for (int k = 0; k < of.input.bytes / 2; ++k)
        sums[k % 2] = flushed(
            std::fma(widened(of.input.at<uint16_t>(m, k)),
                     widened(of.weight.at<uint16_t>(k / 2, 2 * n + k % 2)),
                     sums[k % 2]));
      const float both = flushed(sums[0] + sums[1]);
      of.sums.put(m, n, flushed(flushed(of.sums.at<float>(m, n)) + both));
    }
}

bool execute(const Instruction &by) {
  if (by.is(Prefix::none, 0x49) && by.hasMemory && by.reg == 0)
    configure(by.address);
  else if (by.is(Prefix::none, 0x49) && !by.hasMemory && !by.reg && !by.rm)
    tiles = {};
  else if (by.is(Prefix::xf2, 0x49) && !by.hasMemory)
    clear(known(by.reg));
  else if ((by.is(Prefix::xf2, 0x4b) || by.is(Prefix::x66, 0x4b)) &&
           by.hasMemory)
    load(by);
  else if (by.is(Prefix::xf3, 0x4b) && by.hasMemory)
    store(by);
  else if (by.is(Prefix::xf3, 0x5c) && !by.hasMemory)
    addPairs(by);
  else if (by.is(Prefix::xf2, 0x5e) && !by.hasMemory)
    addBytes<int8_t, int8_t>(by);
  else if (by.is(Prefix::xf3, 0x5e) && !by.hasMemory)
    addBytes<int8_t, uint8_t>(by);
  else if (by.is(Prefix::x66, 0x5e) && !by.hasMemory)
    addBytes<uint8_t, int8_t>(by);
  else if (by.is(Prefix::none, 0x5e) && !by.hasMemory)
    addBytes<uint8_t, uint8_t>(by);
  else
    return false;
  return true;
}

void handle(int, siginfo_t *, void *context) {
  auto &at = *static_cast<ucontext_t *>(context);
  const std::optional<Instruction> found = decode(at);
  if (!found || !execute(*found))
    giveUp("an instruction that this machine lacks and that is none of AMX's");
  at.uc_mcontext.gregs[REG_RIP] = greg_t(found->next);
}

} // namespace

void mille::test::emulateTiles() {
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGILL, &action, nullptr) != 0)
    giveUp("the signal of unknown instructions cannot be handled");
}

uint64_t mille::test::productsOfTiles() { return products; }

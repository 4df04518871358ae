// wgmma: products of a warp group, which run at some time between their issue
// and the wait for them.
#pragma once
#include "compiler/emulate/Clocks.h"

#include <deque>

namespace mille::emulate {

class Machine;

enum class Element { bf16, f16, e4m3, e5m2, s8, u8 };

// How a product reads its operands.
struct ProductForm {
  Element a, b;
  bool aIsTransposed, bIsTransposed; // rows are k: "MN-major"
  bool aIsNegative, bIsNegative;

  int elementBytes() const { return a <= Element::f16 ? 2 : 1; }
  int steps() const { return 32 / elementBytes(); } // of k
  bool isInteger() const { return a >= Element::s8; }
  unsigned packed() const {
    return unsigned(a) | unsigned(b) << 4 | aIsTransposed << 8 |
           bIsTransposed << 9 | aIsNegative << 10 | bIsNegative << 11;
  }
  static ProductForm unpacked(unsigned bits) {
    return {Element(bits & 15),  Element(bits >> 4 & 15), bool(bits >> 8 & 1),
            bool(bits >> 9 & 1), bool(bits >> 10 & 1),    bool(bits >> 11 & 1)};
  }
};

class Products {
public:
  explicit Products(Machine &machine) : machine(machine) {}
  void restart();
  void checkEnd();

  // One thread's part: its registers of the sum (columns / 2 words) become
  // tokens, which pin() exchanges for numbers. `a` is a descriptor, or where
  // `rows` is not null its four words of A.
  void issue(uint32_t *sum, const uint32_t *rows, uint64_t a, uint64_t b,
             int columns, ProductForm form, bool adds);
  void fence();
  void commit();
  void wait(int left);
  // `strict`: all that are sums must have been waited for.
  void pin(uint32_t *registers, int count, bool strict);

  // Whether all warps of the group have issued what commits before `group`.
  bool complete(int64_t warpGroup, int64_t group) const;

private:
  struct Product {
    uint64_t a, b;
    bool fromRegisters, adds;
    int columns, sum, threads, group;
    ProductForm form;
    Clock known, proxied; // what all threads know
    uint32_t rows[128][4];
  };
  struct Sum {
    int number = -1, lastGroup = 0;
    uint32_t words[64][256];
  };
  struct Group {
    std::deque<Product> waiting;
    int64_t first = 0; // number of waiting[0]
    int sums = 0;
    std::vector<Sum> ring;
  };
  struct Mine { // a thread's
    int64_t issued = 0;
    int groups = 0, waited = 0;
    bool fenced = false;
  };

  char *operand(uint64_t descriptor, const ProductForm &form, bool transposed,
                int row, int k) const;
  void checkDescriptor(uint64_t descriptor, bool transposed,
                       const ProductForm &form);
  void checkReads(Product &product, uint64_t descriptor, bool transposed,
                  int rows);
  Sum &sumOf(int number);
  void begin(Group &group, uint64_t a, uint64_t b, int columns,
             ProductForm form, bool adds, bool fromRegisters, int sum);
  void run(int warpGroup);
  void multiply(const Product &product, Sum &sum);

  Machine &machine;
  std::vector<Group> groups;
  std::vector<Mine> mine;
};

} // namespace mille::emulate

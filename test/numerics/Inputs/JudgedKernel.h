// A kernel op on given numbers: compiles it, runs it between guard pages as the
// runtime would, and compares it with the interpreter, which uses double.
#pragma once
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <deque>
#include <functional>
#include <memory>
#include <random>

namespace mille::test {

// An operand of the op. Rows 0: one dimension.
struct Operand {
  std::string name;
  int64_t rows, columns, stride;
  bool integer = false, fixed = false; // its sizes are known to the compiler
  Guarded data;
  // bf16: what the kernel sees, between guard pages of its own; `data` has the
  // same numbers.
  std::shared_ptr<Guarded> halves;
  uint16_t *half() const; // the first
  float &at(int64_t row, int64_t column) const {
    return data[row * stride + column];
  }
  int32_t &number(int64_t i) const {
    return reinterpret_cast<int32_t *>(data.data())[i];
  }
  std::string type() const;
};

class JudgedKernel {
public:
  // side: which end of each buffer touches a guard page.
  JudgedKernel(std::string name, Guarded::Side side)
      : name(std::move(name)), side(side) {}

  // [rows, columns] of random numbers, rows padded as the arena's are.
  Operand &rows(const char *name, int64_t rows, int64_t columns);
  // A weight of fixed sizes; rows 0: one dimension.
  Operand &fixed(const char *name, int64_t rows, int64_t columns);
  // An operand, all of whose numbers are there, or the out in bf16.
  void narrow(const char *name);
  // i32 [count], all 0.
  Operand &integers(const char *name, int64_t count);
  void scalar(const char *name, int64_t value) {
    scalars.push_back({name, value});
  }
  void out(int64_t rows, int64_t columns);
  // The op, with {x} for the type of operand x and {out} for that of the out.
  void op(std::string text) { line = std::move(text); }

  // Errors count against the size of what a head writes to the row, not 1: of
  // many keys little is left of each value.
  bool byHead = false;
  // Errors count against the largest finite number of their row, and what is no
  // number, or infinite, must be so in the out, and nothing else.
  bool byRow = false;
  // Then all that a head writes to the row may be so, too.
  bool spreadsInHead = false;
  // The most that the scalar `n` can be; 0: no bound.
  int64_t mostKeys = 0;

  // Runs the op in every way it may be cut, for sequences of `tokens` query
  // rows (0: rows are cut) and `keys` key rows; the failures seen, each
  // printed.
  int check(const Target &isa, double bound, int64_t tokens = 0,
            int64_t keys = 0, int64_t heads = 0);

  // Random bits that are the same everywhere.
  double draw() {
    return std::uniform_real_distribution<double>(-1, 1)(random);
  }
  int64_t pick(int64_t count) { return int64_t(random() % uint64_t(count)); }

private:
  struct Scalar {
    std::string name;
    int64_t value;
  };
  struct Cut {
    int64_t sequence, row0, row1, column0, column1;
  };
  Operand &add(Operand operand);
  std::string text() const;
  std::vector<double> judge(ParsedKernel &parsed) const;
  double sizeOfRow(const std::vector<double> &expected, int64_t row) const;
  bool isFiniteHead(const std::vector<double> &expected, int64_t row,
                    int64_t column) const;
  double sizeOfHead(const std::vector<double> &expected, int64_t row,
                    int64_t column) const;
  int32_t run(const ParsedKernel &parsed, mille_kernel_function kernel,
              const Cut &cut);
  void runCut(const ParsedKernel &parsed, mille_kernel_function kernel,
              bool whole);
  Argument argumentOf(const Operand &operand, int row, const Cut &cut) const;
  void runInto(const ParsedKernel &parsed, mille_kernel_function kernel,
               bool whole);
  void expect(bool holds, const Target &isa, const std::string &what);

  std::string name, line;
  Guarded::Side side;
  std::mt19937 random{7};
  std::deque<Operand> operands; // the out is the last
  std::vector<Scalar> scalars;
  int64_t tokens = 0, keys = 0, heads = 0;
  int failures = 0;
};

} // namespace mille::test

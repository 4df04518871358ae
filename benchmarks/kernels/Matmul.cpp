// Matmuls with their epilogues: all row counts of a class, weights in the cache as
// in a batch, and weights that stream from memory as in a model's next layer.
#include "benchmarks/kernels/Measure.h"

using namespace mille;
using namespace mille::benchmarks;

namespace {

enum class Epilogue { none, gelu, residual };

std::string regionOf(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::none:
    return "^bb0(%a: f32):\n kernel.yield %a : f32";
  case Epilogue::gelu:
    return R"(^bb0(%a: f32, %b: f32):
  %c = arith.constant -0.70710678118654757 : f32
  %h = arith.constant 0.5 : f32
  %x = arith.addf %a, %b : f32
  %t = arith.mulf %x, %c : f32
  %e = math.erfc %t : f32
  %y = arith.mulf %x, %h : f32
  %z = arith.mulf %y, %e : f32
  kernel.yield %z : f32)";
  case Epilogue::residual:
    return R"(^bb0(%a: f32, %b: f32, %r: f32):
  %x = arith.addf %a, %b : f32
  %y = arith.addf %x, %r : f32
  kernel.yield %y : f32)";
  }
  return "";
}

// A matmul of K inputs and N outputs, its text and its buffers.
struct Matmul {
  static constexpr int64_t panel = 64;
  int64_t rows, K, N;
  Epilogue epilogue;
  int64_t inputStride = paddedStride(K, 4), outStride = paddedStride(N, 4);
  int64_t panels = (N + panel - 1) / panel;
  int64_t weightBytes = panels * K * panel * 4;

  std::string text() const {
    std::string x = rowsType(K, inputStride, "f32"), o = rowsType(N, outStride, "f32");
    std::string b = "memref<" + std::to_string(N) + "xf32>";
    std::string w = "memref<" + std::to_string(panels) + "x" + std::to_string(K) +
                    "x64xf32>";
    std::string extras = epilogue == Epilogue::none ? ""
        : epilogue == Epilogue::gelu ? "extras(%bias : " + b + ") "
                                     : "extras(%bias, %rest : " + b + ", " + o + ") ";
    return "func.func @f(%in: " + x + ", %weight: " + w + ", %bias: " + b +
           ", %rest: " + o + ", %out: " + o + ") {\n kernel.matmul %in, %weight " +
           extras + "outs(%out : " + o + ") accumulators 1 {\n" + regionOf(epilogue) +
           "\n} : " + x + ", " + w + "\n return\n}\n";
  }
};

// The buffers of one matmul; calls it over a range of columns.
class Call {
public:
  Call(const Matmul &m, const Isa &isa)
      : m(m), function(made(m.text(), isa,
                            m.rows <= 12 ? RowClass::few : RowClass::many)),
        input(m.rows * m.inputStride * 4), biases(m.N * 4),
        rest(m.rows * m.outStride * 4), out(m.rows * m.outStride * 4) {}

  void run(void *weight, int64_t column, int64_t columns) {
    std::vector<Argument> arguments{
        matrixOf(input.data(), m.rows, m.K, m.inputStride),
        {weight, {{0, int32_t(m.panel), 1, 0},
                  {0, int32_t(m.K), int32_t(m.panel), 0},
                  {0, int32_t(m.panels), int32_t(m.panel * m.K), 0}}}};
    if (m.epilogue != Epilogue::none)
      arguments.push_back(test::vector(biases.data(), m.N));
    if (m.epilogue == Epilogue::residual)
      arguments.push_back(matrixOf(rest.data(), m.rows, m.N, m.outStride));
    Argument range = matrixOf(out.floats() + column, m.rows,
                              std::min(columns, m.N - column), m.outStride);
    range.dimensions[0].min = int32_t(column);
    test::call(function, arguments, {}, range);
  }

private:
  Matmul m;
  mille_kernel_function function;
  Memory input, biases, rest, out;
};

void computing(benchmark::State &state, const Isa &isa, const Matmul &m) {
  Call call(m, isa);
  Memory weight(m.weightBytes);
  constexpr int64_t columns = 128; // of a task: two panels
  measureComputing(state, isa, NumberType::f32, 2.0 * m.rows * m.K * m.N,
                   (m.N + columns - 1) / columns, [&](int64_t task) {
                     call.run(weight.data(), task * columns, columns);
                   });
}

// Each run takes the next of so many weights that none is left in a cache.
void streaming(benchmark::State &state, const Isa &isa, const Matmul &m) {
  Call call(m, isa);
  const int64_t copies = (int64_t(192) << 20) / m.weightBytes + 1;
  Memory weights(copies * m.weightBytes);
  char *first = static_cast<char *>(weights.data());
  int64_t next = 0;
  auto turn = [&] { return first + next++ % copies * m.weightBytes; };
  measureMoving(state, m.weightBytes, [&] { call.run(turn(), 0, m.N); },
                [&] { readAll(turn(), m.weightBytes); });
}

struct Shape {
  const char *name;
  int64_t K, N;
  Epilogue epilogue;
};

} // namespace

void benchmarks::addMatmuls(const Isa &isa) {
  const Shape shapes[] = {
      {"matmul-768-3072", 768, 3072, Epilogue::none},
      {"matmul-768-3072-gelu", 768, 3072, Epilogue::gelu},
      {"matmul-3072-768-residual", 3072, 768, Epilogue::residual}};
  for (const Shape &shape : shapes) {
    for (int64_t rows : {1, 7, 12, 16, 32, 33, 128, 512})
      add(shape.name, isa, "rows:" + std::to_string(rows), [=](auto &state) {
        computing(state, isa, {rows, shape.K, shape.N, shape.epilogue});
      });
    for (int64_t rows : {1, 7})
      add(std::string(shape.name) + "-streaming", isa,
          "rows:" + std::to_string(rows), [=](auto &state) {
            streaming(state, isa, {rows, shape.K, shape.N, shape.epilogue});
          });
  }
  const Shape others[] = {
      {"matmul-768-128", 768, 128, Epilogue::none},
      {"matmul-256-1024-gelu", 256, 1024, Epilogue::gelu},
      {"matmul-1024-256-residual", 1024, 256, Epilogue::residual},
      {"matmul-384-1536-gelu", 384, 1536, Epilogue::gelu},
      {"matmul-1000-1000", 1000, 1000, Epilogue::none},
      {"matmul-4096-4096", 4096, 4096, Epilogue::none}};
  for (const Shape &shape : others)
    for (int64_t rows : {16, 64, 128})
      add(shape.name, isa, "rows:" + std::to_string(rows), [=](auto &state) {
        computing(state, isa, {rows, shape.K, shape.N, shape.epilogue});
      });
  add("matmul-768-30522", isa, "rows:16", [=](auto &state) {
    computing(state, isa, {16, 768, 30522, Epilogue::none});
  });
}

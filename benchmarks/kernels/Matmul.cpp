// Matmuls with their epilogues: all row counts of a class, weights in the cache
// as in a batch, and weights that stream from memory as in a model's next
// layer.
#include "benchmarks/kernels/Measure.h"
#include "compiler/kernels/Panels.h"
#include "runtime/Partition.h"

using namespace mille;
using namespace mille::benchmarks;

namespace {

// What a type's matmul reads and multiplies.
struct Type {
  const char *name;
  NumberType number;
  Element input, weight;
  int64_t group; // of K, side by side in 32 bits
};
const Type types[] = {{"f32", NumberType::f32, f32, f32, 1},
                      {"bf16", NumberType::bf16, bf16, bf16, 2},
                      {"int8", NumberType::int8, ui8, i8, 4}};

enum class Epilogue { none, gelu, residual };

// acc, then of int8 the steps of row and column; a bias; a residual.
std::string regionOf(Epilogue epilogue, bool bytes) {
  const bool bias = epilogue != Epilogue::none;
  std::string text = "^bb0(%acc: f32";
  text += bytes ? ", %n: f32" : "";
  text += bias ? ", %b: f32" : "";
  text += epilogue == Epilogue::residual ? ", %r: f32):\n" : "):\n";
  std::string last = "%acc";
  if (bytes) {
    text += " %real = arith.mulf %acc, %n : f32\n";
    last = "%real";
  }
  if (bias) {
    text += " %x = arith.addf " + last + ", %b : f32\n";
    last = "%x";
  }
  if (epilogue == Epilogue::gelu) {
    text += R"( %c = arith.constant -0.70710678118654757 : f32
 %h = arith.constant 0.5 : f32
 %t = arith.mulf %x, %c : f32
 %e = math.erfc %t : f32
 %y = arith.mulf %x, %h : f32
 %z = arith.mulf %y, %e : f32
)";
    last = "%z";
  }
  if (epilogue == Epilogue::residual) {
    text += " %z = arith.addf %x, %r : f32\n";
    last = "%z";
  }
  return text + " kernel.yield " + last + " : f32";
}

std::string numbers(std::initializer_list<int64_t> sizes, Element element) {
  std::string text = "memref<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element.name + ">";
}

// A matmul of K inputs and N outputs, its text and its sizes.
struct Matmul {
  Type type;
  int64_t rows, K, N;
  Epilogue epilogue;
  // A hidden layer's result is read as bf16 by the next matmul or rounding.
  Element result = epilogue == Epilogue::gelu && type.group > 1 ? bf16 : f32;
  int64_t inputStride = paddedStride(K, type.input);
  int64_t outStride = paddedStride(N, result),
          restStride = paddedStride(N, f32);
  int64_t panel = panelWidth(
      N, test::generators().panels(knownTargets().take_front()).of(1));
  int64_t panels = (N + panel - 1) / panel;
  int64_t steps = (K + type.group - 1) / type.group;
  int64_t weightCount = panels * steps * panel * type.group;
  int64_t weightBytes = weightCount * type.weight.bytes;
  bool bytes() const { return type.number == NumberType::int8; }

  std::string text() const {
    std::string x = rowsType(K, inputStride, type.input);
    std::string o = rowsType(N, outStride, result),
                r = rowsType(N, restStride, f32);
    std::string column = numbers({N}, f32);
    std::string w = numbers({panels, steps, panel * type.group}, type.weight);
    std::string parameters = "memref<?x4xf32>",
                sums = numbers({panels, 1, panel}, i32);
    std::string names, kinds;
    auto extra = [&](const std::string &name, const std::string &kind) {
      names += (names.empty() ? "" : ", ") + name;
      kinds += (kinds.empty() ? "" : ", ") + kind;
    };
    if (bytes())
      extra("%column", column);
    if (epilogue != Epilogue::none)
      extra("%bias", column);
    if (epilogue == Epilogue::residual)
      extra("%rest", r);
    return "func.func @f(%in: " + x + ", %weight: " + w +
           ", %parameters: " + parameters + ", %sums: " + sums +
           ", %column: " + column + ", %bias: " + column + ", %rest: " + r +
           ", %out: " + o + ") {\n kernel.matmul %in, %weight " +
           (bytes() ? "parameters %parameters : " + parameters +
                          " sums %sums : " + sums + " "
                    : "") +
           (names.empty() ? "" : "extras(" + names + " : " + kinds + ") ") +
           "outs(%out : " + o + ") accumulators 1 {\n" +
           regionOf(epilogue, bytes()) + "\n} : " + x + ", " + w +
           "\n return\n}\n";
  }
};

// The buffers of one matmul; calls it over a range of rows and columns.
class Call {
public:
  Call(const Matmul &m, const Target &isa)
      : m(m), kernel(made(m.text(), isa, m.rows)),
        input(m.rows * m.inputStride, m.type.input),
        parameters(m.rows * 4, f32), sums(m.panels * m.panel, i32),
        column(m.N, f32), bias(m.N, f32), rest(m.rows * m.restStride, f32),
        out(m.rows * m.outStride, m.result) {
    for (int64_t row = 0; row < m.rows; ++row) // outliers anywhere
      parameters.floats()[row * 4 + 3] = float(row * 37 % m.K);
  }

  // As the runtime cuts it for one thread.
  Split split() const {
    mille_kernel cut = {};
    cut.column_unit = kernel.info.columnUnit;
    cut.row_unit = kernel.info.rowUnit;
    cut.flops_per_row = kernel.info.flopsPerRow;
    cut.bytes_weights = kernel.info.bytesWeights;
    return splitRows(cut, m.rows, m.N, 1);
  }

  void run(void *weight, Range rows, Range columns) {
    const int32_t width = int32_t(m.panel * m.type.group);
    auto packed = [&](void *data, int32_t width, int64_t steps) {
      return Argument{data,
                      {{0, width, 1, 0},
                       {0, int32_t(steps), width, 0},
                       {0, int32_t(m.panels), int32_t(steps * width), 0}}};
    };
    std::vector<Argument> arguments{
        matrixOf(input.data(), m.rows, m.K, m.inputStride),
        packed(weight, width, m.steps)};
    if (m.bytes()) {
      arguments.push_back(matrixOf(parameters.data(), m.rows, 4, 4));
      arguments.push_back(packed(sums.data(), int32_t(m.panel), 1));
      arguments.push_back(test::vector(column.data(), m.N));
    }
    if (m.epilogue != Epilogue::none)
      arguments.push_back(test::vector(bias.data(), m.N));
    if (m.epilogue == Epilogue::residual)
      arguments.push_back(matrixOf(rest.data(), m.rows, m.N, m.restStride));
    Argument range = matrixOf(out.at(rows.first * m.outStride + columns.first),
                              rows.end - rows.first,
                              columns.end - columns.first, m.outStride);
    range.dimensions[0].min = int32_t(columns.first);
    range.dimensions[1].min = int32_t(rows.first);
    test::call(kernel.function, arguments, {}, range);
  }

private:
  Matmul m;
  MadeKernel kernel;
  Buffer input, parameters, sums, column, bias, rest, out;
};

void computing(benchmark::State &state, const Target &isa, const Matmul &m) {
  Call call(m, isa);
  Buffer weight(m.weightCount, m.type.weight);
  const Split split = call.split();
  std::vector<Task> tasks;
  for (int64_t task = 0; task < split.tasks(); ++task) {
    int64_t sequence;
    Range rows, columns;
    split.task(task, sequence, rows, columns);
    tasks.push_back(
        {2.0 * (rows.end - rows.first) * m.K * (columns.end - columns.first),
         [&, rows, columns] { call.run(weight.data(), rows, columns); }});
  }
  measureComputing(state, isa, m.type.number, tasks);
}

// Each run takes the next of so many weights that none is left in a cache.
void streaming(benchmark::State &state, const Target &isa, const Matmul &m) {
  Call call(m, isa);
  const int64_t copies = (int64_t(192) << 20) / m.weightBytes + 1;
  Buffer weights(copies * m.weightCount, m.type.weight);
  int64_t next = 0;
  auto turn = [&] { return weights.at(next++ % copies * m.weightCount); };
  measureMoving(
      state, m.weightBytes, [&] { call.run(turn(), {0, m.rows}, {0, m.N}); },
      [&] { readAll(turn(), m.weightBytes); });
}

struct MatmulShape {
  const char *name;
  int64_t K, N;
  Epilogue epilogue;
};

} // namespace

static void addMatmulsOf(const Type &type, const Target &isa) {
  auto compute = [&](const MatmulShape &shape, int64_t rows) {
    add(std::string(shape.name) + "/" + type.name, isa,
        "rows:" + std::to_string(rows), [=](auto &state) {
          computing(state, isa, {type, rows, shape.K, shape.N, shape.epilogue});
        });
  };
  const MatmulShape shapes[] = {
      {"matmul-768-3072", 768, 3072, Epilogue::none},
      {"matmul-768-3072-gelu", 768, 3072, Epilogue::gelu},
      {"matmul-3072-768-residual", 3072, 768, Epilogue::residual}};
  for (const MatmulShape &shape : shapes) {
    for (int64_t rows : {1, 7, 12, 13, 16, 18, 19, 32, 33, 100, 128, 512})
      compute(shape, rows);
    for (int64_t rows : {1, 6, 7, 12, 13, 16, 18, 19, 24, 32})
      add(std::string(shape.name) + "-streaming/" + type.name, isa,
          "rows:" + std::to_string(rows), [=](auto &state) {
            streaming(state, isa,
                      {type, rows, shape.K, shape.N, shape.epilogue});
          });
  }
  const MatmulShape others[] = {
      {"matmul-768-128", 768, 128, Epilogue::none},
      {"matmul-256-1024-gelu", 256, 1024, Epilogue::gelu},
      {"matmul-1024-256-residual", 1024, 256, Epilogue::residual},
      {"matmul-384-1536-gelu", 384, 1536, Epilogue::gelu},
      {"matmul-1000-1000", 1000, 1000, Epilogue::none},
      {"matmul-4096-4096", 4096, 4096, Epilogue::none}};
  for (const MatmulShape &shape : others)
    for (int64_t rows : {16, 64, 128})
      compute(shape, rows);
  compute({"matmul-768-30522", 768, 30522, Epilogue::none}, 16);
}

void benchmarks::addMatmuls(const Target &isa) {
  for (const Type &type : types)
    if (hasInstructions(isa, type.number))
      addMatmulsOf(type, isa);
}

// The kernels of a training step that compute: weight gradients, and
// attention's backward pass, whose five products are what is counted.
#include "benchmarks/kernels/Measure.h"

using namespace mille;
using namespace mille::benchmarks;

static void weightGradient(benchmark::State &state, const Target &isa,
                           int64_t rows, int64_t N, int64_t K,
                           Element element) {
  const int64_t ofGradient = paddedStride(N, element),
                ofInput = paddedStride(K, element);
  const std::string g = rowsType(N, ofGradient, element),
                    x = rowsType(K, ofInput, element),
                    o = "memref<" + std::to_string(N) + "x" +
                        std::to_string(K) + "xf32>";
  MadeKernel kernel =
      made("func.func @f(%g: " + g + ", %x: " + x + ", %o: " + o +
               ") {\n kernel.weight_gradient %g, %x outs(%o : " + o +
               ") : " + g + ", " + x + "\n return\n}\n",
           isa);
  Buffer gradient(rows * ofGradient, element), input(rows * ofInput, element),
      out(N * K, f32);
  auto run = [&] {
    test::call(kernel.function,
               {matrixOf(gradient.data(), rows, N, ofGradient),
                matrixOf(input.data(), rows, K, ofInput)},
               {}, matrixOf(out.data(), N, K, K));
  };
  measureComputing(state, isa,
                   element.bytes == 2 ? NumberType::bf16 : NumberType::f32,
                   {{2.0 * double(rows * N * K), run}});
}

static void attentionBackward(benchmark::State &state, const Target &isa,
                              int64_t tokens, int64_t heads, int64_t width,
                              bool causal) {
  const int64_t columns = heads * width, stride = paddedStride(columns, f32);
  const std::string t = rowsType(columns, stride, f32),
                    h = std::to_string(heads), w = std::to_string(width);
  MadeKernel kernel = made(
      "func.func @f(%q: " + t + ", %k: " + t + ", %v: " + t + ", %g: " + t +
          ", %a: " + t + ", %b: " + t + ", %c: " + t +
          ", %n: index) {\n kernel.attention_backward %q, %k, %v gradient %g "
          ": " +
          t + " queries %n keys %n outs(%a, %b, %c : " + t + ", " + t + ", " +
          t + ") heads " + h + " kv_heads " + h + " head_dim " + w +
          " value_dim " + w + " offsets [0, 0, 0] scale 0.125 causal " +
          (causal ? "true" : "false") + " : " + t + ", " + t + ", " + t +
          "\n return\n}\n",
      isa);
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < 7; ++i)
    buffers.push_back(std::make_unique<Buffer>(tokens * stride, f32));
  auto inHeads = [&](int number) {
    return Argument{buffers[number]->data(),
                    {{0, int32_t(width), 1, 0},
                     {0, int32_t(tokens), int32_t(stride), 0},
                     {0, int32_t(heads), int32_t(width), 0}}};
  };
  std::vector<Argument> inputs;
  for (int i = 0; i < 4; ++i)
    inputs.push_back(matrixOf(buffers[i]->data(), tokens, columns, stride));
  inputs.insert(inputs.end(), {inHeads(4), inHeads(5)});
  auto run = [&] {
    test::call(kernel.function, inputs, {int32_t(tokens), int32_t(tokens)},
               inHeads(6));
  };
  const double pairs = double(tokens * tokens) * (causal ? 0.5 : 1);
  measureComputing(state, isa, NumberType::f32,
                   {{5 * 2 * pairs * double(columns), run}});
}

void benchmarks::addTraining(const Target &isa) {
  using Sizes = std::pair<int64_t, int64_t>;
  for (Sizes sizes : {Sizes{256, 256},
                      {768, 256},
                      {1024, 256},
                      {256, 1024},
                      {768, 768},
                      {3072, 768},
                      {768, 3072}})
    for (Element element : {f32, bf16})
      for (int64_t rows : {64, 512})
        add("weight-gradient-" + std::to_string(sizes.first) + "x" +
                std::to_string(sizes.second) + "/" + element.name,
            isa, "rows:" + std::to_string(rows), [=](auto &state) {
              weightGradient(state, isa, rows, sizes.first, sizes.second,
                             element);
            });
  for (bool causal : {false, true})
    for (int64_t tokens : {64, 128, 512})
      add(std::string("attention-backward-4x64") + (causal ? "-causal" : "") +
              "/f32",
          isa, "tokens:" + std::to_string(tokens), [=](auto &state) {
            attentionBackward(state, isa, tokens, 4, 64, causal);
          });
}

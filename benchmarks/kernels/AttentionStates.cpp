// A decode step's attention to the keys and values of a state in panels: one
// query, all heads, the parts of all stretches. States take turns, so that each
// is read from memory.
#include "benchmarks/kernels/Measure.h"
#include "runtime/StatePanels.h"

using namespace mille;
using namespace mille::benchmarks;

namespace {

constexpr int64_t memoryBytes = 160 << 20, stretch = 512;

struct Step {
  Element held; // of keys and values
  int64_t keys, heads, groups, dim;
  int64_t valueDim; // less than dim: of latent rows
  bool once;        // the values are the first columns of the keys

  bool inBytes() const { return held.bytes == 1; }
  int64_t keyColumns() const {
    return groups * (inBytes() ? mille_row_bytes(dim) : dim);
  }
  int64_t valueColumns() const {
    return once ? keyColumns()
                : groups * (inBytes() ? mille_row_bytes(valueDim) : valueDim);
  }
  int64_t bytes() const {
    return keys * (keyColumns() + (once ? 0 : valueColumns())) * held.bytes;
  }
  std::string rows(int64_t columns, const char *element) const {
    return "memref<?x" + std::to_string(columns) + "x" + element + ">";
  }
  std::string text() const {
    auto number = [](int64_t value) { return std::to_string(value); };
    std::string q = rows(heads * dim, held.bytes == 2 ? "bf16" : "f32"),
                k = rows(keyColumns(), held.name),
                v = rows(valueColumns(), held.name),
                o = rows(heads * valueDim, "f32"), past = "memref<?xi32>";
    return "func.func @f(%t: index, %n: index, %p: index, %q: " + q +
           ", %k: " + k + ", %v: " + v + ", %past: " + past + ", %o: " + o +
           ") {\n kernel.attention %q, %k, " + (once ? "%k" : "%v") +
           " past %past : " + past +
           " queries %t keys %n first %p outs(%o : " + o + ") heads " +
           number(heads) + " kv_heads " + number(groups) + " head_dim " +
           number(dim) + " value_dim " + number(valueDim) +
           " offsets [0, 0, 0] scale 0.001 causal true panels : " + q + ", " +
           k + ", " + v + "\n return\n}\n";
  }
};

void attend(benchmark::State &state, const Target &isa, const Step &step) {
  test::ParsedKernel parsed(step.text());
  mille_kernel_function few = test::load(parsed, isa, RowClass::few);
  const int64_t states = memoryBytes / step.bytes(),
                stretches = (step.keys + stretch - 1) / stretch,
                readable = 128 * step.dim;
  Buffer query(step.heads * step.dim, step.held.bytes == 2 ? bf16 : f32),
      keys(states * step.keys * step.keyColumns() + readable, step.held),
      values(step.once ? 1
                       : states * step.keys * step.valueColumns() + readable,
             step.held),
      other(step.bytes() * (states / 2 + 1), i8),
      parts(2 * stretches * step.heads * step.valueDim, f32);
  const std::vector<int32_t> shifts(step.keys / MILLE_PANEL_ROWS + 8);
  const int32_t dim = int32_t(step.valueDim), all = int32_t(step.heads) * dim,
                ofQuery = int32_t(step.heads * step.dim),
                count = int32_t(step.keys);
  auto part = [&](int64_t which) -> Argument {
    return {parts.floats() + which * stretches * all,
            {{0, dim, 1, 0},
             {0, 1, dim, 0},
             {0, int32_t(step.heads), dim, 0},
             {0, int32_t(stretches), all, 0}}};
  };
  int64_t turn = 0;
  measureMoving(
      state, double(step.bytes()),
      [&] {
        turn = (turn + 1) % states;
        std::vector<Argument> inputs{
            matrixOf(query.data(), 1, ofQuery, ofQuery),
            matrixOf(keys.at(turn * step.keys * step.keyColumns()), step.keys,
                     step.keyColumns(), step.keyColumns()),
            step.once
                ? matrixOf(keys.at(turn * step.keys * step.keyColumns()),
                           step.keys, step.keyColumns(), step.keyColumns())
                : matrixOf(values.at(turn * step.keys * step.valueColumns()),
                           step.keys, step.valueColumns(), step.valueColumns()),
            test::vector(shifts.data(), int64_t(shifts.size()))};
        test::call(few, inputs, {1, count, count - 1}, {part(0), part(1)});
      },
      [&] {
        const char *from = static_cast<const char *>(other.data());
        readAll(from + turn % (states / 2) * step.bytes() / 64 * 64,
                step.bytes() / 64 * 64);
      });
}

void addStep(const Step &step, const Target &isa) {
  auto number = [](int64_t value) { return std::to_string(value); };
  add("attention-" + number(step.heads) + "x" + number(step.dim) +
          "-groups:" + number(step.groups) + (step.once ? "-once" : "") +
          "-state/" + step.held.name,
      isa, "keys:" + number(step.keys), [=](auto &s) { attend(s, isa, step); });
}

// Grouped heads; and the latent rows of DeepSeek-V2-Lite, which a state holds
// twice or once.
void addStepsOf(Element held, const Target &isa) {
  for (int64_t keys : {128, 1024, 4096}) {
    for (auto [heads, groups, dim] :
         {std::tuple<int64_t, int64_t, int64_t>{9, 3, 64},
          {12, 3, 64},
          {24, 3, 64},
          {9, 3, 128},
          {12, 3, 128},
          {24, 3, 128}})
      addStep({held, keys, heads, groups, dim, dim, false}, isa);
    for (bool once : {false, true})
      if (!once || held.bytes > 1)
        addStep({held, keys, 16, 1, 576, 512, once}, isa);
  }
}

} // namespace

void benchmarks::addAttentionStates(const Target &isa) {
  for (Element held : {f32, bf16, i8})
    addStepsOf(held, isa);
}

// Two generators in one list: which of them makes a kernel, what both need of
// the host, which panels both read; and the list of targets.
//
// RUN: %programs/kernels-generators 2>&1 | FileCheck %s
// CHECK: targets: x86-64-v3 x86-64-v4 cascadelake zen4 zen5
// CHECK-SAME: {{^}} sapphirerapids
// CHECK-SAME: {{^}} opencl cuda{{$}}
// CHECK: devices: opencl cuda
// CHECK: least: x86-64-v3
// CHECK: no target metal
// CHECK: rows: unit 6, few 3, scratch 500
// CHECK: opencl: second, mille_k_{{[0-9a-f]+}}_opencl_many_argv
// CHECK: cuda: second, mille_k_{{[0-9a-f]+}}_cuda_many_argv
// CHECK: x86-64-v3: first, mille_k_{{[0-9a-f]+}}_x86_64_v3_few_argv
// CHECK: a name of other versions: differs
// CHECK: error: no kernel of rows for zen4: it is too new
// CHECK: error: no kernel of rows for zen4: no generator makes it
// CHECK: panels of CPUs: 48 64, of more 64
// CHECK: panels of all: 64 32, of more{{ *$}}
// CHECK: panels of devices: 32 64, of more 32, in rows
// CHECK: 256 columns: 64, 1024: 48, 1024 of one width: 32
#include "compiler/kernels/Generator.h"

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>

using namespace mille;

namespace {

struct Fake : Generator {
  std::string word;
  bool devices;
  uint32_t unit, few;
  uint64_t scratch;
  PanelWidths widths;

  Fake(std::string word, bool devices, uint32_t unit, uint32_t few,
       uint64_t scratch, PanelWidths widths)
      : word(word), devices(devices), unit(unit), few(few), scratch(scratch),
        widths(widths) {}
  std::string name() const override { return word; }
  std::string version() const override { return word + "\n"; }
  bool serves(const Target &target) const override {
    return target.isDevice() == devices;
  }
  PanelWidths panels(const Target &) const override { return widths; }
  void describe(const KernelSpec &, KernelInfo &info) const override {
    info.rowUnit = std::max(info.rowUnit, unit);
    info.fewRows = std::max(info.fewRows, few);
    info.scratchBytes = std::max(info.scratchBytes, scratch);
  }
  bool hasClasses(const KernelSpec &, const Target &) const override {
    return few;
  }
  std::vector<std::string> tiles(const KernelSpec &,
                                 const Target &) const override {
    return {};
  }
  std::vector<std::string> explainTiles(const KernelSpec &,
                                        const Target &) const override {
    return {};
  }
  bool generate(const KernelRequest &request, std::string &object,
                KernelReport &report) const override {
    report.problem = "it is too new";
    object = word + ", " + request.symbol;
    return request.target.name != "zen4";
  }
};

void print(const char *what, const PanelWidths &widths) {
  printf("panels of %s:", what);
  for (int64_t width : widths.ofOne)
    printf(" %d", int(width));
  printf(", of more");
  for (int64_t width : widths.ofMore)
    printf(" %d", int(width));
  printf("%s\n", widths.inRows ? ", in rows" : "");
}

constexpr char text[] = R"(
func.func @k(%x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  kernel.rows ins(%x : memref<?x8xf32>) outs(%o : memref<?x8xf32>) gather [-1] {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}
)";

} // namespace

int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  printf("targets:");
  for (const std::string &name : targetNames())
    printf(" %s", name.c_str());
  printf("\ndevices:");
  for (const std::string &name : deviceTargetNames())
    printf(" %s", name.c_str());
  printf("\nleast: %s\n", leastTarget().name.c_str());
  printf("%s target metal\n", targetNamed("metal") ? "a" : "no");

  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  mlir::Operation *op = nullptr;
  module->walk([&](kernel::RowsOp rows) { op = rows; });

  const Fake first("first", false, 6, 3, 400, {{48, 64, 32}, {64}});
  const Fake second("second", true, 4, 0, 500, {{32, 64}, {32}, true});
  const Generators both({&first, &second}), one({&second});
  KernelInfo info = both.describe(op);
  printf("rows: unit %u, few %u, scratch %u\n", info.rowUnit, info.fewRows,
         unsigned(info.scratchBytes));
  for (const char *name : {"opencl", "cuda", "x86-64-v3"}) {
    std::string object;
    both.generate(op, *targetNamed(name), RowClass::few, false, object);
    printf("%s: %s\n", name, object.c_str());
  }
  printf("a name of other versions: %s\n",
         one.describe(op).name == info.name ? "the same" : "differs");
  std::string object;
  for (const Generators *list : {&both, &one})
    if (list->generate(op, *targetNamed("zen4"), RowClass::few, false,
                       object) != Status::bug)
      printf("no failure\n");

  const Fake cpu("cpu", false, 1, 0, 0, {{48, 64}, {64}});
  print("CPUs", Generators({&cpu}).panels(knownTargets().drop_back(2)));
  print("all", both.panels(knownTargets()));
  print("devices", both.panels(knownTargets().take_back(2)));
  printf("256 columns: %d, 1024: %d, 1024 of one width: %d\n",
         int(panelWidth(256, {48, 64})), int(panelWidth(1024, {48, 64})),
         int(panelWidth(1024, {32})));
}

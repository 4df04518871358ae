// Where the reference goes by another run's experts: where these are the best
// by that run's own logits, near or far, and where they are not, which no run
// of a package has, so that what they are is given here.
//
// RUN: %programs/driver-routes %source/test/conformance/mixtral | FileCheck %s
//
// CHECK: its own: 0 followed, 0 unfounded, alike 1, outputs the same
// CHECK: other order: 0 followed, 0 unfounded, alike 1, outputs the same
// CHECK: by its logits: 1 followed, 0 unfounded, alike 0, outputs others
// CHECK: against them: 0 followed, 1 unfounded, alike 0, outputs the same
// CHECK: no expert: 0 followed, 1 unfounded, alike 0, outputs the same
// CHECK: fewer rows: alike 0
// CHECK: with unfounded
// CHECK-NEXT: experts 0 of 26 choices stand at a tie,
// CHECK-SAME: where the reference follows; 1 are not the best by the package's
// CHECK-SAME: own logits DIFFERS at router 1, row 5
// CHECK-NEXT: good 0
#include "compiler/driver/Compiler.h"
#include "compiler/driver/commands/VerifyReport.h"
#include "compiler/import/Import.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mille;

namespace {

constexpr int64_t router = 1, row = 5, tokens = 13;

struct Model {
  Imported imported;
  mlir::Operation *op = nullptr;
  Values inputs;

  Values run(Routing &routing) {
    ParameterValues parameters(op, imported.folder);
    Values outputs;
    if (failed(
            interpret(op, parameters, inputs, outputs, "", {}, {}, &routing)))
      exit(1);
    return outputs;
  }
};

// What follows where the reference takes the experts of `given`.
Routing follow(const char *what, Model &model, const Values &own,
               const Routes &routes, const Routes &given) {
  Routing routing;
  routing.given = &given;
  Values outputs = model.run(routing);
  const bool same =
      outputs["logits"].numbers == own.find("logits")->second.numbers;
  llvm::outs() << what << ": " << routing.followed << " followed, "
               << routing.unfounded << " unfounded, alike "
               << goAlike(given, routes) << ", outputs "
               << (same ? "the same" : "others") << "\n";
  return routing;
}

void followAll(Model &model) {
  Routing plain;
  const Values own = model.run(plain);
  const Routes &routes = plain.made;
  follow("its own", model, own, routes, routes);
  auto changed = [&](auto change) {
    Routes given = routes;
    change(given[router], &given[router].experts[row * 2],
           &given[router].logits[row * given[router].entries()]);
    return given;
  };
  follow("other order", model, own, routes,
         changed([](RoutedRows &, double *experts, double *) {
           std::swap(experts[0], experts[1]);
         }));
  // The last of the experts in place of the second, which then has its logit.
  auto other = [](const double *experts) {
    int64_t e = 3;
    while (e == experts[0] || e == experts[1])
      --e;
    return e;
  };
  follow("by its logits", model, own, routes,
         changed([&](RoutedRows &, double *experts, double *logits) {
           const int64_t taken = other(experts);
           std::swap(logits[taken], logits[int64_t(experts[1])]);
           experts[1] = taken;
         }));
  Routing unfounded =
      follow("against them", model, own, routes,
             changed([&](RoutedRows &, double *experts, double *) {
               experts[1] = other(experts);
             }));
  follow("no expert", model, own, routes,
         changed([](RoutedRows &, double *experts, double *) {
           experts[1] = 1e6;
         }));
  Routes fewer = routes;
  fewer[0].logits.resize(fewer[0].logits.size() - fewer[0].entries());
  fewer[0].experts.resize(fewer[0].experts.size() - 2);
  llvm::outs() << "fewer rows: alike " << areAlike(fewer, routes) << "\n";
  VerifyReport report(llvm::outs(), /*json=*/false);
  const bool good =
      report.compare("with unfounded", {}, {1, -1, 0}, &unfounded);
  llvm::outs() << "good " << good << "\n";
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  Model model;
  if (failed(importModel(argv[1], {}, context, model.imported)))
    return 1;
  auto models = model.imported.module->getOps<transformer::ModelOp>();
  model.op = *models.begin();
  Value &ids = model.inputs["input_ids"];
  ids = {{1, tokens}, {}, true};
  for (int64_t i = 0; i < tokens; ++i)
    ids.numbers.push_back(double((i * 29 + 7) % 64));
  followAll(model);
  return 0;
}

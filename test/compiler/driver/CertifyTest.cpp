// What measures rewrites fails a compile where a rewrite changes numbers by
// more than it claims, and where the sample does not run; as they are claimed,
// neither. No model brings either about, so the claims are given here, and a
// folder that has no weights. The same of a model so large that most of its
// weights are zeros in the sample, and columns of its vocabulary left out.
//
// RUN: python3 %source/test/tools/Inputs/wider.py \
// RUN:   %source/test/conformance/native/deepnet_encoder_24_layers/spec.json \
// RUN:   120000 4096 > %t.json
// RUN: %programs/driver-certify \
// RUN:   %source/test/conformance/native/deepnet_encoder_24_layers/spec.json \
// RUN:   %t.json 2>&1 | FileCheck %s
//
// CHECK: as claimed: status 0, {{[1-9][0-9]*}} findings, 0 exceed, 0 thinned
// CHECK: error: exchange-scales changes numbers by {{[1-9].*}} in f64
// CHECK-SAME: on inputs 'random' but may change them by 0.00e+00
// CHECK: as of no rounding: status 4,
// CHECK-SAME: findings, {{[1-9][0-9]*}} exceed
// CHECK: error: the sample that measures rewrites does not run
// CHECK: without weights: status 4, 0 findings, 0 exceed
// CHECK: large: status 0, 1 findings, 0 exceed, 13 thinned
// CHECK-SAME: 256 columns of outputs, one row of 11 of the weights, zeros
// CHECK: error: exchange-scales changes numbers by {{[1-9].*}} in f64
// CHECK: large, as of no rounding: status 4, 1 findings, 1 exceed
// CHECK: large, in bf16: status 0, 2 findings, 0 exceed
// CHECK: large, in int8: status 0, 2 findings, 0 exceed
// CHECK: large, in q4_0: status 0, 2 findings, 0 exceed
#include "compiler/driver/Compiler.h"
#include "compiler/driver/program/Certificate.h"
#include "compiler/import/Import.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdio>

using namespace mille;

namespace {

void measure(const char *what, const char *spec, mlir::MLIRContext &context,
             int64_t roundings, bool hasWeights, const char *dtype = "f32") {
  Imported imported;
  if (failed(importModel(spec, {}, context, imported)))
    exit(1);
  Laboratory laboratory(std::move(imported.module),
                        hasWeights ? imported.folder : "/nonexistent",
                        Effort::brief);
  Certificate certificate;
  Status status = certify(laboratory, {{"exchange-scales", roundings}}, {},
                          dtype, certificate);
  int exceed = 0;
  for (const Finding &one : certificate.measured)
    exceed += !one.good();
  int thinned = 0; // weights with rows of zeros
  laboratory.module().walk([&](transformer::ParameterOp parameter) {
    thinned += llvm::isa<transformer::GatherAttr>(parameter.getValue());
  });
  fflush(stderr);
  printf("%s: status %d, %zu findings, %d exceed, %d thinned%s\n", what,
         int(status), certificate.measured.size(), exceed, thinned,
         (certificate.note.empty() ? "" : "; " + certificate.note).c_str());
  fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  measure("as claimed", argv[1], context, 2, true);
  measure("as of no rounding", argv[1], context, 0, true);
  measure("without weights", argv[1], context, 2, false);
  measure("large", argv[2], context, 2, true);
  measure("large, as of no rounding", argv[2], context, 0, true);
  measure("large, in bf16", argv[2], context, 2, true, "bf16");
  measure("large, in int8", argv[2], context, 2, true, "int8");
  measure("large, in q4_0", argv[2], context, 2, true, "q4_0");
  return 0;
}

// Reads ops and writes their kernels. Must not compile or run them.
#include "test/compiler/nvvm/Inputs/Kernels.h"

#include "compiler/kernels/ReadSpec.h"
#include "compiler/nvvm/NormBehind.h"
#include "compiler/nvvm/NormedMatmul.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Regex.h"

#include <cstdio>
#include <cstdlib>

using namespace mille;
using namespace mille::nvvm;

bool test::eachMatmul(
    const char *file,
    const std::function<void(mlir::MLIRContext &, const KernelSpec &)> &call) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<kernel::KernelDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  bool right = bool(module);
  if (module)
    module->walk([&](kernel::MatmulOp op) {
      KernelSpec spec;
      if (failed(readSpec(op, spec)))
        right = false;
      else if (std::string why = whyNotMatmul(spec); !why.empty())
        printf("declined: %s\n", why.c_str());
      else
        call(context, spec);
    });
  return right;
}

Kernel test::writeWithTile(mlir::MLIRContext &context, const KernelSpec &spec,
                           const std::string &words) {
  if (std::optional<MatmulTile> tile = tileBehindNorm(spec);
      tile && words == "behind")
    return writeProductThenNorm(context, spec, *tile, "matmul");
  if (!spec.joined.empty())
    return writeNormedMatmul(context, spec, normedTile(spec, words == "few"),
                             "matmul");
  if (isOfParts(spec.matmul))
    return writePartsMatmul(context, spec,
                            partsTile(spec.matmul, words == "few"), "matmul");
  if (spec.matmul.experts)
    return writeMatmul(context, spec, expertsTile(spec.matmul, words == "few"),
                       "matmul");
  MatmulTile tile;
  int pingPong = 0;
  if (sscanf(words.c_str(), "%u,%u,%u,%d", &tile.columns, &tile.blocks,
             &tile.cluster, &pingPong) == 4) {
    tile.pingPong = pingPong;
    return writeMatmul(context, spec, tile, "matmul");
  }
  FewRowsTile few = fewRowsTile(spec.matmul);
  if (sscanf(words.c_str(), "few,%u", &few.columns) == 1 || words == "few")
    return writeFewRows(context, spec, few, "matmul");
  return writeMatmul(context, spec, matmulTiles(spec).front(), "matmul");
}

unsigned test::deviceFencesIn(llvm::StringRef ptx) {
  const llvm::Regex wide("fence\\.(acq_rel|sc)\\.(gpu|sys)|membar\\.(gl|sys)|"
                         "arrive\\.release\\.cluster");
  unsigned lines = 0;
  while (!ptx.empty()) {
    llvm::StringRef line;
    std::tie(line, ptx) = ptx.split('\n');
    lines += wide.match(line);
  }
  return lines;
}

void test::keepCubin(llvm::StringRef cubin) {
  const char *path = getenv("CUBINS");
  if (FILE *file = path ? fopen(path, "ab") : nullptr) {
    fwrite(cubin.data(), 1, cubin.size(), file);
    fclose(file);
  }
}

mlir::Operation *test::kernelsOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::gpu::GPUModuleOp>().begin();
}

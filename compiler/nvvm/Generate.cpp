// What the generator makes and declines, its tiles, and its objects, from the
// cache or made. Must not depend on where an op stands.
#include "compiler/nvvm/Generate.h"

#include "compiler/kernels/Cache.h"
#include "compiler/nvvm/Attention.h"
#include "compiler/nvvm/Emit.h"
#include "compiler/nvvm/NormBehind.h"
#include "compiler/nvvm/NormedMatmul.h"
#include "compiler/nvvm/Ptxas.h"
#include "compiler/nvvm/Quantize.h"
#include "compiler/nvvm/Rotate.h"
#include "compiler/nvvm/Rows.h"
#include "compiler/nvvm/Sources.h"
#include "compiler/nvvm/StateAttention.h"
#include "compiler/nvvm/Tiles.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace mille;
using namespace mille::nvvm;

namespace {

bool readsStates(const KernelSpec &spec) {
  return spec.kind == KernelKind::attention && spec.attention.past;
}

class NvvmGenerator : public Generator {
public:
  std::string name() const override { return "nvvm"; }

  std::string version() const override {
    return "nvvm sources " MILLE_SOURCES "\nLLVM " LLVM_VERSION_STRING "\n";
  }

  bool serves(const Target &target) const override {
    return target.name == "cuda";
  }

  std::string declines(const KernelSpec &spec, const Target &) const override {
    if (std::string why = whyNotOneHalf(spec); !why.empty())
      return why;
    switch (spec.kind) {
    case KernelKind::matmul:
      return whyNotMatmul(spec);
    case KernelKind::attention:
      return whyNotAttention(spec);
    case KernelKind::rows:
      return whyNotRows(spec);
    case KernelKind::rotate:
      return whyNotRotate(spec);
    case KernelKind::quantize:
      return whyNotQuantize(spec);
    case KernelKind::slots:
    case KernelKind::weightGradient:
    case KernelKind::columnSums:
    case KernelKind::embedGradient:
    case KernelKind::normBackward:
    case KernelKind::crossEntropy:
    case KernelKind::pack:
    case KernelKind::attentionBackward:
      break;
    }
    return "it makes matmuls, attention, rows, bytes of rows and RoPE";
  }

  bool joins(const Target &target) const override { return serves(target); }

  bool turnsFirst(const Target &target) const override {
    return serves(target);
  }

  PanelWidths panels(const Target &) const override {
    return {{64}, {64}, /*inRows=*/true};
  }

  void describe(const KernelSpec &spec, KernelInfo &info) const override {
    if (spec.kind == KernelKind::matmul && spec.matmul.inRows())
      info.fewRows = std::max<uint32_t>(info.fewRows, fewRows(spec));
    if (readsStates(spec))
      info.fewRows = splitRows;
  }

  static unsigned fewRows(const KernelSpec &spec) {
    if (!spec.joined.empty())
      return normedFewRows(spec);
    if (spec.matmul.experts)
      return expertsFewRows;
    return isOfParts(spec.matmul) ? partsFewRows(spec.matmul)
                                  : fewRowsOf(spec.matmul);
  }

  bool hasClasses(const KernelSpec &spec, const Target &) const override {
    return spec.kind == KernelKind::matmul || readsStates(spec);
  }

  std::vector<std::string> tiles(const KernelSpec &spec,
                                 const Target &) const override {
    std::vector<std::string> texts;
    if (!spec.joined.empty())
      return {};
    if (spec.kind == KernelKind::matmul && !spec.matmul.experts &&
        !isOfParts(spec.matmul))
      for (const MatmulTile &tile : matmulTiles(spec))
        texts.push_back(wordsOf(tile));
    if (spec.kind == KernelKind::attention && !readsStates(spec))
      for (const AttentionTile &tile : attentionTiles(spec))
        texts.push_back(wordsOf(tile));
    return texts;
  }

  std::vector<std::string> explainTiles(const KernelSpec &spec,
                                        const Target &) const override {
    switch (spec.kind) {
    case KernelKind::matmul:
      if (!spec.joined.empty())
        return {explainNormed(spec)};
      if (isOfParts(spec.matmul))
        return {explainParts(spec)};
      if (spec.matmul.experts)
        return {explainExperts(spec.matmul)};
      return {explainTile(spec, matmulTiles(spec).front()),
              explainTile(spec.matmul, fewRowsTile(spec.matmul))};
    case KernelKind::attention:
      return {readsStates(spec) ? wordsOfStateAttention(spec)
                                : wordsOfAttention(spec)};
    case KernelKind::rows:
      return {wordsOf(RowsTile(spec))};
    case KernelKind::quantize:
      return {wordsOfQuantize(spec)};
    default:
      return {};
    }
  }

  std::string warning() const override {
    if (!ptxasPath().empty())
      return "";
    return "ptxas is not found ($MILLE_PTXAS, PATH, /usr/local/cuda/bin), so "
           "kernels are PTX, which the driver compiles each time that a "
           "package is opened";
  }

  bool generate(const KernelRequest &request, std::string &object,
                KernelReport &report) const override;
};

} // namespace

static std::string entryOf(const KernelRequest &request) {
  return llvm::StringRef(request.symbol).drop_back(strlen("_argv")).str();
}

template <typename Tile>
static Tile ranked(const std::vector<Tile> &tiles, unsigned rank) {
  return tiles[std::min<size_t>(rank, tiles.size() - 1)];
}

// The best tile of attention is two where long sequences want another.
static Kernel writeRanked(mlir::MLIRContext &context, const KernelSpec &spec,
                          unsigned rank, const std::string &entry) {
  Kernel kernel =
      writeAttention(context, spec, ranked(attentionTiles(spec), rank), entry);
  std::optional<LongTile> other = tileOfLong(spec);
  if (rank || !other)
    return kernel;
  kernel.mostQueries = other->mostQueries;
  kernel.ofLong = std::make_unique<Kernel>(
      writeAttention(context, spec, other->tile, entry + "_long"));
  return kernel;
}

static Kernel writeNormed(mlir::MLIRContext &context, const KernelSpec &spec,
                          bool few, const std::string &entry) {
  if (!few)
    if (std::optional<MatmulTile> tile = tileBehindNorm(spec))
      return writeProductThenNorm(context, spec, *tile, entry);
  return writeNormedMatmul(context, spec, normedTile(spec, few), entry);
}

bool mille::nvvm::writeKernel(mlir::MLIRContext &context,
                              const KernelRequest &request, Kernel &kernel,
                              std::string &problem) {
  const KernelSpec &spec = request.spec;
  problem = nvvmGenerator().declines(spec, request.target);
  if (!problem.empty())
    return false;
  const std::string entry = entryOf(request);
  if (readsStates(spec))
    kernel = writeStateAttention(context, spec, request.few, entry);
  else if (spec.kind == KernelKind::attention)
    kernel = writeRanked(context, spec, request.rank, entry);
  else if (spec.kind == KernelKind::rows)
    kernel = writeRows(context, spec, entry);
  else if (spec.kind == KernelKind::rotate)
    kernel = writeRotate(context, spec, entry);
  else if (spec.kind == KernelKind::quantize)
    kernel = writeQuantize(context, spec, entry);
  else if (!spec.joined.empty())
    kernel = writeNormed(context, spec, request.few, entry);
  else if (isOfParts(spec.matmul))
    kernel = writePartsMatmul(context, spec,
                              partsTile(spec.matmul, request.few), entry);
  else if (spec.matmul.experts)
    kernel = writeMatmul(context, spec, expertsTile(spec.matmul, request.few),
                         entry);
  else if (request.few)
    kernel = writeFewRows(context, spec, fewRowsTile(spec.matmul), entry);
  else
    kernel = writeMatmul(context, spec, ranked(matmulTiles(spec), request.rank),
                         entry);
  return true;
}

// What ptxas did to a kernel that costs its time; its exit status says nothing.
static std::string lossOf(const PtxasFacts &facts) {
  const std::string who = ptxasPath();
  if (!facts.warnings.empty())
    return who +
           " says: " + llvm::StringRef(facts.warnings).split('\n').first.str();
  if (facts.spillBytes)
    return who + " puts " + std::to_string(facts.spillBytes) +
           " bytes of a thread's registers into memory";
  return "";
}

// A failure is this machine's: its ptxas, or its folder for ptxas' files.
static bool makeCubin(DeviceCode &code, KernelReport &report) {
  PtxasFacts facts;
  if (ptxasPath().empty())
    return true;
  if (!assemble(code.ptx, code.cubin, facts, report.problem, report.help)) {
    report.blame = Status::machine;
    return false;
  }
  if (report.warning.empty())
    report.warning = lossOf(facts);
  return true;
}

static bool makeCode(const Kernel &kernel, LaunchedCode &made,
                     KernelReport &report) {
  made.launch = kernel.launch;
  if (!makePtx(*kernel.module, made.code.ptx, report.problem) ||
      !makeCubin(made.code, report))
    return false;
  auto make = [&](const std::unique_ptr<Kernel> &other,
                  std::unique_ptr<LaunchedCode> &into) {
    if (other)
      into = std::make_unique<LaunchedCode>();
    return !other || makeCode(*other, *into, report);
  };
  made.mostQueries = kernel.mostQueries;
  return make(kernel.ofLong, made.ofLong) && make(kernel.then, made.then);
}

bool NvvmGenerator::generate(const KernelRequest &request, std::string &object,
                             KernelReport &report) const {
  const std::string assembler = ptxasVersion();
  // What says no version is told from no ptxas by what it makes alone.
  const bool useCache =
      request.useCache && (ptxasPath().empty() || !assembler.empty());
  const std::string key = kernelCacheKey(
      canonicalText(request.spec) + "\n" + version() + assembler + "\n" +
      request.symbol + "\n" + std::to_string(request.rank));
  if (useCache && readKernelCache(key, object))
    return true;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Kernel kernel;
  LaunchedCode code;
  if (!writeKernel(context, request, kernel, report.problem) ||
      !makeCode(kernel, code, report) ||
      !makeObject(request.symbol, code, object, report.problem))
    return false;
  if (useCache && report.warning.empty()) // else the next compile warns too
    writeKernelCache(key, object);
  return true;
}

const Generator &mille::nvvmGenerator() {
  static const NvvmGenerator generator;
  return generator;
}

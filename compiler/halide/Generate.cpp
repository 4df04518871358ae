// The room's door: what Halide's kernels need, their tiles, and their objects,
// from the cache or made. Must not depend on where an op stands.
#include "compiler/halide/Generate.h"

#include "compiler/halide/Build.h"
#include "compiler/halide/Emit.h"
#include "compiler/halide/Sources.h"
#include "compiler/halide/device/DeviceTiles.h"
#include "compiler/halide/matmul/Tiles.h"
#include "compiler/kernels/Cache.h"
#include "compiler/kernels/Operands.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/xxhash.h"

using namespace mille;
using llvm::StringRef;

namespace {

constexpr llvm::StringLiteral big = "-large_buffers";

// Names the maker of the object where it is not Halide: for every CPU, LLVM.
std::string makerOf(const EmitOptions &options) {
  return options.cpu.empty()
             ? ""
             : "\n" + options.cpu + " by LLVM " LLVM_VERSION_STRING;
}

Core coreFor(const KernelSpec &spec, const Target &target) {
  return coreOf(traitsOf(target), spec.matmul.isNarrow());
}

class HalideGenerator : public Generator {
public:
  std::string name() const override { return "halide"; }

  // The hash of this room's sources is a part of it, so that the cache has no
  // entry that other sources made.
  std::string version() const override {
    return "sources " MILLE_SOURCES "\nhalide " + halideVersion() + "\n";
  }

  bool serves(const Target &target) const override {
    return !emitOptionsOf(target).target.empty();
  }

  // A panel has 48 columns, which are three vectors of AVX-512, or 64, which
  // are four. With 48 a tile of 8 rows fills the registers, and reads from L2
  // three quarters of what a tile of 6 rows reads with 64: BERT-base on Cascade
  // Lake is 1.02 to 1.05 times as fast at 128 tokens, and 1 to 1.09 times at
  // 32. With 64 the columns of two accumulators are whole vectors, and 256
  // columns need no padding. A device reads panels of 64: by the model of
  // devices work-groups of 8 x 8 items waste least.
  PanelWidths panels(const Target &target) const override {
    if (target.isDevice())
      return {{64}, {64}, /*inRows=*/target.backend == "cuda"};
    return {{48, 64}, {64}};
  }

  // Whether a buffer has these elements; keys and values of states, which may
  // be f16, do not count.
  static bool isOf(const KernelSpec &spec, Element element) {
    auto is = [&](const BufferSpec &buffer) {
      return buffer.element == element;
    };
    if (spec.kind == KernelKind::attention)
      return is(spec.out) || is(spec.attention.query);
    return llvm::any_of(operandsOf(spec), is);
  }

  std::string declines(const KernelSpec &spec,
                       const Target &target) const override {
    if (isOf(spec, Element::e4m3))
      return "numbers of fp8 are read and written by kernels for Hopper alone, "
             "those of bf16 by others too";
    if (!target.isDevice() && isOf(spec, Element::f16))
      return "numbers of f16 are read and written by kernels of devices alone, "
             "those of bf16 by others too";
    const MatmulSpec &m = spec.matmul;
    if (isOfTraining(spec.kind) && target.isDevice())
      return "a training step runs on the CPU";
    const Element key = spec.attention.key.element;
    if (spec.kind == KernelKind::attention && target.isDevice() &&
        key == Element::i8)
      return "keys and values are in bytes";
    if (spec.kind == KernelKind::matmul && m.heads && target.isDevice())
      return "it has a weight for each head";
    if (spec.kind != KernelKind::matmul || !m.inRows())
      return "";
    if (target.backend == "cuda" && !m.ofBlocks() && !m.experts &&
        m.inner % PanelWidths::rowUnit == 0)
      return "";
    return "its weight is in rows";
  }

  void describe(const KernelSpec &given, KernelInfo &info) const override {
    const KernelSpec spec = withPanels(given);
    info.rowUnit = std::max(info.rowUnit, rowUnitOf(spec));
    if (spec.kind == KernelKind::weightGradient)
      info.columnUnit = weightGradientColumns(spec);
    if (spec.kind == KernelKind::matmul)
      info.fewRows = std::max<uint32_t>(info.fewRows, fewRowsOf(spec));
    if (spec.kind == KernelKind::attention) {
      const AttentionSpec &a = spec.attention;
      info.partRows = fewRowsOf(a);
      info.stretchKeys = keysOfPart(a);
      info.partBytes = info.stretchKeys ? 8 * a.heads * a.valueDim : 0;
    }
    uint64_t scratch, perToken;
    scratchOf(spec, scratch, perToken);
    info.scratchBytes = std::max(info.scratchBytes, scratch);
    info.scratchBytesPerToken = std::max(info.scratchBytesPerToken, perToken);
    info.keyUnit = std::max(info.keyUnit, keysTogether(spec));
  }

  // Matmul has a schedule of its own for few rows on AVX-512 without tile
  // registers where its weight is not small, and on devices of OpenCL, where it
  // is the one without local memory. With CUDA every device has that. Attention
  // to a state has one on every CPU.
  bool hasClasses(const KernelSpec &given,
                  const Target &target) const override {
    const KernelSpec spec = withPanels(given);
    if (spec.kind == KernelKind::attention)
      return !target.isDevice() && fewRowsOf(spec.attention) > 0;
    if (spec.kind != KernelKind::matmul || fewRowsOf(spec) == 0)
      return false;
    if (target.isDevice())
      return target.backend == "opencl";
    const CpuTraits cpu = traitsOf(target);
    const bool inTiles = cpu.tileRegisters && spec.matmul.isNarrow();
    return cpu.wide && !inTiles && !isSmall(spec, coreFor(spec, target));
  }

  std::vector<std::string> tiles(const KernelSpec &spec,
                                 const Target &target) const override {
    std::vector<std::string> texts;
    if (spec.kind == KernelKind::matmul && !target.isDevice())
      for (const MatmulTile &tile : tilesOf(spec, coreFor(spec, target)))
        texts.push_back(inWords(tile, spec.matmul));
    return texts;
  }

  std::vector<std::string> explainTiles(const KernelSpec &given,
                                        const Target &target) const override {
    const KernelSpec spec = withPanels(given);
    if (spec.kind != KernelKind::matmul)
      return {};
    if (!target.isDevice())
      return {explainTile(spec, coreFor(spec, target))};
    std::vector<std::string> texts{explainTile(spec.matmul, gpuDescription())};
    if (hasClasses(spec, target))
      texts.push_back(explainTile(spec.matmul, coreDescription()));
    return texts;
  }

  bool generate(const KernelRequest &request, std::string &object,
                KernelReport &report) const override;

private:
  // Rows of a register tile, on every machine: tile registers have 16 rows, and
  // vectors' tiles divide that.
  static uint32_t rowUnitOf(const KernelSpec &spec) {
    switch (spec.kind) {
    case KernelKind::matmul:
      return spec.matmul.isNarrow() ? 16 : tilesOf(spec, coreOf()).front().rows;
    case KernelKind::attention:
      return 32;
    case KernelKind::weightGradient:
      return 24; // a multiple of its tiles' rows
    default:
      return 1;
    }
  }
};

} // namespace

// Halide's time to lower a program follows the length of its names, which hold
// this text two or three times. Halide goes through names in their order: a
// first letter that followed the hash would order `scores_` and
// `scores_parts_` by kernel, and so the instructions.
static std::string shortName(StringRef entry) {
  return "m" + llvm::utohexstr(llvm::xxh3_64bits(entry), /*LowerCase=*/true);
}

bool HalideGenerator::generate(const KernelRequest &request,
                               std::string &object,
                               KernelReport &report) const {
  const KernelSpec &spec = request.spec;
  EmitOptions options = emitOptionsOf(request.target);
  const MatmulSpec m = withPanels(spec).matmul;
  if (spec.kind == KernelKind::matmul &&
      m.inner * m.panels * m.panel > INT32_MAX)
    options.target += big.str();
  options.entry = StringRef(request.symbol).drop_back(strlen("_argv")).str();
  options.unique = shortName(options.entry);
  options.rows = request.join  ? RowClass::join
                 : request.few ? RowClass::few
                               : RowClass::many;
  options.rank = request.rank;
  const std::string key = kernelCacheKey(
      canonicalText(spec) + "\n" + version() + options.target + "\n" +
      request.symbol + "\n" + std::to_string(request.rank) + makerOf(options));
  if (request.useCache && readKernelCache(key, object))
    return true;
  if (!emitKernel(spec, options, object, report.problem))
    return false;
  if (request.useCache)
    writeKernelCache(key, object);
  return true;
}

const Generator &mille::halideGenerator() {
  static const HalideGenerator generator;
  return generator;
}

// The room's door: what a kernel is called, what the host must know of it, and
// its object, from the cache or made. Must not depend on where an op stands.
#include "compiler/halide/Generate.h"

#include "compiler/halide/Cache.h"
#include "compiler/halide/Emit.h"
#include "compiler/halide/ReadSpec.h"
#include "compiler/halide/device/DeviceTiles.h"
#include "compiler/halide/matmul/Tiles.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mille;

namespace {

// Change it with any change of an algorithm or schedule: old entries of the
// cache are then no longer found.
constexpr StringLiteral scheduleVersion = "103";

constexpr StringLiteral features =
    "-no_runtime-user_context-no_asserts-no_bounds_query";
constexpr StringLiteral big = "-large_buffers";

std::string hashOf(StringRef text) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(ArrayRef(digest.data(), digest.size()), true);
}

// Identity of a kernel, whatever it is compiled for.
std::string identityOf(const KernelSpec &spec) {
  return canonicalText(spec) + "\nschedule " + scheduleVersion.str() +
         "\nhalide " + halideVersion() + "\n";
}

std::string nameOf(const KernelSpec &spec) {
  return "mille_k_" + hashOf(identityOf(spec)).substr(0, 16);
}

// Whose object it is, where not Halide's own: of every CPU.
std::string makerOf(const Isa &isa) {
  return isa.cpu.empty() ? ""
                         : "\n" + isa.cpu + " by LLVM " LLVM_VERSION_STRING;
}

bool isWide(const Isa &isa) { return isa.features & MILLE_CPU_AVX512; }

bool hasTileRegisters(const Isa &isa) { return isa.features & MILLE_CPU_AMX; }

Core coreFor(const KernelSpec &spec, const Isa &isa) {
  return coreOf(isWide(isa), hasTileRegisters(isa), spec.matmul.isNarrow());
}

// Only matmul has a schedule of its own for few rows: on AVX-512 without tile
// registers, and on devices, where it is the one without local memory.
bool hasClasses(const KernelInfo &info, const Isa &isa) {
  const bool inTiles = hasTileRegisters(isa) && info.narrow;
  return info.fewRows > 0 &&
         ((isWide(isa) && !inTiles) || !isa.backend.empty());
}

void describeMatmul(const KernelSpec &spec, KernelInfo &info) {
  const MatmulSpec &m = spec.matmul;
  info.bufferCount = 3 + m.extras.size();
  info.columnUnit = m.panel / m.accumulators;
  info.narrow = m.isNarrow();
  // On every machine: tile registers have 16 rows, and vectors' tiles divide
  // that.
  info.rowUnit =
      info.narrow ? 16 : tilesOf(spec, coreOf(/*wide=*/true)).front().rows;
  info.fewRows = fewRowsOf(spec);
  info.flopsPerRow = 2 * m.inner * m.columns * m.accumulators;
  info.bytesWeights = bytesOf(m.input.element) * m.inner * m.panels * m.panel;
  info.rowDimension = {1, -1};
  if (m.ofBytes()) { // parameters of rows, sums of the weight's
    info.bufferCount += 2;
    info.rowDimension.insert(info.rowDimension.end(), {1, -1});
    info.bytesWeights += 4 * m.panels * m.panel;
  }
  for (const BufferSpec &extra : m.extras) {
    bool byRow =
        extra.reading == Reading::element || extra.reading == Reading::row;
    info.rowDimension.push_back(byRow ? 1 : -1);
    if (extra.reading == Reading::column)
      info.bytesWeights += 4 * m.columns;
  }
}

void describe(const RowsSpec &r, KernelInfo &info) {
  info.bufferCount = r.inputs.size() + r.indices + 1;
  info.columnUnit = r.columns; // a row is short work: split rows only
  info.rowUnit = 1;
  uint64_t perElement = r.body.steps.size();
  switch (r.norm) {
  case RowStatistic::none:
    break;
  case RowStatistic::layer:
    perElement += 6;
    break;
  case RowStatistic::rms:
  case RowStatistic::l2:
    perElement += 3;
    break;
  }
  info.flopsPerRow = perElement * r.columns;
  for (auto [i, input] : llvm::enumerate(r.inputs)) {
    bool byRow =
        input.reading == Reading::element || input.reading == Reading::row;
    info.rowDimension.push_back(r.gather[i] < 0 && byRow ? 1 : -1);
  }
  info.rowDimension.insert(info.rowDimension.end(), r.indices, 0);
}

void describe(const QuantizeSpec &q, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = 4; // of the parameters
  info.rowUnit = 1;
  info.flopsPerRow = 7 * q.input.columns;
  info.rowDimension = {1, 1};
}

// The row dimension of an operand that may be absent.
int8_t rowDimensionOf(AttentionOperand operand) {
  switch (operand) {
  case AttentionOperand::headScale:
  case AttentionOperand::sink:
  case AttentionOperand::bias:
    return -1;
  case AttentionOperand::keyMask:
  case AttentionOperand::segments:
  case AttentionOperand::prefix: // a row per sequence
    return 0;
  default:
    return 1;
  }
}

void describe(const AttentionSpec &a, KernelInfo &info) {
  info.partition = MILLE_PARTITION_SEQUENCES;
  info.rowDimension = {1, 1, 1}; // query, key, value
  for (int i = 0; i < attentionOperands; ++i)
    if (a.optional[i])
      info.rowDimension.push_back(rowDimensionOf(AttentionOperand(i)));
  if (a.decay)
    info.rowDimension.push_back(-1);
  info.bufferCount = info.rowDimension.size() + 1;
  info.scalarCount = a.decay ? 1 : 3;
  // Heads that share turned keys, or vectors, stay in one task.
  info.columnUnit = a.kvHeads > 1 ? a.group() : a.together();
  info.rowUnit = 32;
  info.flopsPerRow = 2 * a.heads * (a.headDim + a.valueDim);
}

void describe(const RotateSpec &r, KernelInfo &info) {
  info.bufferCount = 3;
  info.columnUnit = r.heads * r.headDim;
  info.rowUnit = 1;
  info.flopsPerRow = 3 * r.heads * r.rotation.columns;
  info.rowDimension = {1, 1};
}

// Rows are taken by numbers that count the whole run's: a task has them all.
void describe(const SlotsSpec &s, KernelInfo &info) {
  info.bufferCount = 3 + !s.combines + s.weights.has_value();
  info.columnUnit = 64;
  info.rowUnit = 1u << 30;
  info.flopsPerRow = (s.combines ? 2 * s.k : 1) * s.columns;
  info.rowDimension.assign(info.bufferCount - 1, -1);
}

} // namespace

llvm::ArrayRef<Isa> mille::knownIsas() {
  static const Isa isas[] = {
      {"sapphirerapids", ("x86-64-linux-avx512_zen4" + features).str(),
       MILLE_CPU_AVX2 | MILLE_CPU_AVX512 | MILLE_CPU_AVX512_BF16 |
           MILLE_CPU_AVX512_VNNI | MILLE_CPU_AVX512_VBMI2 | MILLE_CPU_AMX,
       "", "sapphirerapids"},
      {"zen4", ("x86-64-linux-avx512_zen4" + features).str(),
       MILLE_CPU_AVX2 | MILLE_CPU_AVX512 | MILLE_CPU_AVX512_BF16 |
           MILLE_CPU_AVX512_VNNI | MILLE_CPU_AVX512_VBMI2,
       "", "znver4"},
      // Halide has vpdpbusd from Zen 4 on only.
      {"cascadelake", ("x86-64-linux-avx512_zen4" + features).str(),
       MILLE_CPU_AVX2 | MILLE_CPU_AVX512 | MILLE_CPU_AVX512_VNNI, "",
       "cascadelake"},
      {"x86-64-v4", ("x86-64-linux-avx512_skylake" + features).str(),
       MILLE_CPU_AVX2 | MILLE_CPU_AVX512, "", "x86-64-v4"},
      {"x86-64-v3", ("x86-64-linux-avx-avx2-f16c-fma-sse41" + features).str(),
       MILLE_CPU_AVX2, "", "x86-64-v3"},
      {"opencl", ("x86-64-linux-opencl" + features).str(), 0, "opencl"},
  };
  return isas;
}

KernelInfo mille::describeKernel(Operation *op) {
  KernelInfo info{};
  KernelSpec spec;
  if (failed(readSpec(op, spec)))
    return info;
  info.name = nameOf(spec);
  info.partition = MILLE_PARTITION_ROWS;
  switch (spec.kind) {
  case KernelKind::matmul:
    describeMatmul(spec, info);
    break;
  case KernelKind::rows:
    describe(spec.rows, info);
    break;
  case KernelKind::quantize:
    describe(spec.quantize, info);
    break;
  case KernelKind::attention:
    describe(spec.attention, info);
    break;
  case KernelKind::rotate:
    describe(spec.rotate, info);
    break;
  case KernelKind::slots:
    describe(spec.slots, info);
    break;
  }
  info.rowDimension.push_back(spec.kind == KernelKind::slots ? -1 : 1); // out
  scratchOf(spec, info.scratchBytes, info.scratchBytesPerToken);
  info.keyUnit = keysTogether(spec);
  return info;
}

std::string mille::kernelSymbol(const KernelInfo &info, const Isa &isa,
                                RowClass rows) {
  std::string name = isa.name;
  std::replace(name.begin(), name.end(), '-', '_');
  bool few = rows == RowClass::few && hasClasses(info, isa);
  return info.name + "_" + name + (few ? "_few" : "_many") + "_argv";
}

std::vector<std::string> mille::explainTiles(Operation *op, const Isa &isa) {
  KernelSpec spec;
  if (failed(readSpec(op, spec)) || spec.kind != KernelKind::matmul)
    return {};
  if (isa.backend.empty())
    return {explainTile(spec, coreFor(spec, isa))};
  return {explainTile(spec.matmul, gpuDescription()),
          explainTile(spec.matmul, coreDescription())};
}

std::vector<std::string> mille::tilesOf(Operation *op, const Isa &isa) {
  KernelSpec spec;
  std::vector<std::string> texts;
  if (failed(readSpec(op, spec)) || spec.kind != KernelKind::matmul ||
      !isa.backend.empty())
    return texts;
  for (const MatmulTile &tile : tilesOf(spec, coreFor(spec, isa)))
    texts.push_back(inWords(tile, spec.matmul));
  return texts;
}

Status mille::generateKernel(Operation *op, const Isa &isa, RowClass rows,
                             bool useCache, std::string &object,
                             unsigned rank) {
  KernelSpec spec;
  if (failed(readSpec(op, spec)))
    return Status::bug;
  KernelInfo info{};
  info.name = nameOf(spec);
  if (spec.kind == KernelKind::matmul)
    describeMatmul(spec, info);
  std::string symbol = kernelSymbol(info, isa, rows);
  EmitOptions options = emitOptionsOf(isa);
  if (spec.kind == KernelKind::matmul &&
      spec.matmul.inner * spec.matmul.panels * spec.matmul.panel > INT32_MAX)
    options.target += big.str();
  options.entry = StringRef(symbol).drop_back(strlen("_argv")).str();
  options.unique = options.entry;
  options.few = rows == RowClass::few && hasClasses(info, isa);
  options.rank = rank;
  std::string key = hashOf(identityOf(spec) + options.target + "\n" + symbol +
                           "\n" + std::to_string(rank) + makerOf(isa));
  if (useCache && readKernelCache(key, object))
    return Status::done;
  std::string problem;
  if (!emitKernel(spec, options, object, problem)) {
    op->emitError("no kernel for ") << isa.name << ": " << problem;
    return Status::bug;
  }
  if (useCache)
    writeKernelCache(key, object);
  return Status::done;
}

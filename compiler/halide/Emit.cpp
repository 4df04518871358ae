// Runs Halide on one pipeline and gives the bytes of an object, which LLVM
// makes for a CPU.
// Must not keep state: several threads emit at once, and equal specs must give
// equal bytes.
#include "compiler/halide/Emit.h"

#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/device/DevicePtx.h"
#include "compiler/halide/device/DeviceSource.h"
#include "compiler/halide/instructions/MachineCode.h"
#include "compiler/halide/passes/RegistersApart.h"
#include "runtime/abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace Halide;

namespace mille {

ImageParam bufferOf(const BufferSpec &spec, const std::string &name) {
  ImageParam buffer(typeOf(spec.element), spec.rank, name);
  buffer.dim(0).set_bounds(0, int(spec.columns));
  if (spec.rank == 2)
    buffer.dim(1).set_stride(int(spec.rowStride));
  return buffer;
}

Expr readOf(const BufferSpec &spec, const ImageParam &buffer, const Expr &n,
            const Expr &m) {
  Expr first = spec.rank == 2 ? buffer.dim(1).min() : Expr();
  switch (spec.reading) {
  case Reading::element:
    return widened(buffer(n, m));
  case Reading::row:
    return buffer(0, m);
  case Reading::column:
    return spec.rank == 2 ? buffer(n, first) : buffer(n);
  case Reading::scalar:
    return spec.rank == 2 ? buffer(0, first) : buffer(0);
  }
  return {};
}

std::string halideVersion() {
  return std::to_string(HALIDE_VERSION_MAJOR) + "." +
         std::to_string(HALIDE_VERSION_MINOR) + "." +
         std::to_string(HALIDE_VERSION_PATCH);
}

namespace {

// Drops Halide's warnings, which are about style, and keeps its errors, which
// the caller reports.
class Quiet : public CompileTimeErrorReporter {
public:
  void warning(const char *) override {}
  void error(const char *text) override { throw CompileError(text); }
};

// LLVM's options, which Halide reads from the environment when it first makes
// code. They turn off LLVM's own vectorisation, because schedules have all
// vectors: LLVM put the addresses of a tile's rows into vectors, took these
// apart in each step, and kept the sums of bf16 in memory.
constexpr const char *llvmOptions = "-vectorize-slp=false";

constexpr char features[] =
    "-no_runtime-user_context-no_asserts-no_bounds_query";

// An unnamed file in memory that Halide can write by path.
class MemoryFile {
public:
  explicit MemoryFile(const char *name)
      : file(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() { close(file); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }
  bool read(std::string &bytes) const {
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
      return false;
    bytes.resize(size_t(status.st_size));
    return pread(file, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size());
  }

private:
  int file;
};

// Gives Halide a reason to start LLVM. Its runtime would take most of a second.
void startHalidesLlvm() {
  Func nothing("nothing");
  nothing() = 0;
  MemoryFile file("mille_nothing");
  nothing.compile_to_object(file.path(), {}, "nothing",
                            get_host_target()
                                .without_feature(Halide::Target::JIT)
                                .with_feature(Halide::Target::NoRuntime));
}

void prepareHalide() {
  static Quiet quiet;
  static std::once_flag once;
  std::call_once(once, [] {
    set_custom_compile_time_error_reporter(&quiet);
    const char *name = "HL_LLVM_ARGS", *before = getenv(name);
    const std::string kept = before ? before : "";
    setenv(name, llvmOptions, /*replace=*/1);
    startHalidesLlvm();
    before ? setenv(name, kept.c_str(), 1) : unsetenv(name);
  });
}

Machine machineOf(const Halide::Target &target, const EmitOptions &options) {
  Machine machine{options.traits};
  machine.device = target.has_gpu_feature();
  if (machine.device) {
    machine.lanes = 4;
    machine.bytes = false;
    return machine;
  }
  machine.lanes = machine.wide ? 16 : 8;
  machine.picks = machine.wide;
  machine.pairs = machine.bytes && options.bf16;
  machine.integers = machine.bytes && !options.bf16;
  // Zen 4 drops some prefetches into L2 only (arXiv 2411.02814), and gains
  // nothing.
  machine.prefetchesIntoL2 = machine.tileRegisters;
  return machine;
}

Pipe build(const KernelSpec &spec, const Machine &machine, const Names &names,
           const EmitOptions &options) {
  switch (spec.kind) {
  case KernelKind::matmul:
    return buildMatmul(spec, machine, names, options.rows == RowClass::few,
                       options.rank);
  case KernelKind::rows:
    return buildRows(spec, machine, names);
  case KernelKind::quantize:
    return spec.quantize.inBlocks() ? buildQuantizeBlocks(spec, machine, names)
                                    : buildQuantize(spec, machine, names);
  case KernelKind::attention:
    return buildAttention(spec, machine, names, options.rows);
  case KernelKind::rotate:
    return buildRotate(spec, machine, names);
  case KernelKind::slots:
    return buildSlots(spec, machine, names);
  case KernelKind::weightGradient:
    return sumsInPairs(spec, machine)
               ? buildWeightGradientOfPairs(spec, machine, names)
               : buildWeightGradient(spec, machine, names);
  case KernelKind::columnSums:
    return buildColumnSums(spec, machine, names);
  case KernelKind::embedGradient:
    return buildEmbedGradient(spec, machine, names);
  case KernelKind::normBackward:
    return buildNormBackward(spec, machine, names);
  case KernelKind::crossEntropy:
    return buildCrossEntropy(spec, machine, names);
  case KernelKind::pack:
    return spec.pack.group > 1 ? buildPackOfPairs(spec, machine, names)
                               : buildPack(spec, machine, names);
  case KernelKind::attentionBackward:
    return buildAttentionBackward(spec, machine, names);
  }
  return {};
}

// Halide would use the target's bf16, which an older CPU does not have, and
// f16, which OpenCL need not have. For CUDA Halide 21 stores a vector of f32
// where one rounded to f16 is to be stored.
KernelSpec asHeld(KernelSpec spec, const EmitOptions &options) {
  if (!options.bf16)
    spec = with(Element::bf16Bits, Element::bf16, std::move(spec));
  return options.f16 ? spec
                     : with(Element::f16Bits, Element::f16, std::move(spec));
}

// Puts scalars between the last out and all other buffers, as abi.h has them:
// Halide has them before all outs.
Module orderArguments(const Module &module) {
  Module ordered(module.name(), module.target());
  // Else LLVM would reassociate what is strict.
  ordered.set_any_strict_float(module.any_strict_float());
  for (const Buffer<void> &buffer : module.buffers())
    ordered.append(buffer);
  for (Internal::LoweredFunc function : module.functions()) {
    const std::vector<Internal::LoweredArgument> given = function.args;
    auto place = function.args.begin() + 1; // after the user context
    for (bool buffers : {true, false})
      place = std::copy_if(given.begin() + 1, given.end() - 1, place,
                           [&](const Argument &argument) {
                             return argument.is_buffer() == buffers;
                           });
    ordered.append(function);
  }
  return ordered;
}

// The kernels of a device are a text, in a buffer of the module.
Module placeBuffers(const Module &module, const ExpertGroups &experts) {
  Module placed(module.name(), module.target());
  for (const Internal::LoweredFunc &function : module.functions())
    placed.append(function);
  for (const Buffer<void> &buffer : module.buffers()) {
    if (buffer.name().find("_gpu_source_kernels") == std::string::npos) {
      placed.append(buffer);
      continue;
    }
    const char *written = static_cast<const char *>(buffer.data());
    std::string text = module.target().has_feature(Halide::Target::CUDA)
                           ? placedPtx(written, argumentsOf(module), experts)
                           : withOffsets(written, experts);
    if (text.empty())
      throw CompileError("the device's kernels are not written as expected");
    Buffer<uint8_t> source(int(text.size() + 1), buffer.name());
    std::copy_n(text.c_str(), text.size() + 1, source.data());
    placed.append(source);
  }
  return placed;
}

} // namespace

EmitOptions emitOptionsOf(const mille::Target &target) {
  // Halide has VNNI from Zen 4 on only: for a Cascade Lake it lowers for that.
  // A Zen 5's code is a Zen 4's but for what follows from its traits.
  static const struct {
    const char *name, *halide, *cpu;
  } table[] = {
      {"sapphirerapids", "x86-64-linux-avx512_zen4", "sapphirerapids"},
      {"zen5", "x86-64-linux-avx512_zen4", "znver4"},
      {"zen4", "x86-64-linux-avx512_zen4", "znver4"},
      {"cascadelake", "x86-64-linux-avx512_zen4", "cascadelake"},
      {"x86-64-v4", "x86-64-linux-avx512_skylake", "x86-64-v4"},
      {"x86-64-v3", "x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-v3"},
      {"opencl", "x86-64-linux-opencl", ""},
      {"cuda", "x86-64-linux-cuda-cuda_capability_70", ""}};
  EmitOptions options;
  for (const auto &row : table)
    if (target.name == row.name) {
      options.target = row.halide + std::string(features);
      options.cpu = row.cpu;
    }
  options.bf16 = target.features & MILLE_CPU_AVX512_BF16;
  options.f16 = !target.isDevice();
  options.traits = traitsOf(target);
  return options;
}

bool emitKernel(const KernelSpec &spec, const EmitOptions &options,
                std::string &object, std::string &error) {
  prepareHalide();
  try {
    Halide::Target target(options.target);
    Names names{options.unique};
    Machine machine = machineOf(target, options);
    Pipe pipe = build(asHeld(spec, options), machine, names, options);
    std::vector<Func> outs = pipe.before;
    outs.push_back(pipe.out);
    Pipeline pipeline(outs);
    for (Internal::IRMutator *pass : pipe.passes)
      pipeline.add_custom_lowering_pass(pass);
    if (!machine.device)
      pipeline.add_custom_lowering_pass(keepRegistersApart());
    Module module =
        pipeline.compile_to_module(pipe.arguments, options.entry, target);
    if (target.has_gpu_feature())
      module = placeBuffers(module, pipe.experts);
    else if (!pipe.before.empty())
      module = orderArguments(module);
    // Halide numbers the names of a second compile in one process: avoid that.
    for (const Func &out : outs)
      module.remap_metadata_name(out.name(), "out");
    for (const Argument &argument : pipe.arguments)
      module.remap_metadata_name(argument.name, "in");
    MemoryFile file("kernel");
    module.compile({{options.lowered  ? OutputFileType::stmt
                     : machine.device ? OutputFileType::object
                                      : OutputFileType::bitcode,
                     file.path()}});
    if (!file.read(object) || object.empty()) {
      error = "no memory for an object";
      return false;
    }
    if (machine.device || options.lowered)
      return true;
    const std::string bitcode = std::move(object);
    return makeMachineCode(bitcode, options.cpu, object, error);
  } catch (const Error &problem) {
    error = problem.what();
  } catch (const std::exception &problem) {
    error = problem.what();
  }
  return false;
}

} // namespace mille

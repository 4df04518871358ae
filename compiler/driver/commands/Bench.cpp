// `mille bench`: measures the speed of a package and the machine's peak in the
// same run, and prints the ratio. Must not judge it.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/commands/Report.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/driver/package/Compiled.h"
#include "compiler/driver/package/Reference.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <chrono>
#include <numeric>

using namespace mille;
using llvm::StringRef;
using Clock = std::chrono::steady_clock;

namespace {
struct Measured {
  std::string isa;
  std::vector<double> milliseconds; // sorted
  double gflop = 0;                 // of one run
  double peakGflops = 0, readGigabytes = 0;
  std::string device; // "": this machine's CPU
  std::string peakOf; // the type of the multiply-adds: "f32", "bf16", ...
  std::vector<mille_profile> kernels; // sums over `profiled` runs
  unsigned profiled = 0;
  size_t sessionBytes = 0;

  double at(double quantile) const {
    return milliseconds[(milliseconds.size() - 1) * quantile + 0.5];
  }
  double gflops() const { return gflop / at(0.5) * 1e3; }
};
} // namespace

static double timeOneRun(Compiled &compiled, Status &status) {
  auto start = Clock::now();
  status = compiled.runBound();
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Measures the peak of the CPU or device that runs the package, for numbers of
// `type`. A device widens narrow types, so its peak is that of f32 or i32.
static Status measurePeak(Compiled &compiled, NumberType type, unsigned threads,
                          Measured &measured) {
  std::optional<Compiled::DevicePeak> device;
  if (Status status = compiled.measureDevice(device); failed(status))
    return status;
  double peak = 0;
  if (device) {
    measured.device = device->name;
    measured.peakOf = type == NumberType::int8 ? "i32" : "f32";
    peak = type == NumberType::int8 ? device->i32 : device->f32;
  } else {
    measured.peakOf = type == NumberType::bf16   ? "bf16"
                      : type == NumberType::int8 ? "int8"
                                                 : "f32";
    peak = measurePeakGflops(type, threads);
  }
  // The clock drifts, so the peak is the mean of one measurement before the
  // runs and one after them.
  measured.peakGflops += peak / 2;
  return Status::done;
}

// Takes operations and times per kernel from runs with the profile, and the
// time of a whole run from runs without it.
static Status measure(const BenchOptions &options, NumberType type,
                      Compiled &compiled, Measured &measured) {
  Status status = Status::done;
  showProgress("measuring the peak");
  if (failed(status = measurePeak(compiled, type, options.threads, measured)))
    return status;
  showProgress("running");
  double first = timeOneRun(compiled, status); // also warms up
  if (failed(status) || failed(status = compiled.profile(true)))
    return status;
  measured.profiled = options.kernels ? 5 : 1;
  for (unsigned i = 0; i < measured.profiled; ++i)
    if (first = timeOneRun(compiled, status); failed(status))
      return status;
  measured.kernels = compiled.kernels();
  for (const mille_profile &kernel : measured.kernels)
    measured.gflop += kernel.flops * 1e-9 / measured.profiled;
  if (failed(status = compiled.profile(false)))
    return status;
  unsigned repeats = options.repeats;
  if (!repeats)
    repeats = std::clamp(1000 / std::max(first, 1e-3), 5.0, 1000.0);
  for (unsigned i = 0; i < repeats; ++i) {
    measured.milliseconds.push_back(timeOneRun(compiled, status));
    if (failed(status))
      return status;
  }
  llvm::sort(measured.milliseconds);
  showProgress("measuring the peak again");
  if (failed(status = measurePeak(compiled, type, options.threads, measured)))
    return status;
  if (options.kernels && measured.device.empty())
    measured.readGigabytes = measureReadGigabytes(options.threads);
  measured.isa = compiled.isa();
  measured.sessionBytes = compiled.sessionBytes();
  clearProgress();
  return status;
}

//===-- Printing ----------------------------------------------------------===//

static int64_t decoderTokens(const BenchOptions &options) {
  return options.decoderTokens.value_or(32);
}

static int64_t countTokens(const BenchOptions &options) {
  return std::accumulate(options.lengths.begin(), options.lengths.end(),
                         int64_t(0));
}

static double totalNanoseconds(const Measured &measured) {
  double total = 0;
  for (const mille_profile &kernel : measured.kernels)
    total += kernel.nanoseconds;
  return total > 0 ? total : 1;
}

static void printColumns(const BenchOptions &options, const Package &package,
                         const Measured &m, llvm::raw_ostream &out) {
  out << "package " << package.name << ", " << m.isa << ", batch "
      << options.batch << ", ";
  if (package.hasSize(sizes::tokens))
    out << options.tokens << " tokens, ";
  if (!options.lengths.empty())
    out << "of these " << countTokens(options) << " are no padding, ";
  if (package.hasSize(sizes::decoderTokens))
    out << decoderTokens(options) << " decoder tokens, ";
  if (const auto &size = options.imageSize)
    out << size->height << "x" << size->width << " pixels, ";
  out << options.threads << (options.threads == 1 ? " thread" : " threads")
      << "\n";
  out << llvm::format("median %.3f ms, quartiles %.3f to %.3f, of %zu runs\n",
                      m.at(0.5), m.at(0.25), m.at(0.75), m.milliseconds.size());
  // The peak is 0 if the machine has no instruction for the type, which is then
  // emulated.
  if (m.peakGflops > 0)
    out << llvm::format(
        "%.1f GFLOP/s, %.1f %% of %s's %.1f (%s multiply-adds in "
        "registers, same run)\n",
        m.gflops(), 100 * m.gflops() / m.peakGflops,
        m.device.empty() ? "this machine" : m.device.c_str(), m.peakGflops,
        m.peakOf.c_str());
  else
    out << llvm::format("%.1f GFLOP/s; this machine has no %s multiply-adds\n",
                        m.gflops(), m.peakOf.c_str());
  out << "memory of the session: " << sayBytes(m.sessionBytes) << "\n";
  if (!options.kernels)
    return;
  if (m.device.empty())
    out << llvm::format("reading from memory: %.1f GB/s\n", m.readGigabytes);
  out << "\n     time  share  launches  GFLOP/s  GB/s of weights  kernel\n";
  double total = totalNanoseconds(m);
  for (const mille_profile &k : m.kernels) {
    double seconds = std::max<double>(k.nanoseconds, 1) * 1e-9;
    out << llvm::format("%9.3f %5.1f %% %9.0f %8.1f %16.1f  ",
                        seconds * 1e3 / m.profiled, 100 * k.nanoseconds / total,
                        double(k.calls) / m.profiled, k.flops * 1e-9 / seconds,
                        k.weight_bytes * 1e-9 / seconds)
        << package.inWords(k.name) << " (" << k.name << ")\n";
  }
  out << "times in ms of one run, summed over the threads\n";
}

// Six digits are more than repeated runs have in common.
static void write(llvm::json::OStream &json, StringRef key, double number) {
  json.attributeBegin(key);
  json.rawValue(llvm::formatv("{0}", llvm::format("%.6g", number)).str());
  json.attributeEnd();
}

static void printJson(const BenchOptions &options, const Package &package,
                      const Measured &m, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("package", package.name);
    json.attribute("isa", m.isa);
    json.attribute("batch", options.batch);
    if (package.hasSize(sizes::tokens))
      json.attribute("tokens", options.tokens);
    if (!options.lengths.empty())
      json.attributeArray("lengths", [&] {
        for (int64_t length : options.lengths)
          json.value(length);
      });
    if (package.hasSize(sizes::decoderTokens))
      json.attribute("decoder_tokens", decoderTokens(options));
    if (const auto &size = options.imageSize) {
      json.attribute("height", size->height);
      json.attribute("width", size->width);
    }
    json.attribute("threads", options.threads);
    json.attribute("runs", int64_t(m.milliseconds.size()));
    write(json, "median_ms", m.at(0.5));
    write(json, "quartile_1_ms", m.at(0.25));
    write(json, "quartile_3_ms", m.at(0.75));
    write(json, "best_ms", m.at(0));
    write(json, "gflop", m.gflop);
    write(json, "gflops", m.gflops());
    json.attribute("dtype", package.dtype.text());
    if (m.peakGflops > 0) {
      write(json, "peak_gflops", m.peakGflops);
      write(json, "share_of_peak", m.gflops() / m.peakGflops);
      json.attribute("peak_of", m.peakOf + " multiply-adds of " +
                                    (m.device.empty() ? "the CPU" : m.device));
    }
    json.attribute("session_bytes", int64_t(m.sessionBytes));
    if (!options.kernels)
      return;
    if (m.device.empty())
      write(json, "read_gb_per_s", m.readGigabytes);
    json.attributeArray("kernels", [&] {
      double total = totalNanoseconds(m);
      for (const mille_profile &k : m.kernels)
        json.object([&] {
          double seconds = std::max<double>(k.nanoseconds, 1) * 1e-9;
          json.attribute("name", k.name);
          json.attribute("does", package.inWords(k.name));
          json.attribute("launches", int64_t(k.calls / m.profiled));
          write(json, "ms", seconds * 1e3 / m.profiled);
          write(json, "share", k.nanoseconds / total);
          write(json, "gflops", k.flops * 1e-9 / seconds);
        });
    });
  });
  out << '\n';
}

// The input that masks padding tokens, or null.
static const Package::Tensor *maskOf(const Package &package) {
  for (const Package::Tensor &input : package.entries.front().inputs)
    if (input.fallback == "ones" &&
        input.shape == Shape{sizes::batch, sizes::tokens})
      return &input;
  return nullptr;
}

static Value maskFor(const BenchOptions &options) {
  Value mask;
  mask.integer = true;
  mask.shape = {options.batch, options.tokens};
  for (int64_t length : options.lengths)
    for (int64_t token = 0; token < options.tokens; ++token)
      mask.numbers.push_back(token < length);
  return mask;
}

// The type in which most matmuls compute.
static NumberType numberTypeOf(const Package &package) {
  switch (package.dtype.usual.kind) {
  case Dtype::f32:
    return NumberType::f32;
  case Dtype::bf16:
    return NumberType::bf16;
  default:
    return NumberType::int8;
  }
}

static Status checkSizes(const BenchOptions &options, const Package &package) {
  if (!options.lengths.empty() && !maskOf(package)) {
    sayError("--lengths is given but package " + package.name +
             " has no attention_mask");
    return Status::commandLine;
  }
  if (options.imageSize && !package.hasSize(sizes::height)) {
    sayError("--image-size is given but package " + package.name +
             " takes images of one size");
    return Status::commandLine;
  }
  if (!options.decoderTokens || package.hasSize(sizes::decoderTokens))
    return Status::done;
  sayError("--decoder-tokens is given but package " + package.name +
           " has no decoder next to an encoder");
  return Status::commandLine;
}

// The size of images that `options` says, or the model's own.
static void takeImageSize(BenchOptions &options, const Package &package,
                          llvm::StringMap<int64_t> &numbers) {
  if (!package.hasSize(sizes::height))
    return;
  if (!options.imageSize)
    options.imageSize = {numbers[sizes::height], numbers[sizes::width]};
  numbers[sizes::height] = options.imageSize->height;
  numbers[sizes::width] = options.imageSize->width;
}

Status mille::benchCommand(const BenchOptions &given,
                           mlir::MLIRContext &context, llvm::raw_ostream &out) {
  BenchOptions options = given;
  if (!options.lengths.empty()) {
    options.batch = options.lengths.size();
    options.tokens = *llvm::max_element(options.lengths);
  }
  Package package;
  if (Status status = findPackage(options.folder, context, package);
      failed(status))
    return status;
  std::unique_ptr<Compiled> compiled;
  std::string code;
  if (Status status = codeFor(package, options.target, options.device, code);
      failed(status) || failed(status = checkCode(package, code)))
    return status;
  if (code == "reference") {
    sayError(
        "--target is 'reference' but only what is compiled can be measured");
    return Status::commandLine;
  }
  Compiled::Wishes wishes;
  wishes.keepPadding = options.keepPadding;
  if (Status status = Compiled::open(package, code, context, compiled, wishes);
      failed(status))
    return status;
  if (Status status = checkSizes(options, package); failed(status))
    return status;
  llvm::StringMap<int64_t> numbers = sizesOfRun(
      package, options.batch, options.tokens, decoderTokens(options));
  takeImageSize(options, package, numbers);
  Values inputs = seededInputs(package, numbers, /*withMask=*/false);
  if (!options.lengths.empty())
    inputs[maskOf(package)->name] = maskFor(options);
  if (Status status = compiled->bind(inputs, options.threads); failed(status))
    return status;
  Measured measured;
  if (Status status =
          measure(options, numberTypeOf(package), *compiled, measured);
      failed(status))
    return status;
  (options.json ? printJson : printColumns)(options, package, measured, out);
  return Status::done;
}

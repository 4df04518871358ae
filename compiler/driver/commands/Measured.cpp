// Measures the speed of a package and the machine's peak in the same run.
// Must not judge it.
#include "compiler/driver/commands/Measured.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/driver/package/ChosenCode.h"
#include "compiler/driver/package/Compiled.h"
#include "compiler/driver/package/SeededInputs.h"
#include "runtime/abi.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace mille;
using llvm::StringRef;
using llvm::json::OStream;
using Clock = std::chrono::steady_clock;

// The input that says how many tokens each sequence's states hold.
static constexpr llvm::StringLiteral pastName = "past";

double Measured::totalNanoseconds() const {
  double total = 0;
  for (const Kernel &kernel : kernels)
    total += kernel.nanoseconds;
  return total > 0 ? total : 1;
}

double Measured::readBytes() const {
  double bytes = heldBytes;
  for (const Kernel &kernel : kernels)
    bytes += kernel.weightBytes / profiled;
  return bytes;
}

double Measured::shareOfRead() const {
  return readGigabytes > 0 ? readBytes() * 1e-6 / at(0.5) / readGigabytes : 0;
}

static double timeOneRun(Compiled &compiled, Status &status) {
  auto start = Clock::now();
  status = compiled.runBound();
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// The type whose products are the fastest way to multiply numbers of `type` on
// this CPU: where those of bf16 are slow, kernels widen them.
static NumberType multipliedAs(NumberType type) {
  const uint64_t features = describeMachine().features;
  const bool isSlow =
      features & MILLE_CPU_SLOW_BF16 && !(features & MILLE_CPU_AMX);
  return type == NumberType::bf16 && isSlow ? NumberType::f32 : type;
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
    const NumberType own = multipliedAs(type);
    measured.peakOf = own == NumberType::bf16   ? "bf16"
                      : own == NumberType::int8 ? "int8"
                                                : "f32";
    peak = measurePeakGflops(own, threads);
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
  for (const mille_profile &kernel : compiled.kernels()) {
    measured.kernels.push_back(
        {kernel.name, double(kernel.calls), double(kernel.nanoseconds),
         double(kernel.flops), double(kernel.weight_bytes)});
    measured.gflop += double(kernel.flops) * 1e-9 / measured.profiled;
  }
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
  if ((options.kernels || options.context) && measured.device.empty())
    measured.readGigabytes = measureReadGigabytes(options.threads);
  measured.isa = compiled.isa();
  measured.sessionBytes = compiled.sessionBytes();
  clearProgress();
  return status;
}

// Six digits are more than repeated runs have in common.
static void write(OStream &json, StringRef key, double number) {
  json.attributeBegin(key);
  json.rawValue(llvm::formatv("{0}", llvm::format("%.6g", number)).str());
  json.attributeEnd();
}

// What a run moves between memory and a kernel if nothing stays in a cache: the
// weights once a launch, and each row once. 0: not known.
static double bytesOfRun(const BenchOptions &options, const Package &package,
                         const Measured::Kernel &kernel, unsigned runs) {
  const Package::Kernel *known = package.kernel(kernel.name);
  if (!known || !known->rowBytes || kernel.calls == 0)
    return 0;
  // A kernel over pooled rows has fewer than the run has tokens. That of
  // attention counts its operations by keys too.
  double rows = double(options.batch) *
                double(package.hasSize(sizes::tokens) ? *options.tokens : 1);
  if (known->flopsPerRow > 0)
    rows = std::min(rows,
                    kernel.flops / kernel.calls / double(known->flopsPerRow));
  return (kernel.weightBytes + rows * double(known->rowBytes) * kernel.calls) /
         runs;
}

void mille::writeMeasured(OStream &json, const BenchOptions &options,
                          const Package &package, const Measured &m) {
  json.attribute("package", package.name);
  json.attribute("isa", m.isa);
  json.attribute("batch", options.batch);
  if (package.hasSize(sizes::tokens))
    json.attribute("tokens", *options.tokens);
  if (!options.entry.empty())
    json.attribute("entry", options.entry);
  if (options.context)
    json.attribute("context", *options.context);
  if (!options.lengths.empty())
    json.attributeArray("lengths", [&] {
      for (int64_t length : options.lengths)
        json.value(length);
    });
  if (package.hasSize(sizes::decoderTokens))
    json.attribute("decoder_tokens", *options.decoderTokens);
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
  if (m.readGigabytes > 0)
    write(json, "read_gb_per_s", m.readGigabytes);
  if (options.context && m.readGigabytes > 0) {
    write(json, "read_bytes", m.readBytes());
    write(json, "bandwidth_share", m.shareOfRead());
  }
  if (!options.kernels)
    return;
  json.attributeArray("kernels", [&] {
    double total = m.totalNanoseconds();
    for (const Measured::Kernel &k : m.kernels)
      json.object([&] {
        double seconds = std::max<double>(k.nanoseconds, 1) * 1e-9;
        json.attribute("name", k.name);
        json.attribute("does", package.inWords(k.name));
        json.attribute("launches", int64_t(k.calls / m.profiled));
        write(json, "ms", seconds * 1e3 / m.profiled);
        write(json, "share", k.nanoseconds / total);
        write(json, "gflops", k.flops * 1e-9 / seconds);
        write(json, "flops", k.flops / m.profiled);
        if (double bytes = bytesOfRun(options, package, k, m.profiled))
          write(json, "bytes", bytes);
      });
  });
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
  mask.shape = {options.batch, *options.tokens};
  for (int64_t length : options.lengths)
    for (int64_t token = 0; token < *options.tokens; ++token)
      mask.numbers.push_back(token < length);
  return mask;
}

// The bytes that states hold behind the tokens of --context, of all sequences;
// a window holds no more than it is long.
static double heldBytesOf(const Package::Entry &entry,
                          const BenchOptions &options) {
  double bytes = 0;
  for (const Package::Tensor &state : entry.states) {
    // [layers, batch, rows, columns]
    const ShapeExtent &rows = state.shape[2];
    const int64_t held = rows.isSize() ? *options.context
                                       : std::min(rows.count, *options.context);
    const auto row = bytesOfRow(*transformer::symbolizeEncoding(state.type),
                                state.shape[3].count);
    bytes += double(state.shape[0].count * options.batch * held) *
             double(row.value_or(0));
  }
  return bytes;
}

// The input `past`: every sequence stands behind the tokens of --context.
static Value pastFor(const BenchOptions &options) {
  Value past;
  past.integer = true;
  past.shape = {options.batch};
  past.numbers.assign(options.batch, double(*options.context));
  return past;
}

static Status checkEntry(const BenchOptions &options, const Package &package) {
  const Package::Entry *entry = package.entry(options.entry);
  if (!entry)
    return refuseOptions("--entry is '" + options.entry + "' but package " +
                             package.name + " has no such entry",
                         "its entries are " + package.entryNames());
  if (!options.context || llvm::any_of(entry->inputs, [](const auto &input) {
        return input.name == pastName;
      }))
    return Status::done;
  return refuseOptions("--context is " + llvm::Twine(*options.context) +
                           " but entry " + entry->name +
                           " goes on behind no tokens",
                       "mille bench DIR --entry=next --context=1024");
}

// The type in which most matmuls compute.
static NumberType numberTypeOf(const Package &package) {
  switch (package.dtype.usual.kind) {
  case Dtype::f32:
    return NumberType::f32;
  case Dtype::f16: // f16 and fp8: devices alone, whose peak is that of f32
  case Dtype::fp8:
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

// The sizes of a run that `options` leaves open.
static void chooseTokens(BenchOptions &options, const Package &package) {
  if (!options.lengths.empty()) {
    options.batch = options.lengths.size();
    options.tokens = *llvm::max_element(options.lengths);
  }
  auto usual = [&](StringRef size, int64_t number) {
    const int64_t most = package.most(size);
    return most ? std::min(number, most) : number;
  };
  if (!options.tokens)
    options.tokens = usual(sizes::tokens, 128);
  if (!options.decoderTokens)
    options.decoderTokens = usual(sizes::decoderTokens, 32);
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

Status mille::measurePackage(BenchOptions &options, const Package &package,
                             mlir::MLIRContext &context, Measured &measured) {
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
  if (Status status = checkEntry(options, package); failed(status))
    return status;
  if (Status status = checkSizes(options, package); failed(status))
    return status;
  chooseTokens(options, package);
  Compiled::Wishes wishes;
  wishes.entry = options.entry;
  wishes.keepPadding = options.keepPadding;
  if (options.context)
    wishes.context = *options.context + *options.tokens;
  if (Status status = Compiled::open(package, code, context, compiled, wishes);
      failed(status))
    return status;
  llvm::StringMap<int64_t> numbers = sizesOfRun(
      package, options.batch, *options.tokens, *options.decoderTokens);
  takeImageSize(options, package, numbers);
  Values inputs = seededInputs(*package.entry(options.entry), numbers,
                               /*withMask=*/false);
  if (options.context)
    inputs[pastName.str()] = pastFor(options);
  if (!options.lengths.empty())
    inputs[maskOf(package)->name] = maskFor(options);
  Status bound = compiled->bind(inputs, options.threads);
  if (!failed(bound) && options.context)
    bound = compiled->showHeldTokens();
  if (failed(bound))
    return bound;
  if (options.context)
    measured.heldBytes = heldBytesOf(*package.entry(options.entry), options);
  return measure(options, numberTypeOf(package), *compiled, measured);
}

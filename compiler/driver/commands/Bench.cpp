// `mille bench`: prints the speed of a package beside the machine's peak.
// Must not judge it.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/commands/Measured.h"
#include "llvm/Support/Format.h"

#include <numeric>

using namespace mille;

static int64_t countTokens(const BenchOptions &options) {
  return std::accumulate(options.lengths.begin(), options.lengths.end(),
                         int64_t(0));
}

static void printColumns(const BenchOptions &options, const Package &package,
                         const Measured &m, llvm::raw_ostream &out) {
  out << "package " << package.name << ", " << m.isa << ", batch "
      << options.batch << ", ";
  if (package.hasSize(sizes::tokens))
    out << *options.tokens << " tokens, ";
  if (!options.entry.empty())
    out << "entry " << options.entry << ", ";
  if (options.context)
    out << "behind " << *options.context << " tokens, ";
  if (!options.lengths.empty())
    out << "of these " << countTokens(options) << " are no padding, ";
  if (package.hasSize(sizes::decoderTokens))
    out << *options.decoderTokens << " decoder tokens, ";
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
  if (options.context && m.readGigabytes > 0)
    out << llvm::format("reads %.1f MB: %.1f GB/s, %.1f %% of the %.1f that "
                        "this machine reads (same run)\n",
                        m.readBytes() * 1e-6, m.readBytes() * 1e-6 / m.at(0.5),
                        100 * m.shareOfRead(), m.readGigabytes);
  out << "memory of the session: " << sayBytes(m.sessionBytes) << "\n";
  if (!options.kernels)
    return;
  if (m.device.empty())
    out << llvm::format("reading from memory: %.1f GB/s\n", m.readGigabytes);
  out << "\n     time  share  launches  GFLOP/s  GB/s of weights  kernel\n";
  double total = m.totalNanoseconds();
  for (const Measured::Kernel &k : m.kernels) {
    double seconds = std::max<double>(k.nanoseconds, 1) * 1e-9;
    out << llvm::format("%9.3f %5.1f %% %9.0f %8.1f %16.1f  ",
                        seconds * 1e3 / m.profiled, 100 * k.nanoseconds / total,
                        k.calls / m.profiled, k.flops * 1e-9 / seconds,
                        k.weightBytes * 1e-9 / seconds)
        << package.inWords(k.name) << " (" << k.name << ")\n";
  }
  out << "times in ms of one run, summed over the threads\n";
}

static void printJson(const BenchOptions &options, const Package &package,
                      const Measured &measured, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] { writeMeasured(json, options, package, measured); });
  out << '\n';
}

Status mille::benchCommand(const BenchOptions &given,
                           mlir::MLIRContext &context, llvm::raw_ostream &out) {
  BenchOptions options = given;
  Package package;
  if (Status status = findPackage(options.folder, context, package);
      failed(status))
    return status;
  Measured measured;
  if (Status status = measurePackage(options, package, context, measured);
      failed(status))
    return status;
  (options.json ? printJson : printColumns)(options, package, measured, out);
  return Status::done;
}

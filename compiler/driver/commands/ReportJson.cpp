// Writes everything that is known of a package as JSON, for `mille report`.
// Must not decide anything.
#include "compiler/driver/commands/ReportJson.h"

#include "dialects/transformer/UnitNames.h"

using namespace mille;
using llvm::StringRef;

namespace {

class Writer {
public:
  Writer(const PackageReport &report, llvm::raw_ostream &out)
      : package(report.package), report(report), json(out, 2) {}

  void write() {
    json.object([&] {
      text("package", package.name);
      text("model", package.modelPath);
      text("dtype", package.dtype.text());
      if (!package.calibrate.empty())
        text("calibrate", package.calibrate);
      json.attribute("parameters", package.parameters);
      list("isas", package.isas, [&](const Package::Isa &isa) {
        text("name", isa.name);
        text("needs", isa.needs);
      });
      units();
      entries();
      layers();
      kernels();
      rewrites();
      certificate();
      json.attributeObject("memory", [&] {
        json.attribute("weights_bytes", package.weightsBytes);
        json.attribute("code_bytes", package.codeBytes);
        json.attribute("scratch_bytes_per_thread", package.scratchBytes);
        json.attribute("scratch_bytes_per_thread_and_token",
                       package.scratchBytesPerToken);
      });
      if (report.measured)
        json.attributeObject("measured", [&] {
          writeMeasured(json, report.run, package, *report.measured);
        });
    });
  }

private:
  void text(StringRef key, StringRef value) { json.attribute(key, value); }
  // Leaves out what is not there.
  void said(StringRef key, StringRef value) {
    if (!value.empty())
      json.attribute(key, value);
  }
  template <typename Items, typename Write>
  void list(StringRef key, const Items &items, Write write) {
    json.attributeArray(key, [&] {
      for (const auto &item : items)
        json.object([&] { write(item); });
    });
  }

  void facts(const Facts &facts) {
    list("facts", facts, [&](const Fact &fact) {
      text("what", fact.what);
      text("value", fact.value);
    });
  }

  void unit(const UnitKind &kind) {
    const UnitSlots &slots = kind.slots;
    text("placement", slots.placement);
    text("formula", slots.formula);
    text("layers", rangesOf(kind.layers, ", "));
    json.attribute("units", int64_t(kind.layers.size()));
    json.attribute("normed_tap", slots.normedTap);
    json.attribute("shared_input_norm", slots.sharedInputNorm);
    said("skip_scale", slots.skipScale);
    said("output_norm", slots.outputNorm);
    said("stream_scale", slots.streamScale);
    list("branches", slots.branches, [&](const UnitSlots::Branch &branch) {
      said("input_norm", branch.inputNorm);
      said("branch_norm", branch.norm);
      said("branch_scale", branch.scale);
      facts(branch.facts);
    });
    facts(kind.facts);
  }

  void units() {
    json.attributeArray("stacks", [&] {
      for (const auto &stack : report.units)
        json.array([&] {
          for (const auto &kinds : stack)
            json.array([&] {
              for (const UnitKind &kind : kinds)
                json.object([&] { unit(kind); });
            });
        });
    });
  }

  void tensors(StringRef key, llvm::ArrayRef<Package::Tensor> tensors) {
    list(key, tensors, [&](const Package::Tensor &tensor) {
      text("name", tensor.name);
      text("type", tensor.type);
      text("shape", extentsText(tensor.shape));
      said("default", tensor.fallback);
      if (tensor.below)
        json.attribute("below", tensor.below);
    });
  }

  void entries() {
    list("entries", package.entries, [&](const Package::Entry &entry) {
      text("name", entry.name);
      tensors("inputs", entry.inputs);
      tensors("outputs", entry.outputs);
      tensors("states", entry.states);
      json.attribute("arena_bytes_per_row", entry.arenaBytesPerRow);
      list("steps", entry.memory.steps, [&](const MemoryUse::Step &step) {
        text("kernel", step.kernel);
        text("does", package.inWords(step.kernel));
        said("layers", step.layers);
      });
      list("buffers", entry.memory.buffers, [&](const MemoryUse::Buffer &b) {
        json.attribute("offset", b.offset);
        json.attribute("bytes", b.bytes);
        json.attribute("first", b.first);
        json.attribute("last", b.last);
      });
    });
  }

  void layers() {
    list("bodies", package.bodies, [&](const Package::Body &body) {
      said("entry", body.entry);
      json.attribute("stack", body.stack);
      json.attribute("body", body.number);
      text("layers", body.layers);
      text("difference", body.difference);
    });
    list("fusions", package.fusions, [&](const Package::Fusion &fusion) {
      said("entry", fusion.entry);
      text("boundary", fusion.boundary);
      text("unit", fusion.unit);
      text("layers", fusion.layers);
      text("status", fusion.status);
      text("reason", fusion.reason);
      json.attribute("bytes_saved", fusion.bytesSaved);
      json.attribute("launches_saved", fusion.launchesSaved);
    });
  }

  void kernels() {
    list("kernels", package.kernels, [&](const Package::Kernel &kernel) {
      text("name", kernel.name);
      text("does", kernel.does);
      json.attribute("places", kernel.places);
      json.attribute("flops_per_row", kernel.flopsPerRow);
      json.attribute("weight_bytes", kernel.weightBytes);
      if (kernel.rowBytes)
        json.attribute("row_bytes", kernel.rowBytes);
      list("tiles", kernel.tiles, [&](const Package::Kernel::Tile &tile) {
        text("isa", tile.isa);
        text("tile", tile.text);
        json.attribute("rank", tile.rank);
      });
      list("makers", kernel.makers, [&](const Package::Kernel::Maker &maker) {
        text("isa", maker.isa);
        text("generator", maker.generator);
      });
    });
  }

  void traffic(StringRef key, const Traffic &traffic) {
    json.attributeObject(key, [&] {
      json.attribute("kernels", traffic.kernels);
      json.attribute("launches", traffic.launches);
      json.attribute("bytes_per_row", traffic.bytesPerRow);
      json.attribute("weight_bytes", traffic.weightBytes);
    });
  }

  void rewrites() {
    list("rewrites", package.rewrites, [&](const Package::Rewrite &rewrite) {
      said("entry", rewrite.entry);
      text("name", rewrite.name);
      text("unit", rewrite.unit);
      text("layers", rewrite.layers);
      text("status", rewrite.status);
      text("reason", rewrite.reason);
      text("law", rewrite.law);
      text("bound", rewrite.bound);
    });
    traffic("traffic", package.traffic);
    if (package.unscaled)
      traffic("traffic_without_scales", *package.unscaled);
  }

  void certificate() {
    const Certificate &certificate = package.certificate;
    json.attributeObject("certificate", [&] {
      said("note", certificate.note);
      json.attribute("layers", certificate.sample.layers);
      json.attribute("of_layers", certificate.sample.ofLayers);
      json.attributeArray("measured", [&] {
        for (const Finding *one : worstOfEach(certificate.measured))
          json.object([&] {
            text("what", one->what);
            text("inputs", one->inputs);
            json.attribute("error", one->error);
            json.attribute("allowed", one->allowed);
            json.attribute("ok", one->good());
          });
      });
    });
  }

  const Package &package;
  const PackageReport &report;
  llvm::json::OStream json;
};

} // namespace

void mille::writeReport(const PackageReport &report, llvm::raw_ostream &out) {
  Writer(report, out).write();
  out << '\n';
}

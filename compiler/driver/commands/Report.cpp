// `mille report`: says in columns, as JSON or as a page what was fused and what
// was not, and why. Must not decide anything.
#include "compiler/driver/commands/Report.h"

#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/commands/PageFile.h"
#include "compiler/driver/commands/ReportJson.h"
#include "compiler/driver/package/Reference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mille;
using llvm::StringRef;

using Row = std::vector<std::string>;

// Prints rows in columns, each as wide as its widest entry, except the last.
static void printColumns(llvm::raw_ostream &out, llvm::ArrayRef<Row> rows) {
  std::vector<size_t> widths;
  for (const Row &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (auto [i, text] : llvm::enumerate(row))
      widths[i] = std::max(widths[i], text.size());
  }
  for (const Row &row : rows) {
    std::string line = " ";
    for (auto [i, text] : llvm::enumerate(row)) {
      line += " " + text;
      if (i + 1 < row.size())
        line += std::string(widths[i] - text.size() + 1, ' ');
    }
    out << StringRef(line).rtrim() << '\n';
  }
}

// The name of a unit, with its entry in front if that is not the first.
static std::string within(StringRef entry, StringRef unit) {
  return (entry + (entry.empty() ? "" : ": ") + unit).str();
}

// The tile for each instruction set, and whether it was chosen by measuring.
static std::string tilesOf(const Package::Kernel &kernel) {
  std::string text;
  for (const Package::Kernel::Tile &tile : kernel.tiles)
    text += (text.empty() ? "" : "; ") + tile.isa + ": " + tile.text +
            (tile.rank ? ", as measured" : "");
  return text.empty() ? "-" : text;
}

// Where several generators serve a target: how many kernels each has made.
static void printMakers(const Package &package, llvm::raw_ostream &out) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> made;
  for (const Package::Kernel &kernel : package.kernels)
    for (const Package::Kernel::Maker &maker : kernel.makers)
      made[{maker.isa, maker.generator}].push_back(kernel.does);
  if (made.empty())
    return;
  out << "\ngenerators\n";
  std::vector<Row> rows = {{"target", "generator", "kernels", "which"}};
  for (const auto &[maker, kernels] : made)
    rows.push_back({maker.first, maker.second, std::to_string(kernels.size()),
                    llvm::join(kernels, "; ")});
  printColumns(out, rows);
}

// Prints the cost of the model's constant scales: kernels, launches and bytes
// with and without them.
static void printTraffic(const Package &package, llvm::raw_ostream &out) {
  if (!package.unscaled)
    return;
  auto row = [](StringRef name, const Traffic &traffic) {
    return Row{name.str(), std::to_string(traffic.kernels),
               std::to_string(traffic.launches), sayBytes(traffic.bytesPerRow),
               sayBytes(traffic.weightBytes)};
  };
  out << "\nwhat skip and branch scales cost: "
      << (*package.unscaled == package.traffic ? "nothing"
                                               : "other kernels, or more bytes")
      << '\n';
  printColumns(out,
               {{"model", "kernels", "launches", "moved per row", "weights"},
                row("with them", package.traffic),
                row("without", *package.unscaled)});
}

static std::string inDigits(double number) {
  char text[32];
  snprintf(text, sizeof text, "%.2g", number);
  return text;
}

static void printCertificate(const Package &package, llvm::raw_ostream &out) {
  const Certificate &certificate = package.certificate;
  out << "\ncertificate: ";
  if (certificate.measured.empty())
    out << certificate.note << '\n';
  else
    out << "checked in double on " << certificate.sample.layers << " of "
        << certificate.sample.ofLayers << " layers, "
        << (certificate.note.empty() ? "on random and hard streams"
                                     : certificate.note)
        << "; error and what is allowed are relative\n";
  std::vector<Row> rows;
  for (const Finding *one : worstOfEach(certificate.measured))
    rows.push_back({one->what, one->inputs, inDigits(one->error),
                    inDigits(one->allowed), one->good() ? "ok" : "EXCEEDS"});
  if (!rows.empty())
    rows.insert(rows.begin(),
                {"measured", "on", "error", "allowed", "verdict"});
  printColumns(out, rows);
  out << "again, and the compiled code: mille verify " << package.folder
      << " --certificate\n";
}

static void printRewrites(const Package &package, llvm::raw_ostream &out) {
  if (package.rewrites.empty())
    out << "\nrewrites: none, and none declined\n";
  else
    out << "\nrewrites\n";
  std::vector<Row> rows;
  for (const Package::Rewrite &rewrite : package.rewrites)
    rows.push_back({rewrite.name, within(rewrite.entry, rewrite.unit),
                    rewrite.layers, rewrite.status, rewrite.reason,
                    rewrite.bound});
  if (!rows.empty())
    rows.insert(rows.begin(),
                {"rewrite", "unit", "layers", "status", "what", "bound"});
  printColumns(out, rows);
  printTraffic(package, out);
  printCertificate(package, out);
}

void mille::printReport(const Package &package, llvm::raw_ostream &out) {
  out << "package " << package.name << ", from " << package.modelPath << "\n\n";
  if (package.fusions.empty()) {
    out << "no boundary that could be fused\n";
  } else {
    std::vector<Row> rows = {{"boundary", "unit", "layers", "status",
                              "saves per row", "launches", "reason"}};
    int64_t fused = 0, bytes = 0, launches = 0;
    for (const Package::Fusion &fusion : package.fusions) {
      bool done = fusion.status == "fused";
      rows.push_back(
          {fusion.boundary, within(fusion.entry, fusion.unit), fusion.layers,
           fusion.status, done ? sayBytes(fusion.bytesSaved) : "-",
           done ? std::to_string(fusion.launchesSaved) : "-", fusion.reason});
      fused += done;
      bytes += done ? fusion.bytesSaved : 0;
      launches += done ? fusion.launchesSaved : 0;
    }
    printColumns(out, rows);
    out << "\n"
        << fused << " of " << package.fusions.size()
        << " boundaries are fused: " << sayBytes(bytes)
        << " less to move for each row, " << launches << " launches fewer\n";
  }
  printRewrites(package, out);
  if (!package.bodies.empty()) {
    out << "\nlayers\n";
    std::vector<Row> rows = {
        {"stack", "body", "layers", "why a body of its own"}};
    for (const Package::Body &body : package.bodies)
      rows.push_back({within(body.entry, std::to_string(body.stack)),
                      std::to_string(body.number), body.layers,
                      body.number ? body.difference : "-"});
    printColumns(out, rows);
  }
  out << "\nkernels\n";
  std::vector<Row> rows = {{"name", "does", "places", "weights", "tile"}};
  for (const Package::Kernel &kernel : package.kernels)
    rows.push_back({kernel.name, kernel.does, std::to_string(kernel.places),
                    sayBytes(kernel.weightBytes), tilesOf(kernel)});
  printColumns(out, rows);
  printMakers(package, out);
  out << "\nmemory\n";
  std::vector<Row> memory = {{"weights", sayBytes(package.weightsBytes)}};
  if (!package.calibrate.empty())
    memory.front().push_back("rounded for " + package.calibrate);
  for (const Package::Entry &entry : package.entries)
    memory.push_back(
        {package.entries.size() > 1 ? "arena of " + entry.name : "arena",
         sayBytes(entry.arenaBytesPerRow) + " per row"});
  memory.push_back({"code", sayBytes(package.codeBytes)});
  printColumns(out, memory);
}

// The units of the model, and a run of the package where one is asked for.
static Status examine(const ReportOptions &options, mlir::MLIRContext &context,
                      PackageReport &report) {
  Reference reference;
  if (Status status = Reference::read(report.package, context, reference);
      failed(status))
    return status;
  report.units = unitKindsOf(reference.model());
  if (!options.measure)
    return Status::done;
  report.run.kernels = true;
  report.measured.emplace();
  return measurePackage(report.run, report.package, context, *report.measured);
}

Status mille::reportCommand(const ReportOptions &options,
                            mlir::MLIRContext &context,
                            llvm::raw_ostream &out) {
  if (options.measure && options.html.empty() && !options.json)
    return refuseOptions("--measure is given but neither --html nor --json",
                         "mille bench DIR --kernels prints columns");
  Package package;
  if (Status status = findPackage(options.folder, context, package);
      failed(status))
    return status;
  if (options.html.empty() && !options.json) {
    printReport(package, out);
    return Status::done;
  }
  PackageReport report{package, {}, options.bench, {}};
  if (Status status = examine(options, context, report); failed(status))
    return status;
  std::string json;
  llvm::raw_string_ostream text(json);
  writeReport(report, text);
  if (!options.html.empty())
    if (Status status = writePageFile(PageKind::report, options.html,
                                      "Package " + package.name, json, context);
        failed(status))
      return status;
  if (options.json)
    out << json;
  else
    printReport(package, out);
  return Status::done;
}

// Prints the analysis on one screen: a line per stack, a table over depth, and
// advice.
#include "compiler/analyze/Analysis.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace mille;
using namespace mille::analyze;

// Chooses units for a screen: the first two layers, some between, the last.
static std::vector<size_t> rowsOf(const Stack &stack, bool everyUnit) {
  std::vector<size_t> rows;
  const size_t count = stack.units.size();
  constexpr size_t most = 14;
  for (size_t i = 0; i < count; ++i)
    if (everyUnit || count <= most)
      rows.push_back(i);
  if (!rows.empty())
    return rows;
  for (size_t k = 0; k < most; ++k) {
    const double at = std::pow(double(count), double(k) / (most - 1));
    rows.push_back(std::min(count - 1, size_t(std::llround(at)) - 1));
  }
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

static std::string padded(const std::string &text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text
                             : " " + text;
}

static void writeRow(const StackAnalysis &a, size_t i, bool measured,
                     bool bounds, llvm::raw_ostream &out) {
  const Unit &unit = a.stack.units[i];
  const UnitMoments &m = a.predicted.units[i], &s = a.simulated.units[i];
  std::string name = unit.name.substr(0, 14);
  out << padded(std::to_string(unit.layer), 5) << ' ' << name
      << std::string(15 - name.size(), ' ');
  auto number = [&](double x) { out << padded(shortNumber(x), 10); };
  number(m.sum);
  number(s.sum);
  number(m.inputWeight);
  number(m.branchWeight);
  number(a.narrow.units[i].gradient);
  number(s.gradient);
  if (!a.exact.empty())
    number(a.exact[i].gradient);
  number(a.ranges[i].predicted);
  if (measured)
    number(a.ranges[i].measuredLargest);
  if (bounds)
    number(a.ranges[i].bound);
  out << '\n';
}

static void writeUpdates(const StackAnalysis &a, llvm::raw_ostream &out) {
  for (size_t o = 0; o < optimiserNames.size(); ++o)
    out << "  first update, " << optimiserNames[o]
        << std::string(6 - std::string(optimiserNames[o]).size(), ' ')
        << padded(shortNumber(a.narrow.update[o]), 10) << " predicted"
        << padded(shortNumber(a.simulated.update[o]), 10) << " simulated, "
        << shortNumber(a.depthFactor[o])
        << " times one layer's without scales: "
        << growthInWords(a.depthPower[o])
        << (a.exact.empty() ? std::string()
                            : "; exact: " + shortNumber(a.exactUpdate[o]))
        << '\n';
}

static void writeLogits(const StackAnalysis &a, double keys,
                        llvm::raw_ostream &out) {
  const LogitMoments *worst = nullptr;
  size_t where = 0;
  for (size_t i = 0; i < a.logits.size(); ++i)
    for (const LogitMoments &m : a.logits[i])
      if (!worst || m.second > worst->second)
        worst = &m, where = i;
  if (worst)
    out << "  logits: second moment at most " << shortNumber(worst->second)
        << " (layer " << a.stack.units[where].layer << "), saturation "
        << shortNumber(worst->saturation) << ", " << shortNumber(worst->keys)
        << " of " << shortNumber(keys) << " keys share the attention\n";
}

static void writeStack(const Report &report, const StackAnalysis &a,
                       bool everyUnit, llvm::raw_ostream &out) {
  const Stack &stack = a.stack;
  out << stack.units.size() << " units in " << stack.units.back().layer + 1
      << " layers of " << shortNumber(stack.channels)
      << " channels: " << placementInWords(stack.units.front()) << '\n'
      << "  enters with second moment " << shortNumber(stack.entry)
      << ", leaves with " << shortNumber(a.predicted.units.back().out)
      << (stack.finalNorm ? " before the final norm" : "")
      << "; input's weight "
      << shortNumber(a.predicted.units.back().inputWeight)
      << "; effective depth " << shortNumber(a.predicted.effectiveDepth)
      << '\n';
  writeUpdates(a, out);
  writeLogits(a, report.options.keys, out);
  const bool measured = !report.sample.empty(), bounds = report.options.bounds;
  out << "layer unit           " << "   E[sum^2]" << " simulated"
      << "   input w"
      << "  branch w" << "  gradient" << " simulated"
      << (a.exact.empty() ? "" : "     exact") << "   max|sum|"
      << (measured ? "  measured" : "") << (bounds ? "     bound" : "") << '\n';
  for (size_t i : rowsOf(stack, everyUnit))
    writeRow(a, i, measured, bounds, out);
  for (const std::string &advice : a.advice)
    out << "advice: " << advice << '\n';
}

void mille::analyze::writeText(const Report &report, bool everyUnit,
                               llvm::raw_ostream &out) {
  out << "model " << report.model << ", weights " << report.weights
      << (report.sample.empty() ? "" : ", measured on " + report.sample)
      << '\n';
  if (!report.loss.empty())
    out << "exact gradients of " << report.loss << '\n';
  for (const StackAnalysis &a : report.stacks)
    writeStack(report, a, everyUnit, out);
}

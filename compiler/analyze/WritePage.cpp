// Writes one HTML file: for each stack its numbers, drawings over depth
// (predictions as a line, simulations as dots, measurements as crosses) and
// advice. The page must not load other files.
#include "compiler/analyze/Analysis.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;

static constexpr llvm::StringRef head = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:64em;padding:0 1em;
color:#1c2430;background:#fff}
h1,h2{font-weight:600}figure{display:inline-block;margin:0 1em 1em 0}
figcaption{font-size:13px;color:#50596a}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}
td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #e3e6ec}
td:nth-child(2),th:nth-child(2){text-align:left}
.advice{border-left:4px solid #c8641b;padding:.3em .8em;background:#fbf3ec}
line,path{vector-effect:non-scaling-stroke}
@media(prefers-color-scheme:dark){body{color:#dfe4ec;background:#151a21}
.advice{background:#2a2119}td,th{border-color:#2e3641}figcaption{color:#9aa5b5}}
</style>
)page";

static std::string escaped(llvm::StringRef text) {
  std::string safe;
  for (char c : text)
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    default:
      safe += c;
    }
  return safe;
}

namespace {

using Points = std::vector<double>;

// A drawing of values by unit, on a logarithmic scale.
class Drawing {
public:
  Drawing(llvm::StringRef title, llvm::raw_ostream &out)
      : title(title), out(out) {}

  void line(const Points &points) { lines.push_back(points); }
  void dots(const Points &points) { dotted.push_back(points); }
  void crosses(const Points &points) { crossed.push_back(points); }

  void draw() {
    scale();
    out << "<figure><svg width=\"" << width << "\" height=\"" << height
        << "\" viewBox=\"0 0 " << width << ' ' << height
        << "\" role=\"img\" aria-label=\"" << escaped(title) << "\">\n";
    axes();
    for (const Points &points : lines)
      drawLine(points);
    for (const Points &points : dotted)
      for (size_t i = 0; i < points.size(); ++i)
        if (points[i] > 0)
          out << "<circle cx=\"" << x(i) << "\" cy=\"" << y(points[i])
              << "\" r=\"2\" fill=\"#c8641b\"/>\n";
    for (const Points &points : crossed)
      for (size_t i = 0; i < points.size(); ++i)
        if (points[i] > 0)
          drawCross(x(i), y(points[i]));
    out << "</svg><figcaption>" << escaped(title) << "</figcaption></figure>\n";
  }

private:
  static constexpr int width = 460, height = 240, left = 62, bottom = 26,
                       top = 10, right = 10;

  void scale() {
    for (const auto *list : {&lines, &dotted, &crossed})
      for (const Points &points : *list) {
        count = std::max(count, points.size());
        for (double value : points)
          if (value > 0 && std::isfinite(value)) {
            low = std::min(low, std::log10(value));
            high = std::max(high, std::log10(value));
          }
      }
    if (low > high)
      low = high = 0;
    const double room = std::max(0.05, 0.08 * (high - low));
    low -= room;
    high += room;
  }
  int x(size_t i) const {
    return left + int((width - left - right) *
                      (count > 1 ? double(i) / double(count - 1) : 0.5));
  }
  int y(double value) const {
    return int(height - bottom -
               (height - top - bottom) * (std::log10(value) - low) /
                   (high - low));
  }

  void axes() {
    for (int k = 0; k <= 4; ++k) {
      const double value = std::pow(10, low + (high - low) * k / 4);
      out << "<line x1=\"" << left << "\" x2=\"" << width - right << "\" y1=\""
          << y(value) << "\" y2=\"" << y(value)
          << "\" stroke=\"#8892a2\" stroke-opacity=\".3\"/><text x=\""
          << left - 6 << "\" y=\"" << y(value) + 4
          << "\" text-anchor=\"end\" font-size=\"11\" fill=\"#7a8496\">"
          << shortNumber(value) << "</text>\n";
    }
    out << "<text x=\"" << left << "\" y=\"" << height - 8
        << "\" font-size=\"11\" fill=\"#7a8496\">unit 1</text><text x=\""
        << width - right << "\" y=\"" << height - 8
        << "\" text-anchor=\"end\" font-size=\"11\" fill=\"#7a8496\">" << count
        << "</text>\n";
  }

  void drawLine(const Points &points) {
    out << "<path fill=\"none\" stroke=\"#2266aa\" stroke-width=\"1.6\" d=\"";
    bool pen = false;
    for (size_t i = 0; i < points.size(); ++i) {
      const bool there = points[i] > 0 && std::isfinite(points[i]);
      if (there)
        out << (pen ? 'L' : 'M') << x(i) << ' ' << y(points[i]);
      pen = there;
    }
    out << "\"/>\n";
  }

  void drawCross(int cx, int cy) {
    out << "<path stroke=\"#1b8a5a\" d=\"M" << cx - 3 << ' ' << cy - 3
        << "l6 6m0-6l-6 6\"/>\n";
  }

  std::string title;
  llvm::raw_ostream &out;
  std::vector<Points> lines, dotted, crossed;
  size_t count = 0;
  double low = 1e300, high = -1e300;
};

Points pick(size_t count, llvm::function_ref<double(size_t)> of) {
  Points points;
  for (size_t i = 0; i < count; ++i)
    points.push_back(of(i));
  return points;
}

void drawings(const Report &report, const StackAnalysis &a,
              llvm::raw_ostream &out) {
  const size_t count = a.stack.units.size();
  auto both = [&](llvm::StringRef title,
                  llvm::function_ref<double(const UnitMoments &)> of,
                  bool measured = false) {
    Drawing drawing(title, out);
    drawing.line(pick(count, [&](size_t i) { return of(a.narrow.units[i]); }));
    drawing.dots(
        pick(count, [&](size_t i) { return of(a.simulated.units[i]); }));
    if (measured && !report.sample.empty())
      drawing.crosses(
          pick(count, [&](size_t i) { return a.ranges[i].measuredSecond; }));
    drawing.draw();
  };
  both(
      "second moment at the residual sum",
      [](const UnitMoments &m) { return m.sum; }, true);
  both("second moment of the stream",
       [](const UnitMoments &m) { return m.out; });
  both("weight of the stack's input in the stream",
       [](const UnitMoments &m) { return m.inputWeight; });
  both("second moment of the gradient",
       [](const UnitMoments &m) { return m.gradient; });
  for (size_t o = 0; o < optimiserNames.size(); ++o)
    both(std::string("first update by unit, ") + optimiserNames[o],
         [&](const UnitMoments &m) { return m.update[o]; });
  Drawing weight("weight of each unit's branch in the result (predicted)", out);
  weight.line(
      pick(count, [&](size_t i) { return a.predicted.units[i].branchWeight; }));
  weight.draw();
}

void table(const Report &report, const StackAnalysis &a,
           llvm::raw_ostream &out) {
  out << "<details><summary>Every "
         "unit</summary><table><tr><th>layer</th><th>unit</th>"
         "<th>E[sum&sup2;]</th><th>simulated</th><th>input "
         "weight</th><th>gradient</th>"
         "<th>simulated</th><th>max "
         "|sum|</th><th>measured</th><th>bound</th></tr>\n";
  for (size_t i = 0; i < a.stack.units.size(); ++i) {
    const UnitMoments &m = a.predicted.units[i], &s = a.simulated.units[i];
    const Range &range = a.ranges[i];
    out << "<tr><td>" << a.stack.units[i].layer << "</td><td>"
        << escaped(a.stack.units[i].name) << "</td>";
    for (double number :
         {m.sum, s.sum, m.inputWeight, a.narrow.units[i].gradient, s.gradient,
          range.predicted})
      out << "<td>" << shortNumber(number) << "</td>";
    for (auto [number, there] :
         {std::pair{range.measuredLargest, !report.sample.empty()},
          {range.bound, report.options.bounds}})
      out << "<td>" << (there ? shortNumber(number) : "") << "</td>";
    out << "</tr>\n";
  }
  out << "</table></details>\n";
}

} // namespace

void mille::analyze::writePage(const Report &report, llvm::raw_ostream &out) {
  const std::string title = escaped("Depth of " + report.model);
  out << head << "<title>" << title << "</title></head><body>\n<h1>" << title
      << "</h1>\n<p>Weights " << escaped(report.weights);
  if (!report.sample.empty())
    out << "; crosses: measured on " << escaped(report.sample);
  out << ". Line: predicted. Dots: " << report.options.simulation.draws
      << " random stacks of " << report.options.simulation.width
      << " channels.</p>\n";
  for (const StackAnalysis &a : report.stacks) {
    out << "<h2>" << a.stack.units.size()
        << " units: " << escaped(placementInWords(a.stack.units.front()))
        << "</h2>\n<p>Effective depth "
        << shortNumber(a.predicted.effectiveDepth)
        << "; weight of the input in the result "
        << shortNumber(a.predicted.units.back().inputWeight)
        << "; first update over one layer's:";
    for (size_t o = 0; o < optimiserNames.size(); ++o)
      out << ' ' << optimiserNames[o] << ' ' << shortNumber(a.depthFactor[o])
          << " (" << growthInWords(a.depthPower[o]) << ')'
          << (o + 1 < optimiserNames.size() ? "," : ".");
    out << "</p>\n";
    for (const std::string &advice : a.advice)
      out << "<p class=\"advice\">" << escaped(advice) << "</p>\n";
    drawings(report, a, out);
    table(report, a, out);
  }
  out << "</body></html>\n";
}

// What `mille verify` found, as text or as JSON. Must not measure anything.
#include "compiler/driver/commands/VerifyReport.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mille;

bool VerifyReport::compare(llvm::StringRef what,
                           std::vector<Difference> tensors,
                           const Tolerance &tolerance, const Routing *routing) {
  bool all = judge(json ? llvm::nulls() : out, what, tensors,
                   [&](const Difference &) { return tolerance; });
  if (!json && routing)
    print(*routing);
  all &= !routing || routing->unfounded == 0;
  good &= all;
  comparisons.push_back({what.str(), std::move(tensors), tolerance, all});
  if (routing) {
    comparisons.back().rows = routing->rows();
    comparisons.back().followed = routing->followed;
    comparisons.back().unfounded = routing->unfounded;
  }
  return all;
}

void VerifyReport::print(const Routing &routing) {
  out << "  experts  " << routing.followed << " of " << routing.rows()
      << " choices stand at a tie, where the reference follows";
  if (routing.unfounded)
    out << "; " << routing.unfounded
        << " are not the best by the package's own logits  DIFFERS at router "
        << routing.route << ", row " << routing.row;
  out << '\n';
}

bool VerifyReport::certify(const rewrite::Sample &sample,
                           std::vector<Finding> found) {
  findings = std::move(found);
  sampled = sample;
  const bool all = llvm::all_of(
      findings, [](const Finding &finding) { return finding.good(); });
  if (!json)
    print(sample);
  good &= all;
  return all;
}

void VerifyReport::print(const rewrite::Sample &sample) {
  out << "certificate of " << package << ": checked on " << sample.layers
      << " of " << sample.ofLayers << " layers\n";
  for (const Finding &one : findings)
    out << llvm::format("  %-20s %-16s %s  error %.3g  allowed %.3g  ",
                        one.what.c_str(), one.inputs.c_str(), one.type.c_str(),
                        one.error, one.allowed)
        << (one.good() ? "ok" : "EXCEEDS") << '\n';
}

void VerifyReport::leaveOutHiddenStates() {
  leftOut.push_back("hidden_states");
  if (!json)
    out << "hidden_states: not kept by this package, not compared\n";
}

// JSON has no infinity.
static void number(llvm::json::OStream &to, llvm::StringRef key, double value) {
  if (std::isfinite(value))
    to.attribute(key, value);
  else
    to.attribute(key, nullptr);
}

void VerifyReport::write(llvm::json::OStream &to,
                         const Comparison &comparison) const {
  to.object([&] {
    to.attribute("what", comparison.what);
    to.attribute("ok", comparison.good);
    if (comparison.rows)
      to.attributeObject("experts", [&] {
        to.attribute("choices", comparison.rows);
        to.attribute("followed", comparison.followed);
        to.attribute("unfounded", comparison.unfounded);
      });
    to.attributeArray("tensors", [&] {
      for (const Difference &one : comparison.tensors)
        to.object([&] {
          to.attribute("name", one.name);
          to.attribute("ok", isWithin(one, comparison.tolerance));
          number(to, "max_error", one.maxError);
          number(to, "max_expected", one.maxExpected);
          number(to, "bound", boundOf(one, comparison.tolerance));
          number(to, "cosine", one.cosine);
          if (comparison.tolerance.cosine > -1)
            number(to, "least_cosine", comparison.tolerance.cosine);
          to.attributeArray("where", [&] {
            for (int64_t index : one.where)
              to.value(index);
          });
          number(to, "got", one.got);
          number(to, "expected", one.expected);
        });
    });
  });
}

void VerifyReport::write(llvm::json::OStream &to,
                         const Finding &finding) const {
  to.object([&] {
    to.attribute("what", finding.what);
    to.attribute("inputs", finding.inputs);
    to.attribute("type", finding.type);
    to.attribute("ok", finding.good());
    number(to, "error", finding.error);
    number(to, "allowed", finding.allowed);
  });
}

void VerifyReport::finish() {
  if (!json)
    return;
  llvm::json::OStream to(out, 2);
  to.object([&] {
    to.attribute("package", package);
    to.attribute("ok", good);
    to.attributeArray("comparisons", [&] {
      for (const Comparison &comparison : comparisons)
        write(to, comparison);
    });
    to.attributeArray("not_compared", [&] {
      for (const std::string &name : leftOut)
        to.value(name);
    });
    if (sampled)
      to.attributeObject("certificate", [&] {
        to.attribute("layers", sampled->layers);
        to.attribute("of_layers", sampled->ofLayers);
        to.attributeArray("findings", [&] {
          for (const Finding &finding : findings)
            write(to, finding);
        });
      });
  });
  out << '\n';
}

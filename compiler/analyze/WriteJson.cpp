// Writes the analysis as JSON for programs: every number of every unit.
#include "compiler/analyze/Analysis.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;

namespace {

class Writer {
public:
  explicit Writer(llvm::raw_ostream &out) : json(out, 2) {}

  void write(const Report &report) {
    json.object([&] {
      json.attribute("model", report.model);
      json.attribute("weights", report.weights);
      if (!report.sample.empty())
        json.attribute("sample", report.sample);
      if (!report.loss.empty())
        json.attribute("loss", report.loss);
      number("keys", report.options.keys);
      json.attribute("simulated_channels", report.options.simulation.width);
      json.attribute("simulated_draws", report.options.simulation.draws);
      number("simulated_cosine_floor", cosineFloor(report.options.simulation));
      json.attributeArray("stacks", [&] {
        for (const StackAnalysis &a : report.stacks)
          stack(report, a);
      });
    });
  }

private:
  // JSON has no infinity.
  void number(llvm::StringRef key, double value) {
    if (std::isfinite(value))
      json.attribute(key, value);
    else
      json.attribute(key, nullptr);
  }

  void updates(llvm::StringRef key, const std::array<double, 3> &update) {
    json.attributeObject(key, [&] {
      number("sgd", update[sgd]);
      number("adam", update[adam]);
      number("lamb", update[lamb]);
    });
  }

  void moments(llvm::StringRef key, const UnitMoments &m, bool predicted) {
    json.attributeObject(key, [&] {
      number("in", m.in);
      number("branch", m.branch);
      number("sum", m.sum);
      number("out", m.out);
      number("input_weight", m.inputWeight);
      if (predicted)
        number("branch_weight", m.branchWeight);
      number("gradient", m.gradient);
      updates("update", m.update);
    });
  }

  void unit(const Report &report, const StackAnalysis &a, size_t i) {
    const Unit &unit = a.stack.units[i];
    const Range &range = a.ranges[i];
    json.object([&] {
      json.attribute("unit", unit.name);
      json.attribute("layer", unit.layer);
      json.attribute("placement", placementInWords(unit));
      number("skip_scale", unit.skip);
      moments("predicted", a.predicted.units[i], true);
      moments("predicted_narrow", a.narrow.units[i], true);
      moments("simulated", a.simulated.units[i], false);
      if (!a.exact.empty())
        json.attributeObject("exact", [&] {
          number("gradient", a.exact[i].gradient);
          updates("update", a.exact[i].update);
        });
      json.attributeArray("logits", [&] {
        for (const LogitMoments &m : a.logits[i])
          json.object([&] {
            number("second_moment", m.second);
            number("saturation", m.saturation);
            number("keys", m.keys);
          });
      });
      json.attributeObject("range", [&] {
        number("predicted_largest", range.predicted);
        if (report.options.bounds)
          number("bound", range.bound);
        if (!report.sample.empty()) {
          number("measured_largest", range.measuredLargest);
          number("measured_second_moment", range.measuredSecond);
          number("measured_out", range.measuredOut);
        }
        const double largest =
            range.measuredLargest > 0 ? range.measuredLargest : range.predicted;
        json.attribute("fits_f16", largest <= 65504);
        json.attribute("fits_bf16", largest <= 0x1.fep127);
      });
      json.attributeArray("taken_as_keeping_the_moment", [&] {
        for (const Branch &branch : unit.branches)
          for (const std::string &name : branch.unknown)
            json.value(name);
      });
      matrices(unit);
    });
  }

  void matrices(const Unit &unit) {
    json.attributeArray("matrices", [&] {
      for (const Branch &branch : unit.branches)
        for (const Map &map : branch.maps)
          if (map.kind == MapKind::linear && !map.name.empty())
            json.object([&] {
              json.attribute("name", map.name);
              number("second_moment", map.weight.second);
              if (map.weight.operatorNorm > 0)
                number("operator_norm", map.weight.operatorNorm);
              if (map.weight.magnitude > 0)
                number("magnitude", map.weight.magnitude);
            });
    });
  }

  void stack(const Report &report, const StackAnalysis &a) {
    json.object([&] {
      json.attribute("units_count", int64_t(a.stack.units.size()));
      json.attribute("placement", placementInWords(a.stack.units.front()));
      number("channels", a.stack.channels);
      number("entry", a.stack.entry);
      json.attribute("final_norm", a.stack.finalNorm);
      number("effective_depth", a.predicted.effectiveDepth);
      number("input_weight", a.predicted.units.back().inputWeight);
      updates("update_predicted", a.narrow.update);
      updates("update_simulated", a.simulated.update);
      if (!a.exact.empty())
        updates("update_exact", a.exactUpdate);
      updates("update_over_one_layer", a.depthFactor);
      updates("update_power_of_layers", a.depthPower);
      number("update_over_deepnorm", a.overDeepNorm);
      json.attributeArray("advice", [&] {
        for (const std::string &advice : a.advice)
          json.value(advice);
      });
      json.attributeArray("units", [&] {
        for (size_t i = 0; i < a.stack.units.size(); ++i)
          unit(report, a, i);
      });
    });
  }

  llvm::json::OStream json;
};

} // namespace

void mille::analyze::writeJson(const Report &report, llvm::raw_ostream &out) {
  Writer(out).write(report);
  out << '\n';
}

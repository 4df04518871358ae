// Reads the units of a native spec, their norms and scales.
#include "compiler/import/spec/Spec.h"
#include "dialects/transformer/Formula.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

Norm mille::import::readNorm(SpecFields fields) {
  Norm norm;
  norm.at = fields.at();
  const size_t before = fields.problems.count();
  norm.kind = NormKind(fields.choice("kind"));
  if (fields.problems.count() > before) { // the other keys depend on this one
    norm.kind = NormKind::identity;
    fields.ignoreRest();
    return norm;
  }
  if (!norm.present()) {
    fields.ignoreRest();
    return norm;
  }
  auto affine = fields.chosen("affine");
  norm.affine = affine                           ? Affine(*affine)
                : norm.kind == NormKind::l2_norm ? Affine::none
                                                 : Affine::weight;
  norm.bias = fields.truth("bias", norm.kind == NormKind::layer_norm &&
                                       norm.affine != Affine::none);
  norm.eps = fields.real("eps");
  fields.ignore("group"); // for norms of heads; SpecAttention reads it
  fields.refuseRest();
  return norm;
}

namespace {

class UnitReader {
public:
  UnitReader(SpecFields &fields, const Stack &stack, const Depths &depths)
      : fields(fields), stack(stack), depths(depths) {}

  Unit read() {
    Unit unit;
    unit.at = fields.at();
    unit.inNorm = norms("in_norm");
    unit.branchNorm = norms("branch_norm");
    unit.outNorm = norms("out_norm");
    unit.skipScale = scales("skip_scale");
    unit.branchScale = scales("branch_scale");
    unit.streamScale = scales("stream_scale");
    unit.tap = Tap(fields.choice("residual_tap"));
    unit.sharedInNorm = fields.truth("shared_in_norm");
    return unit;
  }

private:
  // Either one value for all layers, or a list with one per layer.
  template <typename T, typename Read>
  PerLayer<T> perLayer(StringRef key, Read read) {
    PerLayer<T> slot;
    const json::Value *value = fields.take(key);
    if (!value)
      return slot;
    if (value->kind != json::Kind::array) {
      slot.all.push_back(read(*value));
      return slot;
    }
    if (int64_t(value->items.size()) != stack.layers.value) {
      fields
          .error(key, key + " has " + Twine(value->items.size()) +
                          " entries but layers is " + Twine(stack.layers.value))
          .note(stack.layers.at, "layers is given here");
      return slot;
    }
    for (const json::Value &entry : value->items)
      slot.all.push_back(entry.kind == json::Kind::null ? T() : read(entry));
    return slot;
  }

  PerLayer<Norm> norms(StringRef key) {
    return perLayer<Norm>(key, [&](const json::Value &value) {
      return readNorm(fields.as(value, "norm", key));
    });
  }
  PerLayer<Scale> scales(StringRef key) {
    return perLayer<Scale>(key, [&](const json::Value &value) {
      return scaleOf(fields.as(value, "scale", key));
    });
  }

  Scale scaleOf(SpecFields scaleFields) {
    Scale scale;
    scale.at = scaleFields.at();
    const size_t before = fields.problems.count();
    scale.kind = ScaleKind(scaleFields.choice("kind"));
    if (fields.problems.count() > before) {
      scale.kind = ScaleKind::constant;
      scaleFields.ignoreRest();
      return scale;
    }
    if (scale.kind == ScaleKind::constant) {
      constant(scaleFields, scale);
    } else if (scale.kind == ScaleKind::scheduled) {
      scale.from = scaleFields.real("from");
      scale.to = scaleFields.real("to");
      scale.steps = scaleFields.whole("steps").value;
    } else {
      scale.init = scaleFields.real("init");
      scale.share = Share(scaleFields.choice("share"));
    }
    scaleFields.refuseRest();
    return scale;
  }

  std::optional<double> named(StringRef name) {
    if (name == "layers")
      return double(stack.layers.value);
    if (name == "hidden_size")
      return double(stack.hidden.value);
    if (name == "encoder_layers" && depths.encoder)
      return double(depths.encoder);
    if (name == "decoder_layers" && depths.decoder)
      return double(depths.decoder);
    return std::nullopt;
  }

  // A value, a formula over the depth, or both if they agree.
  void constant(SpecFields &scaleFields, Scale &scale) {
    scale.formula = scaleFields.text("formula", "");
    bool given = scaleFields.has("value");
    if (given || scale.formula.empty())
      scale.value = scaleFields.real("value");
    if (scale.formula.empty())
      return;
    std::string why;
    std::optional<double> computed = evaluateFormula(
        scale.formula, [&](StringRef name) { return named(name); }, why);
    if (!computed || !std::isfinite(*computed)) {
      scaleFields
          .error("formula", "formula \"" + Twine(scale.formula) + "\" " +
                                (computed ? "has no finite value" : why))
          .help(depths.encoder ? "a formula knows layers, hidden_size, "
                                 "encoder_layers and decoder_layers"
                               : "a formula knows layers and hidden_size");
      return;
    }
    double error = std::fabs(*computed - scale.value);
    if (given && error > 1e-12 * std::max(1.0, std::fabs(*computed)))
      scaleFields
          .error("value", "value is " + formatDouble(scale.value) +
                              " but formula \"" + scale.formula + "\" gives " +
                              formatDouble(*computed))
          .note(scaleFields.at("formula"), "formula is given here");
    if (!given)
      scale.value = *computed;
  }

  SpecFields &fields;
  const Stack &stack;
  const Depths &depths;
};

} // namespace

Unit mille::import::readUnit(SpecFields &fields, const Stack &stack,
                             const Depths &depths) {
  return UnitReader(fields, stack, depths).read();
}

// Reads a native spec: model, embedding, units with their norms and scales, head.
// Branches are in SpecBranch.cpp.
#include "compiler/import/Spec.h"
#include "dialects/transformer/Formula.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

void mille::import::notYet(Fields &fields, StringRef key) {
  const json::Value *value = fields.take(key);
  if (!value || (value->kind == json::Kind::boolean && !value->boolean))
    return;
  fields.error(key, key + " is " + value->describe() +
                        " but Mille does not do that yet");
}

namespace {

class SpecReader {
public:
  SpecReader(const json::Document &document, ModelSpec &spec,
             Problems &problems, mlir::MLIRContext &context)
      : document(document), spec(spec), problems(problems), context(context) {}

  void read(std::optional<InitRecipe> &init) {
    Fields fields = fieldsOf(document.root, "the spec");
    spec.at = fields.at();
    spec.name = fields.text("name", "");
    if (fields.has("encoder") || fields.has("decoder")) {
      notYet(fields, "encoder");
      notYet(fields, "decoder");
      return;
    }
    spec.layers = fields.extent("layers", {}, 1 << 16);
    spec.hidden = fields.extent("hidden_size");
    spec.vocab = fields.extent("vocab_size");
    if (const json::Value *embedding = fields.object("embedding"))
      readEmbedding(*embedding);
    spec.finalNorm = normOf(fields.take("final_norm"), "final_norm");
    if (const json::Value *head = fields.object("head"))
      readHead(*head);
    if (const json::Value *recipe = fields.object("init"))
      readInit(*recipe, init);
    readUnits(fields);
    fields.refuseRest();
  }

private:
  Fields fieldsOf(const json::Value &object, StringRef what) {
    return Fields(document, object, what, problems, context);
  }

  void readEmbedding(const json::Value &object) {
    Fields fields = fieldsOf(object, "embedding");
    spec.embedScale = fields.number("scale", 1);
    if (fields.has("position")) {
      fields.word("position", {"learned"}, 0);
      spec.positions = fields.extent("position_size");
    } else {
      fields.ignore("position_size");
    }
    if (fields.has("token_types"))
      spec.tokenTypes = fields.extent("token_types");
    spec.embedNorm = normOf(fields.take("norm"), "the embedding's norm");
    fields.refuseRest();
  }

  void readHead(const json::Value &object) {
    Fields fields = fieldsOf(object, "head");
    Head head;
    head.tied = fields.flag("tied", false);
    head.bias = fields.flag("bias", false);
    head.scale = fields.number("logits_scale", 1);
    head.softcap = fields.positive("logits_softcap", 0);
    head.at = fields.at();
    spec.head = head;
    fields.refuseRest();
  }

  void readInit(const json::Value &object, std::optional<InitRecipe> &init) {
    Fields fields = fieldsOf(object, "init");
    InitRecipe recipe;
    recipe.scheme = Scheme(fields.word("scheme", schemeNames()));
    int64_t seed = fields.integer("seed", 0);
    if (seed < 0)
      fields.error("seed", "seed is " + Twine(seed) + " but must be from 0");
    recipe.seed = uint64_t(seed);
    init = recipe;
    fields.refuseRest();
  }

  Norm normOf(const json::Value *value, StringRef what) {
    Norm norm;
    if (!value)
      return norm;
    Fields fields = fieldsOf(*value, what);
    norm.at = fields.at();
    const size_t before = problems.count();
    size_t kind = fields.word(
        "kind", {"layer_norm", "rms_norm", "identity", "l2_norm"});
    if (problems.count() > before) { // what the other keys mean is unknown
      fields.ignoreRest();
      return norm;
    }
    if (kind == 3)
      fields.error("kind", "kind is \"l2_norm\" but Mille does not do that yet "
                           "on the residual stream");
    norm.kind = kind == 0   ? NormKind::layer_norm
                : kind == 1 ? NormKind::rms_norm
                            : NormKind::identity;
    if (norm.present()) {
      norm.affine = Affine(
          fields.word("affine", {"none", "weight", "one_plus_weight"}, 1));
      norm.bias = fields.flag("bias", norm.kind == NormKind::layer_norm &&
                                          norm.affine != Affine::none);
      norm.eps = fields.positive("eps", 1e-5);
    } else {
      for (StringRef key : {"affine", "bias", "eps"})
        fields.ignore(key);
    }
    fields.refuseRest();
    return norm;
  }

  Scale scaleOf(const json::Value *value, StringRef what) {
    Scale scale;
    if (!value)
      return scale;
    Fields fields = fieldsOf(*value, what);
    scale.at = fields.at();
    const size_t before = problems.count();
    size_t kind = fields.word(
        "kind", {"const", "learned_scalar", "learned_channel", "scheduled"});
    if (problems.count() > before) {
      fields.ignoreRest();
      return scale;
    }
    scale.kind = ScaleKind(kind);
    if (scale.kind == ScaleKind::constant) {
      constant(fields, scale);
    } else if (scale.kind == ScaleKind::scheduled) {
      scale.from = fields.number("from", 0);
      scale.to = fields.number("to", 1);
      scale.steps = fields.extent("steps").value;
    } else {
      scale.init = fields.number("init", 1);
      scale.share = Share(fields.word("share", {"unit", "layer", "model"}, 0));
    }
    fields.refuseRest();
    return scale;
  }

  // A value, a formula over the depth, or both when they agree.
  void constant(Fields &fields, Scale &scale) {
    scale.formula = fields.text("formula", "");
    bool given = fields.has("value");
    if (given || scale.formula.empty())
      scale.value = fields.number("value");
    if (scale.formula.empty())
      return;
    std::string why;
    std::optional<double> computed = evaluateFormula(
        scale.formula,
        [&](StringRef name) -> std::optional<double> {
          if (name == "layers")
            return double(spec.layers.value);
          if (name == "hidden_size")
            return double(spec.hidden.value);
          return std::nullopt;
        },
        why);
    if (!computed || !std::isfinite(*computed)) {
      fields.error("formula", "formula \"" + Twine(scale.formula) + "\" " +
                                  (computed ? "has no finite value" : why))
          .help("a formula knows layers and hidden_size");
      return;
    }
    double error = std::fabs(*computed - scale.value);
    if (given && error > 1e-12 * std::max(1.0, std::fabs(*computed)))
      fields
          .error("value", "value is " + formatDouble(scale.value) +
                              " but formula \"" + scale.formula + "\" gives " +
                              formatDouble(*computed))
          .note(fields.at("formula"), "formula is given here");
    if (!given)
      scale.value = *computed;
  }

  // One value for all layers, or a list with one for each.
  template <typename T, typename Read>
  PerLayer<T> perLayer(Fields &unit, StringRef key, Read read) {
    PerLayer<T> slot;
    const json::Value *value = unit.take(key);
    if (!value)
      return slot;
    if (value->kind != json::Kind::array) {
      slot.all.push_back(read(value));
      return slot;
    }
    if (int64_t(value->items.size()) != spec.layers.value) {
      unit.error(key, key + " has " + Twine(value->items.size()) +
                          " entries but layers is " + Twine(spec.layers.value))
          .note(spec.layers.at, "layers is given here");
      return slot;
    }
    for (const json::Value &entry : value->items)
      slot.all.push_back(
          read(entry.kind == json::Kind::null ? nullptr : &entry));
    return slot;
  }

  PerLayer<Norm> norms(Fields &unit, StringRef key) {
    return perLayer<Norm>(
        unit, key, [&](const json::Value *v) { return normOf(v, key); });
  }
  PerLayer<Scale> scales(Fields &unit, StringRef key) {
    return perLayer<Scale>(
        unit, key, [&](const json::Value *v) { return scaleOf(v, key); });
  }

  void readUnits(Fields &model) {
    const json::Value *units = model.list("units");
    if (!units || units->items.empty()) {
      problems.error(model.at("units"), "the spec has no units");
      return;
    }
    for (const json::Value &object : units->items) {
      Fields fields = fieldsOf(object, "a unit");
      spec.units.push_back(readUnit(fields));
      fields.refuseRest();
    }
  }

  Unit readUnit(Fields &fields) {
    Unit unit;
    unit.at = fields.at();
    unit.inNorm = norms(fields, "in_norm");
    unit.branchNorm = norms(fields, "branch_norm");
    unit.outNorm = norms(fields, "out_norm");
    unit.skipScale = scales(fields, "skip_scale");
    unit.branchScale = scales(fields, "branch_scale");
    unit.streamScale = scales(fields, "stream_scale");
    unit.tap = Tap(fields.word("residual_tap", {"input", "normed"}, 0));
    const json::Value *branches = fields.list("branches");
    if (!branches || branches->items.empty())
      problems.error(fields.at("branches"), "a unit has no branches");
    else
      for (const json::Value &object : branches->items) {
        Fields branch = fieldsOf(object, "a branch");
        unit.branches.push_back(readBranch(branch, spec, problems, context));
        named(branch, unit.branches.back().name, branchNames);
        branch.refuseRest();
      }
    bool several = unit.branches.size() > 1;
    unit.name = fields.text(
        "name", several || unit.branches.empty() ? "block"
                                                 : unit.branches[0].name);
    named(fields, unit.name, unitNames);
    size_t composition =
        fields.word("composition", {"sequential", "parallel"}, several ? 1 : 0);
    if (composition == 0 && several)
      fields.error("composition",
                   "composition is \"sequential\" but the unit has " +
                       Twine(unit.branches.size()) + " branches")
          .help("branches of one unit are parallel; a sequence is several "
                "units");
    unit.sharedInNorm = fields.flag("shared_in_norm", true);
    if (unit.tap == Tap::normed && unit.inNorm.all.empty())
      fields.error("residual_tap",
                   "residual_tap is \"normed\" but the unit has no in_norm");
    if (unit.tap == Tap::normed && several && !unit.sharedInNorm)
      fields.error("residual_tap", "residual_tap is \"normed\" but "
                                   "shared_in_norm is false: there is no one "
                                   "normed input");
    return unit;
  }

  // Names are parts of parameter names, so each stands for one thing.
  void named(Fields &fields, StringRef name,
             llvm::StringMap<mlir::LocationAttr> &taken) {
    auto letter = [](char c) {
      return llvm::isAlnum(c) || c == '_';
    };
    if (name.empty() || name.size() > 64 || !llvm::all_of(name, letter)) {
      fields.error("name", "name is \"" + name +
                               "\" but must be letters, digits and _");
      return;
    }
    auto [found, fresh] = taken.try_emplace(name, fields.at("name"));
    if (!fresh)
      fields.error("name", "name \"" + name + "\" is taken")
          .note(found->second, "first given here");
  }

  const json::Document &document;
  ModelSpec &spec;
  Problems &problems;
  mlir::MLIRContext &context;
  llvm::StringMap<mlir::LocationAttr> unitNames, branchNames;
};

} // namespace

void mille::import::readSpec(const json::Document &document, ModelSpec &spec,
                             std::optional<InitRecipe> &init,
                             Problems &problems, mlir::MLIRContext &context) {
  SpecReader(document, spec, problems, context).read(init);
}

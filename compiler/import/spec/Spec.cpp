// Reads a native spec: model, stacks, embedding, head. Units are in
// SpecUnit.cpp, branches in SpecBranch.cpp.
#include "compiler/import/spec/Spec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

namespace {

// Names become parts of parameter names, so each may be used once.
class Names {
public:
  void take(Fields &fields, StringRef name) {
    auto letter = [](char c) { return llvm::isAlnum(c) || c == '_'; };
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

private:
  llvm::StringMap<mlir::LocationAttr> taken;
};

// Reads one stack from the spec itself, or from its encoder or decoder.
class StackReader {
public:
  StackReader(SpecFields &fields, Stack &stack, const Depths &depths)
      : fields(fields), stack(stack), depths(depths) {}

  void read() {
    stack.layers = fields.whole("layers", {}, 1 << 16);
    stack.hidden = fields.whole("hidden_size");
    stack.vocab = fields.whole("vocab_size");
    if (auto embedding = fields.inner("embedding"))
      readEmbedding(*embedding);
    if (auto norm = fields.inner("final_norm"))
      stack.finalNorm = readNorm(std::move(*norm));
    readLayerWeights();
    readUnits();
  }

private:
  void readEmbedding(SpecFields &embedding) {
    stack.embedScale = embedding.real("scale");
    if (auto kind = embedding.chosen("position")) {
      stack.positions = embedding.whole("position_size");
      stack.positionRule.from =
          PositionsFrom(embedding.choice("position_from"));
      stack.positionRule.padding = embedding.count("padding_id");
      stack.positionRule.offset = embedding.count("position_offset");
      if (*kind == 1)
        stack.positionRule.divisor =
            embedding.real("position_divisor", double(stack.hidden.value) / 2);
    } else {
      for (StringRef key : {"position_size", "position_from", "padding_id",
                            "position_offset", "position_divisor"})
        embedding.ignore(key);
    }
    if (embedding.has("token_types"))
      stack.tokenTypes = embedding.whole("token_types");
    if (auto norm = embedding.inner("norm"))
      stack.embedNorm = readNorm(std::move(*norm));
    if (embedding.has("width"))
      stack.words.width = embedding.whole("width");
    stack.words.bias = embedding.truth("projection_bias");
    stack.projectedAt = ProjectedAt(embedding.choice("projected"));
    embedding.refuseRest();
  }

  // Layers with equal numbers share their weights.
  void readLayerWeights() {
    std::vector<int64_t> sets = fields.wholes("layer_weights");
    if (!fields.has("layer_weights"))
      return;
    if (int64_t(sets.size()) != stack.layers.value) {
      fields
          .error("layer_weights", "layer_weights has " + Twine(sets.size()) +
                                      " entries but layers is " +
                                      Twine(stack.layers.value))
          .note(stack.layers.at, "layers is given here");
      return;
    }
    for (int64_t set : sets)
      stack.layerNames.push_back(("layers." + Twine(set) + ".").str());
  }

  void readUnits() {
    const json::Value *units = fields.list("units");
    if (!units || units->items.empty()) {
      fields.error("units", "the spec has no units");
      return;
    }
    for (const json::Value &object : units->items) {
      SpecFields unit = fields.as(object, "unit", "a unit");
      stack.units.push_back(readUnit(unit, stack, depths));
      readBranches(unit, stack.units.back());
      unit.refuseRest();
    }
  }

  void readBranches(SpecFields &fields, Unit &unit) {
    const json::Value *branches = fields.list("branches");
    if (!branches || branches->items.empty())
      fields.error("branches", "a unit has no branches");
    else
      for (const json::Value &object : branches->items) {
        SpecFields branch = fields.as(object, "branch", "a branch");
        unit.branches.push_back(readBranch(branch, object, stack));
        branchNames.take(branch, unit.branches.back().name);
        branch.refuseRest();
      }
    bool several = unit.branches.size() > 1;
    unit.name = fields.text("name", several || unit.branches.empty()
                                        ? "block"
                                        : unit.branches[0].name);
    unitNames.take(fields, unit.name);
    size_t composition = fields.chosen("composition").value_or(several);
    if (composition == 0 && several)
      fields
          .error("composition",
                 "composition is \"sequential\" but the unit has " +
                     Twine(unit.branches.size()) + " branches")
          .help("branches of one unit are parallel; a sequence is several "
                "units");
    if (unit.tap == Tap::normed && unit.inNorm.all.empty())
      fields.error("residual_tap",
                   "residual_tap is \"normed\" but the unit has no in_norm");
    if (unit.tap == Tap::normed && several && !unit.sharedInNorm)
      fields.error("residual_tap", "residual_tap is \"normed\" but "
                                   "shared_in_norm is false: there is no one "
                                   "normed input");
  }

  SpecFields &fields;
  Stack &stack;
  const Depths &depths;
  Names unitNames, branchNames;
};

class SpecReader {
public:
  SpecReader(SpecFields &fields, ModelSpec &spec)
      : fields(fields), spec(spec) {}

  void read(std::optional<InitRecipe> &init) {
    spec.at = fields.at();
    spec.name = fields.text("name", "");
    fields.ignore("$schema");
    auto encoder = fields.inner("encoder"), decoder = fields.inner("decoder");
    if (encoder && decoder)
      readBoth(*encoder, *decoder);
    else if (encoder || decoder)
      fields.error(encoder ? "encoder" : "decoder",
                   encoder ? "the spec has an encoder but no decoder"
                           : "the spec has a decoder but no encoder");
    else
      StackReader(fields, spec, Depths()).read();
    if (auto pooling = fields.inner("pooling"))
      readPooling(*pooling);
    if (auto head = fields.inner("head"))
      readHead(*head);
    spec.ntk = fields.choice("parametrisation") == 1;
    if (auto recipe = fields.inner("init"))
      readInit(*recipe, init);
    if (auto training = fields.inner("train"))
      spec.training = readTraining(*training);
    fields.refuseRest();
  }

private:
  void readBoth(SpecFields &encoder, SpecFields &decoder) {
    Depths depths{encoder.whole("layers", {}, 1 << 16).value,
                  decoder.whole("layers", {}, 1 << 16).value};
    Stack first;
    first.prefix = "encoder.";
    first.output = "encoder_last_hidden_state";
    first.states = "encoder_hidden_states";
    StackReader(encoder, first, depths).read();
    encoder.refuseRest();
    spec.before.push_back(std::move(first));
    spec.prefix = "decoder.";
    spec.decoder = true;
    spec.states = "decoder_hidden_states";
    StackReader(decoder, spec, depths).read();
    decoder.refuseRest();
  }

  void readPooling(SpecFields &fields) {
    Pooling pooling;
    pooling.kind = Pool(fields.choice("kind"));
    pooling.id = fields.count("id");
    pooling.skip = fields.count("skip");
    if (auto norm = fields.inner("norm"))
      pooling.norm = readNorm(std::move(*norm));
    pooling.dense = fields.truth("dense");
    pooling.act = Activation(fields.choice("act"));
    spec.pooling = pooling;
    fields.refuseRest();
  }

  void readHead(SpecFields &fields) {
    Head head;
    head.tied = fields.truth("tied");
    head.bias = fields.truth("bias");
    head.scale = fields.real("logits_scale");
    if (fields.has("logits_softcap"))
      head.softcap = fields.real("logits_softcap");
    if (auto transform = fields.inner("transform")) {
      head.transform.emplace();
      head.transform->act = Activation(transform->choice("act"));
      if (auto norm = transform->inner("norm"))
        head.transform->norm = readNorm(std::move(*norm));
      if (transform->has("width"))
        head.transform->width = transform->whole("width");
      head.transform->bias = transform->truth("bias");
      transform->refuseRest();
    }
    head.at = fields.at();
    spec.head = head;
    fields.refuseRest();
  }

  void readInit(SpecFields &fields, std::optional<InitRecipe> &init) {
    InitRecipe recipe;
    recipe.scheme = Scheme(fields.choice("scheme"));
    recipe.seed = uint64_t(fields.count("seed"));
    recipe.at = fields.at("scheme");
    init = recipe;
    fields.refuseRest();
  }

  SpecFields &fields;
  ModelSpec &spec;
};

} // namespace

void mille::import::readSpec(const json::Document &document, ModelSpec &spec,
                             std::optional<InitRecipe> &init,
                             Problems &problems, mlir::MLIRContext &context) {
  SpecFields fields(document, document.root, "spec", "the spec", problems,
                    context);
  SpecReader(fields, spec).read(init);
}

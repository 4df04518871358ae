// Reads attention branches of a native spec.
#include "compiler/import/DistanceBuckets.h"
#include "compiler/import/Rope.h"
#include "compiler/import/spec/Spec.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

namespace {

class AttentionReader {
public:
  AttentionReader(SpecFields &fields, const Stack &stack)
      : fields(fields), stack(stack) {}

  Attention read() {
    heads();
    mask();
    logitScale();
    biases();
    projections();
    positions();
    extras();
    return std::move(a);
  }

private:
  void heads() {
    a.heads = fields.whole("heads", {}, 1 << 16);
    a.kvHeads = fields.whole("kv_heads", a.heads.value, 1 << 16);
    checkHeads(a, fields.problems);
    if (auto latent = fields.inner("latent"))
      a.latent = readLatent(std::move(*latent));
    bool divides = stack.hidden.value % a.heads.value == 0;
    if (a.latent) {
      a.headDim = fields.whole(
          "head_dim", a.latent->nope.value + a.latent->rope.value, 1 << 16);
      if (a.headDim.value != a.latent->nope.value + a.latent->rope.value)
        fields.error("head_dim",
                     "head_dim is " + Twine(a.headDim.value) +
                         " but nope_dim is " + Twine(a.latent->nope.value) +
                         " and rope_dim " + Twine(a.latent->rope.value));
    } else {
      if (!fields.has("head_dim") && !divides)
        fields
            .error("heads", "heads is " + Twine(a.heads.value) +
                                " but must divide hidden_size, which is " +
                                Twine(stack.hidden.value) +
                                ", where head_dim is absent")
            .note(stack.hidden.at, "hidden_size is given here");
      a.headDim = fields.whole(
          "head_dim", stack.hidden.value / a.heads.value + (divides ? 0 : 1),
          1 << 16);
    }
    a.valueDim = fields.whole("value_dim", a.headDim.value, 1 << 16);
  }

  static Latent readLatent(SpecFields fields) {
    Latent latent;
    if (fields.has("query_rank"))
      latent.queryRank = fields.whole("query_rank");
    latent.rank = fields.whole("rank");
    latent.nope = fields.whole("nope_dim", {}, 1 << 16);
    latent.rope = fields.whole("rope_dim", {}, 1 << 16);
    if (auto norm = fields.inner("query_norm"))
      latent.queryNorm = readNorm(std::move(*norm));
    if (auto norm = fields.inner("norm"))
      latent.norm = readNorm(std::move(*norm));
    latent.queryBias = fields.truth("query_bias");
    latent.bias = fields.truth("bias");
    fields.refuseRest();
    return latent;
  }

  void mask() {
    enum { bidirectional, causal, prefix, cross };
    size_t mask = fields.choice("mask");
    a.mask =
        mask == causal || mask == prefix ? Mask::causal : Mask::bidirectional;
    a.prefixed = mask == prefix;
    a.cross = mask == cross;
    if (a.cross && !stack.decoder)
      fields.error("mask", "mask is \"cross\" but there is no encoder")
          .help("encoder and decoder are keys of the spec");
    std::vector<int64_t> window = fields.wholes("window");
    if (fields.has("window") && window.size() != 2)
      fields.error("window", "window has " + Twine(window.size()) +
                                 " entries but there are 2, left and right");
    if (window.size() == 2) {
      a.left = window[0];
      a.right = window[1];
    }
    a.chunk = fields.count("chunk");
  }

  void logitScale() {
    a.scale = 1 / std::sqrt(double(a.headDim.value));
    auto scale = fields.inner("logit_scale");
    if (!scale)
      return;
    const json::Value *fixed = scale->take("static");
    if (fixed && fixed->kind == json::Kind::object) {
      SpecFields form = scale->as(*fixed, "static_scale", "static");
      a.scale = form.has("rsqrt") ? 1 / std::sqrt(form.real("rsqrt"))
                                  : form.real("const");
      form.refuseRest();
    } else if (scale->choice("static") == 1) {
      a.scale = 1;
    }
    a.divideByLayer = scale->chosen("layer").has_value();
    a.learnedScale = scale->chosen("learned").has_value();
    if (auto length = scale->inner("length"))
      a.lengthScale = readLengthScale(std::move(*length));
    scale->refuseRest();
  }

  static LengthScale readLengthScale(SpecFields fields) {
    LengthScale length;
    length.kind = LengthKind(fields.choice("kind"));
    if (length.kind == LengthKind::log_floor) {
      length.beta = fields.real("beta");
      length.period = fields.whole("period").value;
      length.offset = fields.count("offset");
    } else {
      length.base = fields.real("m");
      if (length.base <= 1)
        fields.error("m", "m is " + formatDouble(length.base) +
                              " but must be more than 1");
      if (length.kind == LengthKind::log_keys)
        length.floor = fields.real("floor");
    }
    fields.refuseRest();
    return length;
  }

  void biases() {
    auto bias = fields.inner("bias");
    if (!bias)
      return;
    a.qBias = bias->truth("q");
    a.kBias = bias->truth("k");
    a.vBias = bias->truth("v");
    a.oBias = bias->truth("o");
    bias->refuseRest();
  }

  void projections() {
    a.layout = QkvLayout(fields.choice("layout"));
    if (a.layout != QkvLayout::separate &&
        (a.qBias != a.kBias || a.kBias != a.vBias))
      fields.error("layout", "layout puts q, k and v in one matrix but their "
                             "biases differ");
    if (fields.has("qkv_clip"))
      a.clip = fields.real("qkv_clip");
    a.qkvAct = Activation(fields.choice("qkv_act"));
    a.inputShift = fields.truth("input_shift");
    if (auto norm = fields.inner("qk_norm"))
      a.qkNorm = headNorm(std::move(*norm), NormGroup::head);
    a.normAfterRope = fields.choice("qk_norm_order") == 1;
    a.qkGain = fields.real("qk_gain");
  }

  static HeadNorm headNorm(SpecFields fields, NormGroup absent) {
    HeadNorm norm;
    auto group = fields.chosen("group");
    norm.group = group ? NormGroup(*group) : absent;
    norm.norm = readNorm(std::move(fields));
    return norm;
  }

  void positions() {
    if (auto rope = fields.inner("rope")) {
      Extent turned = a.latent ? a.latent->rope : a.headDim;
      a.rope = readRope(*rope, turned);
    }
    a.rotateValue = fields.truth("rotate_value");
    const json::Value *bias = fields.take("position_bias");
    if (bias && bias->kind == json::Kind::object)
      a.distance =
          distanceTable(fields.as(*bias, "distance_bias", "position_bias"));
    else if (fields.chosen("position_bias"))
      a.slopes = alibiSlopes(a.heads.value);
  }

  DistanceTable distanceTable(SpecFields fields) {
    DistanceTable table;
    table.entries = fields.whole("buckets", {}, 1 << 16);
    Extent farthest = fields.whole("max_distance", {}, 1 << 20);
    table.shared = fields.truth("shared");
    bool bothSides = a.mask == Mask::bidirectional;
    int64_t exact = table.entries.value / (bothSides ? 4 : 2);
    if (exact < 1 || farthest.value <= exact) {
      fields.error("max_distance", "max_distance is " + Twine(farthest.value) +
                                       " but buckets is " +
                                       Twine(table.entries.value) +
                                       ", of which the first " + Twine(exact) +
                                       " are single distances");
      table.buckets = {0};
    } else {
      table.buckets =
          distanceBuckets(table.entries.value, farthest.value, bothSides);
    }
    fields.refuseRest();
    return table;
  }

  void extras() {
    if (fields.has("softcap"))
      a.softcap = fields.real("softcap");
    a.sink = fields.chosen("sink").has_value();
    if (auto gate = fields.chosen("output_gate"))
      a.outputGate = Activation(*gate);
    if (auto norm = fields.inner("inner_norm"))
      a.innerNorm = headNorm(std::move(*norm), NormGroup::row);
    a.decay = fields.numbers("decay");
    if (!a.decay.empty() && int64_t(a.decay.size()) != a.heads.value)
      fields
          .error("decay", "decay has " + Twine(a.decay.size()) +
                              " entries but heads is " + Twine(a.heads.value))
          .note(a.heads.at, "heads is given here");
  }

  SpecFields &fields;
  const Stack &stack;
  Attention a;
};

} // namespace

Attention mille::import::readAttention(SpecFields &fields, const Stack &stack) {
  Attention a = AttentionReader(fields, stack).read();
  return a;
}

// Reads the branches of a native spec: attention and feed-forward. Keys of the
// schema that Mille does not do are named one by one.
#include "compiler/import/Rope.h"
#include "compiler/import/Spec.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

std::vector<double> mille::import::alibiSlopes(int64_t heads) {
  // A geometric series for a power of two; the heads beyond it take every
  // second slope of the series for twice as many.
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  std::vector<double> slopes(heads);
  for (int64_t h = 0; h < heads; ++h)
    slopes[h] = h < power
                    ? std::exp2(-8.0 * double(h + 1) / double(power))
                    : std::exp2(-4.0 * double(2 * (h - power) + 1) / double(power));
  return slopes;
}

namespace {

class BranchReader {
public:
  BranchReader(Fields &fields, const ModelSpec &spec, Problems &problems,
               mlir::MLIRContext &context)
      : fields(fields), spec(spec), problems(problems), context(context) {}

  Branch read() {
    Branch branch;
    branch.at = fields.at();
    const size_t before = problems.count();
    size_t kind = fields.word("kind", {"attention", "ffn"});
    branch.name = fields.text("name", kind == 0 ? "attn" : "ffn");
    if (problems.count() > before) { // what the other keys mean is unknown
      branch.name = fields.text("name", "branch");
      fields.ignoreRest();
      return branch;
    }
    if (kind == 0)
      branch.attention = attention();
    else
      branch.feedForward = feedForward();
    notYet(fields, "input_shift");
    notYet(fields, "inner_norm");
    return branch;
  }

private:
  Attention attention() {
    Attention a;
    a.heads = fields.extent("heads", {}, 1 << 16);
    a.kvHeads = fields.extent("kv_heads", a.heads.value, 1 << 16);
    checkHeads(a, problems);
    bool divides = spec.hidden.value % a.heads.value == 0;
    if (!fields.has("head_dim") && !divides)
      fields.error("heads", "heads is " + Twine(a.heads.value) +
                                " but must divide hidden_size, which is " +
                                Twine(spec.hidden.value) +
                                ", where head_dim is absent")
          .note(spec.hidden.at, "hidden_size is given here");
    a.headDim = fields.extent("head_dim", spec.hidden.value / a.heads.value +
                                              (divides ? 0 : 1), 1 << 16);
    a.valueDim = fields.extent("value_dim", a.headDim.value, 1 << 16);
    a.mask = fields.word("mask", {"bidirectional", "causal"}, 0) == 1
                 ? Mask::causal
                 : Mask::bidirectional;
    logitScale(a);
    a.softcap = fields.positive("softcap", 0);
    if (auto *object = fields.object("bias")) {
      Fields bias(fields.file(), *object, "bias", problems, context);
      a.qBias = bias.flag("q", false);
      a.kBias = bias.flag("k", false);
      a.vBias = bias.flag("v", false);
      a.oBias = bias.flag("o", false);
      bias.refuseRest();
    }
    rope(a);
    if (fields.has("position_bias")) {
      fields.word("position_bias", {"alibi"}, 0);
      a.slopes = alibiSlopes(a.heads.value);
    }
    for (StringRef key : {"window", "qk_norm", "qk_norm_order", "qk_gain",
                          "sink", "output_gate", "qkv_clip", "qkv_act"})
      notYet(fields, key);
    return a;
  }

  void logitScale(Attention &a) {
    a.scale = 1 / std::sqrt(double(a.headDim.value));
    const json::Value *object = fields.object("logit_scale");
    if (!object)
      return;
    Fields scale(fields.file(), *object, "logit_scale", problems, context);
    const json::Value *fixed = scale.take("static");
    if (fixed && fixed->kind == json::Kind::object) {
      Fields form(fields.file(), *fixed, "static", problems, context);
      if (form.has("rsqrt"))
        a.scale = 1 / std::sqrt(form.positive("rsqrt"));
      else
        a.scale = form.number("const");
      form.refuseRest();
    } else if (scale.word("static", {"rsqrt_head_dim", "one"}, 0) == 1) {
      a.scale = 1;
    }
    if (scale.has("layer")) {
      scale.word("layer", {"1/(l+1)"}, 0);
      a.divideByLayer = true;
    }
    notYet(scale, "length");
    notYet(scale, "learned");
    scale.refuseRest();
  }

  void rope(Attention &a) {
    const json::Value *object = fields.object("rope");
    if (!object)
      return;
    Fields rope(fields.file(), *object, "rope", problems, context);
    double theta = rope.positive("theta", 10000);
    Extent rotary = rope.extent("rotary_dim", a.headDim.value);
    if (rotary.value % 2 || rotary.value > a.headDim.value) {
      rope.error("rotary_dim", "rotary_dim is " + Twine(rotary.value) +
                                   " but must be even and at most head_dim, "
                                   "which is " +
                                   Twine(a.headDim.value))
          .note(a.headDim.at, "head_dim is given here");
      rotary.value = 2;
    }
    a.rope.emplace();
    a.rope->frequencies = ropeFrequencies(theta, rotary.value);
    a.rope->pairing =
        rope.word("pairing", {"half", "inter", "interleaved"}, 0) == 0
            ? Pairing::half
            : Pairing::interleaved;
    notYet(rope, "scaling");
    rope.refuseRest();
  }

  FeedForward feedForward() {
    static constexpr StringRef activations[] = {
        "identity", "relu", "relu2", "gelu_erf", "gelu_tanh",
        "quick_gelu", "silu", "tanh", "sigmoid"};
    FeedForward f;
    f.size = fields.extent("intermediate_size");
    f.act = Activation(fields.word("act", activations));
    f.gated = fields.word("gated", {"none", "glu"}, 0) == 1;
    f.layout = GateLayout(
        fields.word("gate_layout", {"separate", "concat", "interleaved"}, 0));
    f.activatedSecond =
        fields.word("activated_half", {"first", "second"}, 0) == 1;
    if (auto *object = fields.object("bias")) {
      Fields bias(fields.file(), *object, "bias", problems, context);
      f.inBias = bias.flag("in", false);
      f.outBias = bias.flag("out", false);
      bias.refuseRest();
    }
    for (StringRef key : {"act_limit", "up_offset"})
      notYet(fields, key);
    return f;
  }

  Fields &fields;
  const ModelSpec &spec;
  Problems &problems;
  mlir::MLIRContext &context;
};

} // namespace

Branch mille::import::readBranch(Fields &fields, const ModelSpec &spec,
                                 Problems &problems,
                                 mlir::MLIRContext &context) {
  return BranchReader(fields, spec, problems, context).read();
}

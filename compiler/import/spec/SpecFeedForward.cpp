// Reads feed-forward branches of a native spec, and their experts.
#include "compiler/import/spec/Spec.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static Experts readExperts(SpecFields experts, const FeedForward &f) {
  Experts e;
  e.count = experts.whole("count", {}, 1 << 16);
  e.chosen = experts.whole("chosen", {}, 1 << 16);
  if (e.chosen.value > e.count.value)
    experts
        .error("chosen", "chosen is " + Twine(e.chosen.value) +
                             " but count is " + Twine(e.count.value))
        .note(e.count.at, "count is given here");
  e.score = RouterScore(experts.choice("score"));
  e.softmaxChosen = experts.choice("order") == 1;
  e.selectionBias = experts.truth("selection_bias");
  Extent groups = experts.whole("groups"),
         top = experts.whole("top_groups", groups.value);
  if (e.count.value % groups.value || top.value > groups.value ||
      top.value * (e.count.value / groups.value) < e.chosen.value)
    experts.error("groups", "groups is " + Twine(groups.value) +
                                " and top_groups " + Twine(top.value) +
                                " but count is " + Twine(e.count.value) +
                                " and chosen " + Twine(e.chosen.value));
  e.groups = groups.value;
  e.topGroups = top.value;
  e.groupScore = GroupScore(experts.choice("group_score"));
  e.renormalised = experts.choice("renorm") == 1;
  e.epsilon = experts.real("epsilon");
  e.factor = experts.real("routed_scale");
  e.weighInput = experts.choice("score_site") == 1;
  e.routerBias = experts.truth("router_bias");
  e.layout = GateLayout(experts.choice("layout"));
  if (experts.has("shared_size"))
    e.sharedSize = experts.whole("shared_size");
  e.sharedGate = experts.truth("shared_gate");
  if (e.layout != GateLayout::separate && !f.gated)
    experts.error("layout",
                  "layout names how gate and up are held but gated is "
                  "\"none\"");
  experts.refuseRest();
  return e;
}

FeedForward mille::import::readFeedForward(SpecFields &fields) {
  FeedForward f;
  f.size = fields.whole("intermediate_size");
  f.act = Activation(fields.choice("act"));
  f.gated = fields.choice("gated") == 1;
  f.layout = GateLayout(fields.choice("gate_layout"));
  f.activatedSecond = fields.choice("activated_half") == 1;
  if (fields.has("act_limit"))
    f.limit = fields.real("act_limit");
  f.upOffset = fields.real("up_offset");
  if (auto bias = fields.inner("bias")) {
    f.inBias = bias->truth("in");
    f.outBias = bias->truth("out");
    bias->refuseRest();
  }
  if (auto norm = fields.inner("inner_norm"))
    f.innerNorm = readNorm(std::move(*norm));
  f.inputShift = fields.truth("input_shift");
  if (auto experts = fields.inner("experts"))
    f.experts = readExperts(std::move(*experts), f);
  return f;
}

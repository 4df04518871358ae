// Writes docs/init.md from the table of schemes.
#include "compiler/import/pages/SpecPage.h"
#include "compiler/import/schemes/Schemes.h"

using namespace mille::import;
using llvm::StringRef;

static constexpr StringRef schemesIntroduction =
    R"page(# Initialisation: schemes for making weights

Written by `mille-spec-page --schemes` from the table that draws weights
(`compiler/import/schemes/Schemes.cpp`).

```sh
mille init spec.json -o model.safetensors --scheme=deepnorm --seed=1
mille compile spec.json --weights=model.safetensors -o out
```

or, without a file of weights, in the spec itself:

    "init": { "scheme": "deepnorm", "seed": 1 }

Both give the same bits, on any machine and for any number of threads: element i of
a tensor follows from the seed, the tensor's name and i alone. (Normals are
drawn in f32 since 27 November 2026: a seed gave others before.) The file
appears whole or not at all. Its tensors have the names of native specs
([spec.md](spec.md)), also for a Hugging Face folder, and its
`__metadata__` says so, which `--weights` reads.

A weight takes the first rule of its scheme that is for it, else one of these:

)page";

static constexpr StringRef afterUsual = R"page(
Biases are 0, scales start at the spec's `init`. Formulas know

| name | is |
|---|---|
| `fan_in`, `fan_out` | a linear's inputs and outputs; of an expert, its own; of a convolution, all that one output sees. Of a table `fan_in` is its channels |
| `layers`, `units` | of the stack: its layers, and its residual units (two a layer, three with cross attention) |
| `encoder_layers`, `decoder_layers` | where there are both |
| `hidden_size`, `head_dim` | the stack's and the attention's |

Weights that a file holds in one matrix (`layout`, `gate_layout`) are drawn as if
they were apart. A draw is `normal`; `uniform` within sqrt(3) deviations;
`truncated` at 2 deviations, which makes the deviation sqrt(0.7737413) of the
formula's; `compensated`, where the formula is the deviation that comes out; or
`fixed`, the formula's value.

A scheme that promises something of a placement is refused on another, with the
unit and the reason.

| scheme | |
|---|---|
)page";

static StringRef drawInWords(Draw draw) {
  switch (draw) {
  case Draw::fixed:
    return "fixed";
  case Draw::normal:
    return "normal";
  case Draw::uniform:
    return "uniform";
  case Draw::truncated:
    return "truncated";
  case Draw::compensated:
    return "compensated";
  }
  return "";
}

static std::string partsInWords(Parts parts) {
  static constexpr StringRef words[] = {
      "embed",       "position",    "token_type",
      "q",           "k",           "v",
      "o",           "ffn in",      "ffn gate",
      "ffn out",     "router",      "other linears",
      "head",        "norm weight", "branch_norm weight",
      "branch_scale"};
  std::string text;
  for (size_t i = 0; i < std::size(words); ++i)
    if (parts & (Parts(1) << i))
      text += (text.empty() ? "" : ", ") + words[i].str();
  return text;
}

static std::string whereInWords(const Rule &rule) {
  std::string text;
  auto add = [&](StringRef words) {
    text += (text.empty() ? "" : ", ") + words.str();
  };
  static constexpr StringRef stacks[] = {"", "one stack", "encoder", "decoder"};
  static constexpr StringRef placements[] = {"", "pre-norm", "post-norm",
                                             "res-post-norm"};
  if (rule.stacks != Stacks::any)
    add(stacks[size_t(rule.stacks)]);
  if (rule.placement != Placement::any)
    add(placements[size_t(rule.placement)]);
  if (rule.upToLayers)
    add("up to " + std::to_string(rule.upToLayers) + " layers");
  if (rule.notCross)
    add("not of cross attention");
  if (rule.alsoBiases)
    add("biases too");
  return text;
}

static std::string needsInWords(const SchemeEntry &entry) {
  switch (entry.needs) {
  case Needs::anything:
    return "";
  case Needs::scaledPost:
    return "For post-norm units (or pre-norm with `residual_tap` normed) whose "
           "`skip_scale` is `" +
           entry.skip.str() + "`; beside a decoder `" +
           entry.encoderSkip.str() + "`, beside an encoder `" +
           entry.decoderSkip.str() + "`.";
  case Needs::oneSuPlacement:
    return "For units of one placement: pre-norm with `skip_scale` 1, "
           "post-norm "
           "with `skip_scale` `" +
           entry.skip.str() + "`, or res-post-norm with `branch_scale` `" +
           entry.branchScale.str() + "` (or learned, which then starts there).";
  case Needs::innerNorms:
    return "For pre-norm units with `inner_norm` in each branch.";
  case Needs::shiftsAndScales:
    return "For units without norms, with learned scalars: `branch_scale` and "
           "`input_shift`.";
  case Needs::learnedScale:
    return "For units with a `learned_scalar` `branch_scale`.";
  case Needs::learnedChannels:
    return "For units with a `learned_channel` `branch_scale`.";
  case Needs::branchNormWeight:
    return "For units whose `branch_norm` has a weight.";
  case Needs::unitLogits:
    return "For `logit_scale` 1: the scores are not divided again.";
  case Needs::ntkForm:
    return "For `parametrisation` ntk, and no other scheme is.";
  }
  return "";
}

static void writeRules(llvm::ArrayRef<Rule> rules, llvm::raw_ostream &out) {
  out << "| for | draw | formula | where |\n|---|---|---|---|\n";
  for (const Rule &rule : rules)
    out << "| " << partsInWords(rule.parts) << " | " << drawInWords(rule.draw)
        << " | `" << rule.formula << "` | " << whereInWords(rule) << " |\n";
}

// The anchor that GitHub gives a heading: it leaves dots out.
static std::string anchorOf(StringRef heading) {
  std::string anchor = heading.str();
  llvm::erase(anchor, '.');
  return anchor;
}

void mille::import::writeSchemesPage(llvm::raw_ostream &out) {
  out << schemesIntroduction;
  writeRules(usualRules(), out);
  out << afterUsual;
  for (const SchemeEntry &entry : schemes())
    out << "| [" << entry.name << "](#" << anchorOf(entry.name) << ") | "
        << entry.says << " |\n";
  for (const SchemeEntry &entry : schemes()) {
    out << "\n## " << entry.name << "\n\n";
    if (std::string needs = needsInWords(entry); !needs.empty())
      out << needs << "\n\n";
    writeRules(entry.rules, out);
  }
}

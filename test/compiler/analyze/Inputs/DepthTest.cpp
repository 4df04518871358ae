// The claims about depth, each on a toy stack: feed-forward units of 64
// channels, relu, norms without weight, He's then LeCun's deviation times a
// gain.
//   analyze-depth updates | moments | gradients | backward | activations |
//   magnitude
#include "compiler/analyze/Analysis.h"
#include "compiler/analyze/Measure.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace mille;
using namespace mille::analyze;
using transformer::Activation;

enum class Place { pre, post, resPost, none };
constexpr int depths[] = {8, 32, 128, 512};
static int failures = 0;

static void expect(bool fine, const char *what, double is, double bound) {
  if (fine)
    return;
  ++failures;
  std::printf("FAILED: %s: %g against %g\n", what, is, bound);
}

static void near(const char *what, double is, double should, double relative) {
  expect(std::fabs(is - should) <= relative * std::fabs(should), what, is,
         should);
}

static Map linear(int from, double second) {
  Map map;
  map.kind = MapKind::linear;
  map.first = from;
  map.channels = map.fanIn = 64;
  map.weight.second = second;
  return map;
}

static Stack toy(int depth, Place place, double skip = 1, double gain = 1,
                 double scale = 1) {
  Norm norm;
  norm.present = true;
  norm.eps = 1e-12;
  Unit unit;
  unit.name = "ffn";
  unit.skip = skip;
  Branch branch;
  branch.name = "ffn";
  branch.scale = scale;
  Map input, relu;
  input.channels = relu.channels = 64;
  relu.kind = MapKind::activate;
  relu.function = Activation::relu;
  relu.first = 1;
  branch.maps = {input, linear(0, gain * gain * 2 / 64), relu,
                 linear(2, gain * gain / 64)};
  if (place == Place::pre)
    branch.inNorm = norm;
  if (place == Place::post)
    unit.outNorm = norm;
  if (place == Place::resPost)
    branch.branchNorm = norm;
  unit.branches = {branch};
  Stack stack;
  stack.channels = 64;
  for (int i = 0; i < depth; ++i) {
    unit.layer = i;
    stack.units.push_back(unit);
  }
  return stack;
}

static Moments simulated(const Stack &stack, uint64_t seed = 1) {
  SimulationOptions options;
  options.draws = stack.units.size() <= 32 ? 16 : 4;
  options.seed = seed;
  return simulate(stack, options);
}

//===-- First updates -----------------------------------------------------===//

struct Recipe {
  const char *name;
  Place place;
  double skip, gain, scale; // exponents of the number of units
  bool matches[3];          // SGD, Adam, LAMB
};

// S0.10, S0.11, S0.14, S0.15.
static const Recipe recipes[] = {
    {"post sgd", Place::post, 0.25, -0.25, 0, {true, false, false}},
    {"post adam", Place::post, 0.5, -0.5, 0, {false, true, false}},
    {"post lamb", Place::post, 0, -0.5, 0, {true, false, true}},
    {"post alpha alone", Place::post, 0.5, 0, 0, {true, false, false}},
    {"pre sgd and lamb", Place::pre, 0, -0.5, 0, {true, false, true}},
    {"pre adam", Place::pre, 0, -1, 0, {false, true, false}},
    {"res-post sgd", Place::resPost, 0, 0, -0.5, {true, false, false}},
    {"res-post adam and lamb", Place::resPost, 0, 0, -1, {false, true, true}},
};

static void updates() {
  for (const Recipe &recipe : recipes) {
    double low[3] = {1e300, 1e300, 1e300}, high[3] = {};
    for (int depth : depths) {
      const double d = depth;
      const Stack stack =
          toy(depth, recipe.place, std::pow(d, recipe.skip),
              std::pow(d, recipe.gain), std::pow(d, recipe.scale));
      const Moments is = simulated(stack), said = predict(stack);
      for (int o = 0; o < 3; ++o) {
        low[o] = std::min(low[o], is.update[o]);
        high[o] = std::max(high[o], is.update[o]);
        near("predicted update", said.update[o], is.update[o], 0.25);
      }
    }
    std::printf("%s:", recipe.name);
    for (int o = 0; o < 3; ++o) {
      const double ratio = high[o] / low[o];
      std::printf(" %s %.2f", optimiserNames[o], ratio);
      if (recipe.matches[o])
        expect(ratio < 1.3, "a matching recipe varies", ratio, 1.3);
      else // LAMB under SGD's pair goes by D^(1/4), 2.8 over these depths
        expect(ratio > (&recipe == recipes && o == lamb ? 2.5 : 3),
               "a mismatched recipe does not vary", ratio, 3);
    }
    std::printf("\n");
  }
  // S0.1 and S3.6: without a recipe, and with half of one.
  double plain[4], half[4];
  for (int i = 0; i < 4; ++i) {
    plain[i] = simulated(toy(depths[i], Place::post)).update[sgd];
    half[i] = simulated(toy(depths[i], Place::post, std::pow(depths[i], 0.25)))
                  .update[sgd];
  }
  std::printf("plain post: %.0f %.0f %.0f %.0f\n", plain[0], plain[1], plain[2],
              plain[3]);
  std::printf("alpha without gain: %.0f %.0f %.0f %.0f\n", half[0], half[1],
              half[2], half[3]);
  expect(plain[1] > 2.5 * plain[0] && plain[2] > 2.5 * plain[1],
         "plain post grows", plain[2], plain[0]);
  expect(half[3] > 5 * half[0], "half of DeepNorm grows", half[3], half[0]);
  // S0.15: a gain under branch_norm changes nothing forward, and multiplies
  // gradients by 1/gain.
  const Stack one = toy(32, Place::resPost),
              small = toy(32, Place::resPost, 1, 0.25);
  near("forward under branch_norm", simulated(small).units.back().out,
       simulated(one).units.back().out, 1e-9);
  const double grown =
      simulated(small).update[sgd] / simulated(one).update[sgd];
  std::printf("gain 1/4 under branch_norm: SGD bound times %.0f\n", grown);
  near("gradients under branch_norm", grown, 16, 0.01);
}

//===-- Second moments ----------------------------------------------------===//

static void moments() {
  // S1.1, S4.14: pre-norm, l + 1.
  const Stack pre = toy(24, Place::pre);
  Moments said = predict(pre), is = simulated(pre);
  for (int l : {1, 6, 12, 24}) {
    near("pre-norm moment", said.units[l - 1].out, l + 1, 1e-9);
    near("pre-norm moment simulated", is.units[l - 1].out, l + 1, 0.25);
    near("pre-norm input weight", said.units[l - 1].inputWeight,
         1 / std::sqrt(l + 1.0), 1e-9);
  }
  std::printf("pre-norm: l + 1 is %.3f %.3f at 6 and 24\n", is.units[5].out,
              is.units[23].out);
  // S1.1: the relative change of unit t is about 1/t.
  near("change of unit 20", said.units[19].branch / said.units[19].sum,
       1.0 / 21, 1e-9);
  double harmonic = 0;
  for (int t = 1; t <= 24; ++t)
    harmonic += 1.0 / (t + 1);
  near("effective depth of pre-norm", said.effectiveDepth, harmonic, 1e-9);

  // S1.2, S4.13: post-norm, weights 2^(-l/2); the squares of all weights are 1.
  const Stack post = toy(12, Place::post);
  said = predict(post), is = simulated(post);
  double squares =
      said.units.back().inputWeight * said.units.back().inputWeight;
  for (int l = 1; l <= 12; ++l) {
    near("post-norm moment", said.units[l - 1].out, 1, 1e-9);
    near("post-norm input weight", said.units[l - 1].inputWeight,
         std::pow(2, -0.5 * l), 1e-9);
    near("post-norm branch weight", said.units[l - 1].branchWeight,
         std::pow(2, -0.5 * (13 - l)), 1e-9);
    squares += said.units[l - 1].branchWeight * said.units[l - 1].branchWeight;
  }
  near("sum of squared weights", squares, 1, 1e-9);
  near("post-norm input weight simulated", is.units[1].inputWeight, 0.5, 0.15);
  near("effective depth of post-norm", said.effectiveDepth, 6, 1e-9);
  std::printf("post-norm: input's weight %.4f after 12, squares %.9f\n",
              said.units.back().inputWeight, squares);

  // S1.3, slip E5: the normaliser is sqrt(alpha^2 + 1), not sqrt 2.
  const double alpha = 3.5565588200778455;
  const Stack deep = toy(24, Place::post, alpha);
  said = predict(deep), is = simulated(deep);
  for (int l : {2, 6, 12, 24}) {
    const double weight = std::pow(alpha / std::sqrt(alpha * alpha + 1), l);
    near("DeepNorm input weight", said.units[l - 1].inputWeight, weight, 1e-9);
    near("DeepNorm input weight simulated", is.units[l - 1].inputWeight, weight,
         0.12);
    near("DeepNorm moment simulated", is.units[l - 1].out, 1, 1e-6);
  }
  std::printf("DeepNorm: input's weight %.3f %.3f after 2 and 24\n",
              said.units[1].inputWeight, said.units[23].inputWeight);

  // S0.13: each branch has weight gain^2/alpha, and the net tends to the
  // identity.
  double before = 0;
  for (int depth : depths) {
    const double d = depth;
    said =
        predict(toy(depth, Place::post, std::pow(d, 0.25), std::pow(d, -0.25)));
    const UnitMoments &first = said.units.front();
    near("branch against skip", std::sqrt(first.branch) / std::pow(d, 0.25),
         std::pow(d, -0.75), 1e-9);
    expect(said.units.back().inputWeight > before, "nearer to the identity",
           said.units.back().inputWeight, before);
    before = said.units.back().inputWeight;
  }
  std::printf("Su's pair at 512 units: input's weight %.4f\n", before);
  // S4.15: a branch of scale 0 leaves the stream alone.
  is = simulated(toy(16, Place::none, 1, 1, 0));
  near("ReZero at its start", is.units.back().inputWeight, 1, 1e-12);
  near("ReZero's depth",
       predict(toy(16, Place::none, 1, 1, 0)).effectiveDepth + 1, 1, 1e-12);
}

//===-- Gradients ---------------------------------------------------------===//

// S1.5, S3.8: pre-norm's gradient falls with depth, post-norm's does not fall.
static void gradients() {
  for (Place place : {Place::pre, Place::post}) {
    const Stack stack = toy(24, place);
    const Moments said = predict(stack), is = simulated(stack);
    for (int l = 0; l < 24; ++l)
      near("gradient", said.units[l].gradient, is.units[l].gradient,
           place == Place::pre ? 0.3 : 0.8); // post-norm's walks
    const double fall =
        is.units.front().update[sgd] / is.units.back().update[sgd];
    std::printf("%s: first unit's squared gradient %.2f of the last's\n",
                place == Place::pre ? "pre-norm" : "post-norm", fall);
    expect(place == Place::pre ? fall > 3 : fall < 1.5, "profile", fall, 1);
  }
  // S0.7: one factor scaled shows in the other's gradient.
  Stack stack = toy(1, Place::post, 4);
  const double plain = predict(stack).update[sgd];
  stack.units[0].branches[0].maps[3].weight.second *= 4;
  const Moments scaled = predict(stack);
  std::printf("last factor doubled: bound %.2f to %.2f\n", plain,
              scaled.update[sgd]);
  expect(scaled.update[sgd] > 1.5 * plain, "the other factor's gradient",
         scaled.update[sgd], plain);
}

// S0.4: dL/dlambda = <dL/dW, U> for W = lambda U. Draws do not depend on the
// deviation, so that a stack with another gain has the same weights scaled: the
// simulation's backward pass against its forward pass.
static void backward() {
  Stack stacks[] = {toy(6, Place::pre), toy(6, Place::post, 1.5, 0.7),
                    toy(6, Place::resPost, 1, 1, 0.5), toy(6, Place::none)};
  stacks[0].units[2].normedTap = true;
  stacks[1].units[3].stream = 0.8;
  stacks[3].units[1].branches.push_back(stacks[3].units[1].branches[0]);
  for (Norm *norm :
       {&stacks[0].units[2].branches[0].inNorm, &stacks[1].units[2].outNorm})
    norm->centred = true, norm->weight.second = 1.3, norm->bias.second = 0.2;
  Branch &gated =
      stacks[0].units[4].branches[0]; // silu(W1 u) (W2 u + 1), clamped
  gated.maps = {gated.maps[0], linear(0, 2.0 / 64), linear(0, 1.0 / 64), Map(),
                Map(),         linear(4, 1.0 / 64)};
  gated.maps[3].kind = MapKind::gate;
  gated.maps[3].first = 1;
  gated.maps[3].second = 2;
  gated.maps[3].offset = 1;
  gated.maps[3].function = Activation::silu;
  gated.maps[4].kind = MapKind::clamp;
  gated.maps[4].first = 3;
  gated.maps[4].low = -1;
  gated.maps[4].high = 2;
  gated.maps[3].channels = gated.maps[4].channels = 64;
  SimulationOptions options;
  options.draws = 3;
  int checked = 0;
  for (const Stack &stack : stacks)
    for (size_t unit = 0; unit < stack.units.size(); ++unit) {
      const double along = simulate(stack, options).units[unit].alongWeights;
      auto lossAt = [&](double lambda) {
        Stack scaled = stack;
        for (Branch &branch : scaled.units[unit].branches)
          for (Map &map : branch.maps)
            map.weight.second *= lambda * lambda;
        return simulate(scaled, options).loss;
      };
      const double h = 1e-5, slope = (lossAt(1 + h) - lossAt(1 - h)) / (2 * h);
      expect(std::fabs(slope - along) <= 2e-4 * (std::fabs(along) + 0.1),
             "dL/dlambda", along, slope);
      ++checked;
    }
  std::printf("%d units: the backward pass is the forward pass's slope\n",
              checked);
}

static void activations() {
  struct {
    Activation function;
    double second;
  } table[] = {// S4.4, S4.5
               {Activation::relu, 0.5},
               {Activation::sigmoid, 0.2933790359},
               {Activation::tanh, 0.3942944904},
               {Activation::gelu_erf, 0.4252214826},
               {Activation::silu, 0.3557755198}};
  for (auto [function, second] : table) {
    const ActivationMoments m = momentsOf(function, 1);
    std::printf("%s %.10f\n",
                transformer::stringifyActivation(function).str().c_str(),
                m.second);
    near("activation", m.second, second, 2e-9);
  }
  near("gelu's mean", momentsOf(Activation::gelu_erf, 1).mean, 0.2820947918,
       2e-9);
  // S4.7: SELU keeps mean 0 and second moment 1.
  const ActivationMoments selu = momentsOf(
      [](double x) {
        return 1.0507009873554805 *
               (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
      },
      1);
  expect(std::fabs(selu.mean) < 1e-9, "selu's mean", selu.mean, 0);
  near("selu", selu.second, 1, 1e-9);
  // A clamp, as of queries, keys and values: by its closed form at +-1.
  const double cut =
      momentsOf([](double x) { return std::fmin(std::fmax(x, -1), 1); }, 1)
          .second;
  near("clamp", cut, 0.5160585510, 1e-5);
  // S4.6: below 1 in magnitude, so no deviation brings the second moment to 1.
  for (Activation bounded : {Activation::tanh, Activation::sigmoid}) {
    const double most = momentsOf(bounded, 1e6).second;
    expect(most < 1, "unreachable", most, 1);
  }
  // S4.11: unit rows give scores of second moment d; 1/sqrt(d) makes it 1.
  Unit unit;
  Branch branch;
  Map input;
  branch.maps = {input};
  for (double scale : {1.0, 0.125}) {
    Logits logits;
    logits.query = logits.key = 0;
    logits.headDim = 64;
    logits.scale = scale;
    branch.logits.push_back(logits);
  }
  unit.branches = {branch};
  const auto found = logitsOf(unit, 1, 128);
  near("undivided scores", found[0].second, 64, 1e-12);
  near("divided scores", found[1].second, 1, 1e-12);
  expect(found[0].saturation > 1, "saturates", found[0].saturation, 1);
  expect(found[1].saturation < 1, "does not saturate", found[1].saturation, 1);
  std::printf("scores: %.0f keys undivided, %.0f divided\n", found[0].keys,
              found[1].keys);
}

// S0.3, slip E1: a square normal matrix has magnitude sqrt 2, not 1.
static void magnitudes() {
  std::mt19937_64 bits(1);
  std::normal_distribution<float> normal;
  for (auto [rows, columns] :
       {std::pair{256, 256}, {64, 256}, {16, 1024}, {256, 64}}) {
    std::vector<float> matrix(size_t(rows) * columns);
    for (float &x : matrix)
      x = normal(bits) / std::sqrt(float(columns));
    const double is = magnitude(matrix, rows, columns);
    std::printf("%dx%d %.2f\n", rows, columns, is);
    near("magnitude", is, std::sqrt(1 + double(rows) / columns), 0.02);
    // The largest singular value of such a matrix.
    near("operator norm", operatorNorm(matrix, rows, columns),
         1 + std::sqrt(double(rows) / columns), 0.05);
  }
  const float diagonal[] = {3, 0, 0, 0, -4, 0};
  near("operator norm of a diagonal", operatorNorm(diagonal, 2, 3), 4, 1e-5);
}

int main(int argc, char **argv) {
  const char *what = argc == 2 ? argv[1] : "";
  if (!std::strcmp(what, "updates"))
    updates();
  else if (!std::strcmp(what, "moments"))
    moments();
  else if (!std::strcmp(what, "gradients"))
    gradients();
  else if (!std::strcmp(what, "backward"))
    backward();
  else if (!std::strcmp(what, "activations"))
    activations();
  else if (!std::strcmp(what, "magnitude"))
    magnitudes();
  else
    return 2;
  std::printf("%d failures\n", failures);
  return failures != 0;
}

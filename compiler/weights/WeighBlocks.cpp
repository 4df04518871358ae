// Rounds numbers to the levels of blocks so that the sum of weight * error^2 is
// small, as llama.cpp does with an importance matrix. Must never be worse, by
// that sum, than rounding each number to the nearest level.
#include "compiler/weights/Elements.h"
#include "compiler/weights/Levels.h"
#include "dialects/transformer/UnevenLevels.h"

#include <algorithm>
#include <cmath>

using namespace mille;

namespace {

constexpr int64_t block = BlockForm::block;

// Some numbers of a block, and what an error of each costs.
struct Part {
  const double *numbers, *weights;
  int64_t count;
};

// A number is scale * level - least.
struct Fit {
  double scale = 0, least = 0;
};

double nearestLevel(double number, double scale, int low, int high) {
  return scale == 0 ? std::clamp(0, low, high)
                    : std::clamp(std::nearbyint(number / scale), double(low),
                                 double(high));
}

double errorOf(const Part &part, Fit fit, int low, int high) {
  double sum = 0;
  for (int64_t k = 0; k < part.count; ++k) {
    const double x = part.numbers[k],
                 level = nearestLevel(x + fit.least, fit.scale, low, high),
                 error = fit.scale * level - fit.least - x;
    sum += part.weights[k] * error * error;
  }
  return sum;
}

// Keeps the fit with the smallest error of those that it is shown.
class Best {
public:
  Best(const Part &part, int low, int high, bool isRounded)
      : part(part), low(low), high(high), isRounded(isRounded) {}
  void show(Fit one) {
    if (isRounded) // the file's types keep these in f16
      one = {roundToF16(one.scale), roundToF16(one.least)};
    const double own = errorOf(part, one, low, high);
    if (!any || own < error) {
      fit = one;
      error = own;
      any = true;
    }
  }
  Fit fit;

private:
  const Part &part;
  const int low, high;
  const bool isRounded;
  bool any = false;
  double error = 0;
};

// Scales near that of the largest number, each made the best one for the levels
// that it gives.
Fit fitScale(const Part &part, int low, int high, bool isRounded) {
  double largest = 0;
  for (int64_t k = 0; k < part.count; ++k)
    if (std::fabs(part.numbers[k]) > std::fabs(largest))
      largest = part.numbers[k];
  Best best(part, low, high, isRounded);
  best.show({largest / low, 0});
  for (int step = -9; largest != 0 && step <= 9; ++step) {
    const double scale = largest / (low - 0.1 * step);
    double both = 0, square = 0;
    for (int64_t k = 0; k < part.count; ++k) {
      const double level = nearestLevel(part.numbers[k], scale, low, high);
      both += part.weights[k] * part.numbers[k] * level;
      square += part.weights[k] * level * level;
    }
    best.show({square > 0 ? both / square : scale, 0});
  }
  return best.fit;
}

// Scales near that of the span; each with its least value made the best ones
// for the levels that it gives. withZero: least values are >= 0.
Fit fitSpan(const Part &part, int most, bool withZero, bool isRounded) {
  double low = withZero ? 0 : part.numbers[0], high = low;
  for (int64_t k = 0; k < part.count; ++k) {
    low = std::min(low, part.numbers[k]);
    high = std::max(high, part.numbers[k]);
  }
  Best best(part, 0, most, isRounded);
  best.show({(high - low) / most, -low});
  for (int step = -18; high > low && step <= 18; ++step) {
    const double scale = (high - low) / (most + 0.05 * step);
    double all = 0, levels = 0, squares = 0, numbers = 0, both = 0;
    for (int64_t k = 0; k < part.count; ++k) {
      const double w = part.weights[k], x = part.numbers[k],
                   level = nearestLevel(x - low, scale, 0, most);
      all += w;
      levels += w * level;
      squares += w * level * level;
      numbers += w * x;
      both += w * x * level;
    }
    const double determinant = all * squares - levels * levels;
    if (determinant <= 0)
      continue;
    Fit one{(all * both - numbers * levels) / determinant,
            (levels * both - squares * numbers) / determinant};
    if (withZero && one.least < 0)
      one = {both / squares, 0};
    if (one.scale > 0)
      best.show(one);
  }
  return best.fit;
}

// Of a block and part the levels for steps that are fixed.
void setLevels(const Part &part, Fit fit, int offset, int low, int high,
               uint8_t *into) {
  for (int64_t k = 0; k < part.count; ++k)
    into[k] = uint8_t(
        nearestLevel(part.numbers[k] + fit.least, fit.scale, low, high) +
        offset);
}

int inSteps(double value, double step, double low, double high) {
  return step == 0 ? 0
                   : int(std::clamp(std::nearbyint(value / step), low, high));
}

// The blocks of 32, which have steps of their own.
void weigh(const Part &all, const BlockForm &form, Levels &levels) {
  const int most = (1 << form.bits) - 1;
  const int low = form.hasLeast ? 0 : -form.offset,
            high = form.hasLeast ? most : form.offset - 1;
  const Fit fit = form.hasLeast ? fitSpan(all, most, false, true)
                                : fitScale(all, low, high, true);
  levels.step = bitsOfF16(fit.scale);
  levels.leastStep = bitsOfF16(fit.least);
  setLevels(all, fit, form.hasLeast ? 0 : form.offset, low, high,
            levels.levels);
}

// Parts whose scales, and least values, are integers times shared steps.
void weighInSteps(const Part &all, const BlockForm &form, Levels &levels) {
  const int parts = int(form.parts * form.blocks),
            length = int(block / form.parts), most = (1 << form.bits) - 1;
  const int low = form.hasLeast ? 0 : -form.offset,
            high = form.hasLeast ? most : form.offset - 1;
  Fit fits[16];
  double scale = 0, least = 0; // of the largest magnitude
  auto partOf = [&](int p) {
    return Part{all.numbers + p * length, all.weights + p * length, length};
  };
  for (int p = 0; p < parts; ++p) {
    fits[p] = form.hasLeast ? fitSpan(partOf(p), most, true, false)
                            : fitScale(partOf(p), low, high, false);
    if (std::fabs(fits[p].scale) > std::fabs(scale))
      scale = fits[p].scale;
    least = std::max(least, fits[p].least);
  }
  const double step = roundToF16(scale / (form.hasLeast ? 63 : -128)),
               leastStep = roundToF16(least / 63);
  levels.step = bitsOfF16(step);
  levels.leastStep = bitsOfF16(leastStep);
  for (int p = 0; p < parts; ++p) {
    const int own = form.hasLeast ? inSteps(fits[p].scale, step, 0, 63)
                                  : inSteps(fits[p].scale, step, -128, 127),
              ownLeast = inSteps(fits[p].least, leastStep, 0, 63);
    levels.scales[p] = int8_t(own);
    if (form.hasLeast)
      levels.leasts[p] = uint8_t(ownLeast);
    setLevels(partOf(p), {step * own, form.hasLeast ? leastStep * ownLeast : 0},
              form.hasLeast ? 0 : form.offset, low, high,
              levels.levels + p * length);
  }
}

double errorOf(Encoding encoding, const Part &all, const Levels &levels) {
  float decoded[Levels::most];
  numbersOf(encoding, levels, decoded);
  double sum = 0;
  for (int64_t k = 0; k < all.count; ++k) {
    const double error = decoded[k] - all.numbers[k];
    sum += all.weights[k] * error * error;
  }
  return sum;
}

} // namespace

void mille::quantize(Encoding encoding, const double *numbers,
                     const double *importance, Levels &levels) {
  quantize(encoding, numbers, levels);
  const BlockForm form = blockFormOf(encoding);
  const int64_t count = form.numbers();
  // With 8 bits nearly nothing is lost; the fits are of even levels.
  if (form.bits == 8 || unevenLevelsOf(form) ||
      !std::all_of(numbers, numbers + count,
                   [](double x) { return std::isfinite(x); }))
    return;
  double square = 0;
  for (int64_t k = 0; k < count; ++k)
    square += numbers[k] * numbers[k] / count;
  // Large numbers count more, as they do to what a row gives.
  double weights[Levels::most];
  for (int64_t k = 0; k < count; ++k)
    weights[k] = importance[k] * std::sqrt(square + numbers[k] * numbers[k]);
  const Part all{numbers, weights, count};
  Levels weighed;
  form.sharesSteps() ? weighInSteps(all, form, weighed)
                     : weigh(all, form, weighed);
  if (errorOf(encoding, all, weighed) < errorOf(encoding, all, levels))
    levels = weighed;
}

// The numbers of a training that its caller may change between steps.
// Must not know how a step uses them.
#include "runtime/train/Trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

using Info = mille_training_info;

namespace {

struct Range {
  const char *words;
  double most; // excluded
  bool whole, above;
};
constexpr Range any = {"at least 0", INFINITY, false, false},
                part = {"at least 0 and below 1", 1, false, false},
                positive = {"above 0", INFINITY, false, true},
                count = {"a whole number from 0", 0x1p53, true, false},
                word = {"a whole number from 0 to 4294967295", 0x1p32, true,
                        false};

bool isIn(const Range &range, double value) {
  return value >= 0 && value < range.most && !(range.above && value == 0) &&
         !(range.whole && value != floor(value));
}

constexpr uint32_t all = ~0u, sgd = 1u << MILLE_OPTIMIZER_SGD,
                   lion = 1u << MILLE_OPTIMIZER_LION;
struct Number {
  const char *name;
  double Info::*real;
  int64_t Info::*whole;
  Range range;
  uint32_t optimizers;
};
const Number settable[] = {
    {"clip", &Info::clip, nullptr, any, all},
    {"peak_rate", &Info::peak, nullptr, any, all},
    {"end_rate", &Info::end, nullptr, any, all},
    {"warmup", nullptr, &Info::warmup, count, all},
    {"steps", nullptr, &Info::steps, count, all},
    {"momentum", &Info::first, nullptr, part, sgd},
    {"beta1", &Info::first, nullptr, part, ~sgd},
    {"beta2", &Info::second, nullptr, part, ~sgd},
    {"epsilon", &Info::epsilon, nullptr, positive, ~(sgd | lion)},
};

// A text of a pattern, and what comes behind it.
struct Piece {
  const char *at, *end;
  const Piece *next;
};

// * stands for any text, {a,b} for a or b.
bool matches(Piece piece, const char *name) {
  for (; piece.at != piece.end; ++piece.at, ++name) {
    if (*piece.at == '*') {
      const Piece rest = {piece.at + 1, piece.end, piece.next};
      while (!matches(rest, name))
        if (!*name++)
          return false;
      return true;
    }
    const char *close =
        *piece.at == '{'
            ? (const char *)memchr(piece.at, '}', piece.end - piece.at)
            : nullptr;
    if (!close) {
      if (*piece.at != *name)
        return false;
      continue;
    }
    const Piece rest = {close + 1, piece.end, piece.next};
    for (const char *word = piece.at; word != close;) {
      const char *begin = word + 1;
      auto *comma = (const char *)memchr(begin, ',', close - begin);
      word = comma ? comma : close;
      if (matches({begin, word, &rest}, name))
        return true;
    }
    return false;
  }
  return piece.next ? matches(*piece.next, name) : !*name;
}

// What follows `begin` in `text`; null where it begins otherwise.
const char *after(const char *text, const char *begin) {
  const size_t size = strlen(begin);
  return strncmp(text, begin, size) == 0 ? text + size : nullptr;
}

} // namespace

void mille_trainer::takeGroup(uint64_t parameter) {
  const mille_group_info &group =
      training->groups[training->parameters[parameter].group];
  rates[parameter] = group.rate;
  decays[parameter] = group.decay;
}

mille_status mille_trainer::refuseNumber(const char *name, double value,
                                         const char *range, bool ofPackage) {
  return message.set(MILLE_INVALID_ARGUMENT, "%s is %.10g but must be %s%s",
                     name, value, range,
                     ofPackage ? ", or NAN for the package's" : "");
}

// Rates, or decays, of the parameters whose names match.
mille_status mille_trainer::setMatching(const char *name, const char *pattern,
                                        double value) {
  if (!isnan(value) && !isIn(any, value))
    return refuseNumber(name, value, any.words, true);
  const Piece whole = {pattern, pattern + strlen(pattern), nullptr};
  double *const into = *name == 'r' ? rates : decays;
  bool found = false;
  for (uint64_t p = 0; p < parameters(); ++p) {
    const mille_group_info &group =
        training->groups[training->parameters[p].group];
    const bool changes = group.rate != 0 || group.decay != 0;
    if (!changes || !matches(whole, nameOf(p)))
      continue;
    found = true;
    into[p] = !isnan(value) ? value : *name == 'r' ? group.rate : group.decay;
  }
  return found ? MILLE_OK
               : message.set(MILLE_INVALID_ARGUMENT,
                             "no parameter that changes has a name like %s",
                             pattern);
}

// A scheduled scale, or what dropout hides.
mille_status mille_trainer::setOfModel(const char *name, double value) {
  if (strcmp(name, "dropout_seed") == 0) {
    if (!isnan(value) && !isIn(word, value))
      return refuseNumber(name, value, word.words, true);
    const mille_entry &entry = package->model->entries[training->step_entry];
    uint32_t input = 0;
    while (input < entry.input_count &&
           strcmp(entry.inputs[input].name, "first_sequence") != 0)
      ++input;
    if (input == entry.input_count)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "package %s has no dropout, which %s is of",
                         package->model->name, name);
    session->dropoutSeed = isnan(value) ? -1 : (int64_t)value;
    return MILLE_OK;
  }
  mille_status status = mille_session_set_scale(session, name, value);
  if (status == MILLE_OK)
    return status;
  char names[160] = "";
  for (const Number &number : settable) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, ", %s", number.name);
  }
  return message.set(status,
                     "%s, and a trainer's numbers are rate%s, dropout_seed, "
                     "step, rate:PATTERN and weight_decay:PATTERN",
                     mille_session_message(session), names);
}

mille_status mille_trainer::set(const char *name, double value) {
  const char *pattern = after(name, "rate:");
  if (pattern || (pattern = after(name, "weight_decay:")))
    return setMatching(name, pattern, value);
  if (strcmp(name, "rate") == 0) {
    if (!isnan(value) && !isIn(any, value))
      return refuseNumber(name, value, any.words, true);
    setRate = value;
    return MILLE_OK;
  }
  if (strcmp(name, "step") == 0) {
    if (!isIn(count, value))
      return refuseNumber(name, value, count.words, false);
    step = (int64_t)value;
    return MILLE_OK;
  }
  for (const Number &number : settable) {
    if (strcmp(number.name, name) != 0)
      continue;
    if (!(number.optimizers >> training->optimizer & 1))
      return message.set(MILLE_INVALID_ARGUMENT,
                         "package %s learns by %s, which has no %s",
                         package->model->name,
                         mille::optimizerName(training->optimizer), name);
    if (!isnan(value) && !isIn(number.range, value))
      return refuseNumber(name, value, number.range.words, true);
    if (number.optimizers == sgd && value > 0 && !stateCount())
      return message.set(MILLE_INVALID_ARGUMENT,
                         "momentum is %g but package %s has none, and no "
                         "memory for it",
                         value, package->model->name);
    const Info before = now;
    if (number.real)
      now.*number.real = isnan(value) ? training->*number.real : value;
    else
      now.*number.whole =
          isnan(value) ? training->*number.whole : (int64_t)value;
    mille_status status = placeGradients();
    if (status != MILLE_OK)
      now = before;
    return status;
  }
  return setOfModel(name, value);
}

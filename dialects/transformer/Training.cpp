// Must check every word: the attribute may come from a file.
#include "dialects/transformer/Training.h"
#include "dialects/transformer/Symbols.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;
using namespace mille;

namespace {

SmallVector<StringRef> wordsOf(StringRef list) {
  SmallVector<StringRef> words;
  list.split(words, '|');
  return words;
}

// Calls `number` for each number of the recipe, with its key.
template <typename T, typename Use> void eachNumber(T &training, Use number) {
  number("rate", training.rate);
  number("end_rate", training.endRate);
  number("momentum", training.momentum);
  number("beta1", training.beta1);
  number("beta2", training.beta2);
  number("epsilon", training.epsilon);
  number("weight_decay", training.decay);
  number("clip", training.clip);
}
// Shares below 1, which most recipes have not.
template <typename T, typename Use> void eachShare(T &training, Use share) {
  share("label_smoothing", training.smoothing);
  share("dropout", training.dropout);
}
// A factor that most recipes have not.
constexpr llvm::StringLiteral balanceKey = "expert_balance";
template <typename T, typename Use> void eachCount(T &training, Use count) {
  count("warmup", training.warmup);
  count("steps", training.steps);
  count("accumulate", training.accumulate);
}

// Takes the entries of a dictionary; what is left over is an error.
class Entries {
public:
  Entries(Operation *model, DictionaryAttr given)
      : model(model), left(given.begin(), given.end()) {}

  Attribute take(StringRef key) {
    auto at = llvm::find_if(
        left, [&](NamedAttribute entry) { return entry.getName() == key; });
    if (at == left.end())
      return Attribute();
    Attribute value = at->getValue();
    left.erase(at);
    return value;
  }
  void number(StringRef key, double &into) {
    Attribute value = take(key);
    auto real = dyn_cast_or_null<FloatAttr>(value);
    if (real && real.getType().isF64() &&
        std::isfinite(real.getValueAsDouble()) && real.getValueAsDouble() >= 0)
      into = real.getValueAsDouble();
    else
      refuse(key, value, "an f64 of at least 0");
  }
  // A number below 1; absent: 0.
  void share(StringRef key, double &into) {
    Attribute value = take(key);
    if (!value)
      return;
    auto real = dyn_cast<FloatAttr>(value);
    const double number =
        real && real.getType().isF64() ? real.getValueAsDouble() : -1;
    if (number >= 0 && number < 1)
      into = number;
    else
      refuse(key, value, "an f64 of at least 0 and below 1");
  }
  void count(StringRef key, int64_t &into) {
    Attribute value = take(key);
    auto whole = dyn_cast_or_null<IntegerAttr>(value);
    if (whole && whole.getType().isSignlessInteger(64) && whole.getInt() >= 0)
      into = whole.getInt();
    else
      refuse(key, value, "an i64 of at least 0");
  }
  template <typename Word>
  void word(StringRef key, StringRef list, Word &into) {
    Attribute value = take(key);
    auto text = dyn_cast_or_null<StringAttr>(value);
    SmallVector<StringRef> words = wordsOf(list);
    auto at = text ? llvm::find(words, text.getValue()) : words.end();
    if (at != words.end())
      into = Word(at - words.begin());
    else
      refuse(key, value, "one of " + llvm::join(words, ", "));
  }
  void text(StringRef key, std::string &into) {
    Attribute value = take(key);
    if (auto text = dyn_cast_or_null<StringAttr>(value))
      into = text.str();
    else
      refuse(key, value, "a string");
  }
  void refuse(StringRef key, Attribute value, const Twine &wanted) {
    if (failed(result))
      return;
    auto error = model->emitOpError() << "has train whose " << key << " is ";
    if (value)
      error << value;
    else
      error << "absent";
    result = error << " but must be " << wanted;
  }
  LogicalResult done() {
    if (succeeded(result) && !left.empty())
      result = model->emitOpError()
               << "has train with the key " << left.front().getName()
               << ", which it has not";
    return result;
  }

private:
  Operation *model;
  SmallVector<NamedAttribute> left;
  LogicalResult result = success();
};

} // namespace

size_t Training::groupOf(StringRef parameter) const {
  for (size_t group = 0; group < groups.size(); ++group) {
    auto pattern =
        llvm::GlobPattern::create(groups[group].match, mostAlternatives);
    if (pattern ? pattern->match(parameter)
                : (llvm::consumeError(pattern.takeError()), false))
      return group;
  }
  return groups.size();
}

std::string mille::dropoutProblem(double rate, int64_t seed, int64_t site,
                                  int64_t after) {
  if (!(rate >= 0 && rate < 1))
    return "rate is " + transformer::formatDouble(rate) +
           " but must be at least 0 and below 1";
  for (auto [name, number] : {std::pair<StringRef, int64_t>{"seed", seed},
                              {"site", site},
                              {"after", after}})
    if (number < 0 || number > UINT32_MAX)
      return (name + " is " + Twine(number) +
              " but must be at least 0 and below 2^32")
          .str();
  return "";
}

void mille::setTraining(Operation *model, const Training &training) {
  Builder builder(model->getContext());
  NamedAttrList list;
  list.set("optimizer", builder.getStringAttr(wordsOf(
                            optimizerWords)[size_t(training.optimizer)]));
  list.set("schedule", builder.getStringAttr(
                           wordsOf(rateWords)[size_t(training.schedule)]));
  if (training.loss != Loss::by_output)
    list.set("loss",
             builder.getStringAttr(wordsOf(lossWords)[size_t(training.loss)]));
  eachNumber(training, [&](StringRef key, double value) {
    list.set(key, builder.getF64FloatAttr(value));
  });
  eachShare(training, [&](StringRef key, double value) {
    if (value != 0)
      list.set(key, builder.getF64FloatAttr(value));
  });
  if (training.balance != 0)
    list.set(balanceKey, builder.getF64FloatAttr(training.balance));
  eachCount(training, [&](StringRef key, int64_t value) {
    list.set(key, builder.getI64IntegerAttr(value));
  });
  SmallVector<Attribute> groups;
  for (const TrainingGroup &group : training.groups) {
    NamedAttrList of;
    of.set("match", builder.getStringAttr(group.match));
    of.set("rate", builder.getF64FloatAttr(group.rate));
    of.set("weight_decay", builder.getF64FloatAttr(group.decay));
    groups.push_back(of.getDictionary(model->getContext()));
  }
  list.set("groups", builder.getArrayAttr(groups));
  model->setAttr("train", list.getDictionary(model->getContext()));
}

FailureOr<Training> mille::trainingOf(Operation *model) {
  Training training;
  Attribute given = model->getAttr("train");
  if (!given)
    return training;
  auto dictionary = dyn_cast<DictionaryAttr>(given);
  if (!dictionary)
    return model->emitOpError()
           << "has train " << given << " but must have a dictionary there";
  Entries entries(model, dictionary);
  entries.word("optimizer", optimizerWords, training.optimizer);
  entries.word("schedule", rateWords, training.schedule);
  if (dictionary.contains("loss"))
    entries.word("loss", lossWords, training.loss);
  eachNumber(training,
             [&](StringRef key, double &into) { entries.number(key, into); });
  eachShare(training,
            [&](StringRef key, double &into) { entries.share(key, into); });
  if (dictionary.contains(balanceKey))
    entries.number(balanceKey, training.balance);
  eachCount(training,
            [&](StringRef key, int64_t &into) { entries.count(key, into); });
  auto groups = dyn_cast_or_null<ArrayAttr>(entries.take("groups"));
  if (!groups)
    entries.refuse("groups", given, "a list of dictionaries");
  for (Attribute group : groups ? groups.getValue() : ArrayRef<Attribute>()) {
    auto of = dyn_cast<DictionaryAttr>(group);
    Entries its(model, of ? of : DictionaryAttr::get(model->getContext()));
    TrainingGroup &into = training.groups.emplace_back();
    its.text("match", into.match);
    its.number("rate", into.rate);
    its.number("weight_decay", into.decay);
    if (failed(its.done()))
      return failure();
  }
  if (failed(entries.done()))
    return failure();
  if (training.accumulate < 1)
    return model->emitOpError()
           << "has train whose accumulate is " << training.accumulate
           << " but must be at least 1";
  if (training.balance > 0 && training.accumulate > 1)
    return model->emitOpError()
           << "has train with an expert_balance, the load of experts in a "
              "whole batch, but accumulate is "
           << training.accumulate;
  return training;
}

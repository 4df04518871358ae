// Sizes go to the keys that the importer names for them; flags, activations and
// other numbers are tried. Two layers are compared until they are equal.
#include "compiler/import/export/FamilySearch.h"
#include "compiler/import/families/Families.h"
#include "compiler/import/model/Build.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

namespace {

using ExtentPair = std::pair<const Extent *, const Extent *>;

template <typename T> const T *first(const PerLayer<T> &all) {
  return all.at(0);
}

void pairBranches(const Branch &one, const Branch &other,
                  std::vector<ExtentPair> &pairs) {
  const Attention *a = first(one.attention), *b = first(other.attention);
  if (a && b)
    pairs.insert(pairs.end(), {{&a->heads, &b->heads},
                               {&a->kvHeads, &b->kvHeads},
                               {&a->headDim, &b->headDim},
                               {&a->valueDim, &b->valueDim}});
  const FeedForward *f = first(one.feedForward), *g = first(other.feedForward);
  if (f && g)
    pairs.push_back({&f->size, &g->size});
  if (f && g && f->experts && g->experts)
    pairs.insert(pairs.end(),
                 {{&f->experts->count, &g->experts->count},
                  {&f->experts->chosen, &g->experts->chosen},
                  {&f->experts->sharedSize, &g->experts->sharedSize}});
}

// The sizes of two models that stand in the same places.
std::vector<ExtentPair> pairExtents(const ModelSpec &one,
                                    const ModelSpec &other) {
  std::vector<ExtentPair> pairs = {{&one.layers, &other.layers},
                                   {&one.hidden, &other.hidden},
                                   {&one.vocab, &other.vocab},
                                   {&one.words.width, &other.words.width},
                                   {&one.positions, &other.positions},
                                   {&one.tokenTypes, &other.tokenTypes}};
  const std::vector<Unit> &units = one.unitsOf(0), &others = other.unitsOf(0);
  for (size_t u = 0; u < std::min(units.size(), others.size()); ++u)
    for (size_t b = 0;
         b < std::min(units[u].branches.size(), others[u].branches.size()); ++b)
      pairBranches(units[u].branches[b], others[u].branches[b], pairs);
  return pairs;
}

void widen(Norm &norm, const Norm &as) {
  if (norm.kind != as.kind)
    return;
  if (norm.affine == Affine::none && as.affine == Affine::weight)
    norm.affine = Affine::weight;
  norm.bias |= as.bias && norm.affine == Affine::weight;
}

void widen(PerLayer<Norm> &norms, const PerLayer<Norm> &as) {
  if (as)
    for (Norm &norm : norms.all)
      widen(norm, *first(as));
}

void widen(Branch &branch, const Branch &as) {
  if (const Attention *theirs = first(as.attention))
    for (Attention &mine : branch.attention.all) {
      mine.qBias |= theirs->qBias;
      mine.kBias |= theirs->kBias;
      mine.vBias |= theirs->vBias;
      mine.oBias |= theirs->oBias;
    }
  if (const FeedForward *theirs = first(as.feedForward))
    for (FeedForward &mine : branch.feedForward.all) {
      mine.inBias |= theirs->inBias;
      mine.outBias |= theirs->outBias;
    }
}

// Gives a spec what another has besides and what can be without effect.
void widen(ModelSpec &spec, const ModelSpec &as) {
  widen(spec.embedNorm, as.embedNorm);
  widen(spec.finalNorm, as.finalNorm);
  if (spec.head && as.head) {
    spec.head->tied &= as.head->tied;
    spec.head->bias |= as.head->bias;
  }
  const std::vector<Unit> &theirs = as.unitsOf(0);
  for (size_t u = 0; u < std::min(spec.units.size(), theirs.size()); ++u) {
    Unit &mine = spec.units[u];
    widen(mine.inNorm, theirs[u].inNorm);
    widen(mine.branchNorm, theirs[u].branchNorm);
    widen(mine.outNorm, theirs[u].outNorm);
    for (size_t b = 0;
         b < std::min(mine.branches.size(), theirs[u].branches.size()); ++b)
      widen(mine.branches[b], theirs[u].branches[b]);
  }
}

ProgramText programOf(ModelSpec spec, bool allLayers,
                      mlir::MLIRContext &context) {
  if (!allLayers)
    spec.layers.value = std::min<int64_t>(spec.layers.value, 2);
  NoWeights weights(context);
  return ProgramText(*build(spec, weights, {}, context));
}

void addOnce(std::vector<std::string> &all, std::string one) {
  if (!llvm::is_contained(all, one))
    all.push_back(std::move(one));
}

void collectNumbers(const json::Value &value,
                    std::vector<std::string> &numbers) {
  if (value.kind == json::Kind::number)
    addOnce(numbers, value.describe());
  for (const json::Value &item : value.items)
    collectNumbers(item, numbers);
  for (const json::Member &member : value.members)
    collectNumbers(member.value, numbers);
}

std::string numberText(double value) {
  json::Value number;
  number.kind = json::Kind::number;
  number.number = value;
  if (std::floor(value) == value && std::fabs(value) < 1e15) {
    number.whole = true;
    number.integer = int64_t(value);
  }
  return number.describe();
}

} // namespace

FamilySearch::FamilySearch(const ModelSpec &target,
                           const json::Document &document,
                           mlir::MLIRContext &context)
    : target(target), context(context) {
  // What a spec leaves out has its usual value.
  auto add = [&](double value) {
    if (std::isfinite(value) && value != 0)
      addOnce(numbers, numberText(value));
  };
  auto norm = [&](const PerLayer<Norm> &norms) {
    if (const Norm *one = first(norms))
      add(one->eps);
  };
  for (const Unit &unit : target.units) {
    for (const PerLayer<Norm> *slot :
         {&unit.inNorm, &unit.branchNorm, &unit.outNorm})
      norm(*slot);
    for (const PerLayer<Scale> *slot : {&unit.branchScale, &unit.skipScale})
      if (const Scale *scale = first(*slot))
        add(scale->value);
    for (const Branch &branch : unit.branches) {
      if (const FeedForward *f = first(branch.feedForward))
        if (StringRef word = Config::wordOf(f->act); !word.empty())
          addOnce(words, ("\"" + word + "\"").str());
      const Attention *a = first(branch.attention);
      if (!a)
        continue;
      add(a->scale);
      add(std::round(1 / (a->scale * a->scale)));
      add(double(a->left));
      if (a->rope && a->rope->frequencies.size() > 1) {
        // frequency i is theta^(-i / pairs)
        const std::vector<double> &f = a->rope->frequencies;
        add(std::round(std::pow(f[1], -double(f.size())) * 1e3) / 1e3);
      }
    }
  }
  add(target.finalNorm.eps);
  add(target.embedNorm.eps);
  add(target.embedScale);
  if (target.head) {
    add(target.head->scale);
    add(1 / target.head->scale);
  }
  collectNumbers(document.root, numbers);
}

std::string mille::import::configText(const FamilyTrial &trial) {
  std::string text = "{";
  for (const auto &[key, value] : trial.keys)
    text += (text.size() > 1 ? ",\n  \"" : "\n  \"") + key + "\": " + value;
  return text + "\n}\n";
}

std::optional<FamilyTrial>
FamilySearch::attempt(const Family &family,
                      std::map<std::string, std::string> keys, bool allLayers) {
  FamilyTrial trial;
  trial.family = &family;
  trial.keys = std::move(keys);
  auto document = json::parse(configText(trial), "config.json", context);
  if (!document)
    return std::nullopt;
  Problems problems;
  StoredTensors none; // no pooler that the spec has not
  Config config(*document, problems, context, target.pooling ? nullptr : &none);
  readConfig(config, family, trial.spec);
  trial.asked = config.keysThatMatter();
  if (problems.any() || !trial.spec.before.empty() || trial.spec.image ||
      !trial.spec.vocab || trial.spec.unitsOf(0).empty())
    return std::nullopt;
  trial.widened = target;
  widen(trial.widened, trial.spec);
  const ProgramText mine = programOf(trial.widened, allLayers, context),
                    theirs = programOf(trial.spec, allLayers, context);
  trial.apart = wordsApart(mine, theirs, /*opsOnly=*/false);
  trial.opsApart = wordsApart(mine, theirs, /*opsOnly=*/true);
  if (!trial.apart && mine.text != theirs.text)
    trial.apart = 1;
  if (trial.apart)
    trial.difference = {wordsBeyond(mine, theirs), wordsBeyond(theirs, mine)};
  return trial;
}

void FamilySearch::takeExtents(FamilyTrial &trial) {
  std::map<std::string, std::string> keys = trial.keys;
  for (auto [theirs, mine] : pairExtents(trial.spec, target))
    if (*mine && llvm::is_contained(trial.asked, theirs->key))
      keys[theirs->key] = std::to_string(mine->value);
  if (auto better = attempt(*trial.family, std::move(keys), false))
    trial = std::move(*better);
}

void FamilySearch::takeBest(FamilyTrial &trial,
                            llvm::ArrayRef<std::string> values) {
  const std::vector<StringRef> asked = trial.asked;
  for (StringRef key : asked) {
    if (trial.apart == 0)
      return;
    if (trial.keys.count(key.str()))
      continue;
    for (const std::string &value : values) {
      std::map<std::string, std::string> keys = trial.keys;
      keys[key.str()] = value;
      auto other = attempt(*trial.family, std::move(keys), false);
      if (other && other->apart < trial.apart)
        trial = std::move(*other);
    }
  }
}

void FamilySearch::tryFamily(const Family &family, StringRef architecture,
                             std::optional<FamilyTrial> &best) {
  auto trial = attempt(family,
                       {{"model_type", ("\"" + family.modelType + "\"").str()},
                        {"architectures", ("[\"" + architecture + "\"]").str()},
                        {"torch_dtype", "\"float32\""}},
                       false);
  if (!trial)
    return;
  takeExtents(*trial);
  takeBest(*trial, {"true", "false"});
  takeBest(*trial, words);
  takeExtents(*trial); // those that flags have added
  if (trial->opsApart == 0)
    takeBest(*trial, numbers);
  if (trial->apart == 0)
    if (auto whole = attempt(family, trial->keys, /*allLayers=*/true))
      trial = std::move(whole);
  if (!best || std::pair(trial->opsApart, trial->apart) <
                   std::pair(best->opsApart, best->apart))
    best = std::move(trial);
}

bool FamilySearch::run(FamilyTrial &nearest) {
  // Those that most programs read come first.
  llvm::SetVector<const Family *> order;
  order.insert(&gpt2);
  order.insert(&llama);
  order.insert(&bert);
  for (const Family *family : families())
    order.insert(family);
  std::optional<FamilyTrial> best;
  for (const Family *family : order)
    for (StringRef architecture : family->architectures) {
      tryFamily(*family, architecture, best);
      if (best && best->apart == 0) {
        nearest = std::move(*best);
        return true;
      }
    }
  if (best)
    nearest = std::move(*best);
  return false;
}

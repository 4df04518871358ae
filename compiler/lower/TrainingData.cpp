// The constant mille_training_info: what a step needs of the model, and where
// each of its parameters lies.
#include "compiler/lower/ModelData.h"
#include "compiler/lower/Updates.h"
#include "compiler/weights/Draw.h"
#include "dialects/transformer/Training.h"
#include "mlir/IR/Builders.h"
#include "runtime/abi.h"

using namespace mlir;

namespace mille::lower {

static_assert(uint32_t(Optimizer::sgd) == MILLE_OPTIMIZER_SGD);
static_assert(uint32_t(Optimizer::adam) == MILLE_OPTIMIZER_ADAM);
static_assert(uint32_t(Optimizer::adamw) == MILLE_OPTIMIZER_ADAMW);
static_assert(uint32_t(Optimizer::lamb) == MILLE_OPTIMIZER_LAMB);
static_assert(uint32_t(Optimizer::lion) == MILLE_OPTIMIZER_LION);
static_assert(uint32_t(RateSchedule::constant) == MILLE_RATE_CONSTANT);
static_assert(uint32_t(RateSchedule::linear) == MILLE_RATE_LINEAR);
static_assert(uint32_t(RateSchedule::cosine) == MILLE_RATE_COSINE);
static_assert(uint32_t(RateSchedule::inverse_sqrt) == MILLE_RATE_INVERSE_SQRT);

namespace {

// For each parameter an entry of the table of weights where it lies.
using Places = llvm::DenseMap<Attribute, uint64_t>;

// Those of the parameters that ops use as `symbolOf` says: null for none.
template <typename Op, typename SymbolOf>
Places placesOf(Operation *within, const WeightTable &table,
                SymbolOf symbolOf) {
  Places places;
  llvm::DenseMap<Operation *, const WeightTable::Layers *> blocks;
  for (const WeightTable::Layers &block : table.layers)
    blocks[block.op] = &block;
  within->walk([&](Op op) {
    auto symbol = llvm::dyn_cast_or_null<FlatSymbolRefAttr>(symbolOf(op));
    if (!symbol)
      return;
    const uint64_t place = table.place.lookup(op);
    auto layers = op->template getParentOfType<kernel::LayersOp>();
    if (!layers) {
      places.try_emplace(symbol, place);
      return;
    }
    const WeightTable::Layers &block = *blocks.lookup(layers);
    const int64_t body = op->getParentRegion()->getRegionNumber();
    for (size_t layer : layers.layersOf(body))
      places.try_emplace(layers.entryOf(layer, symbol),
                         block.firstEntry + layer * block.rowEntries + place);
  });
  return places;
}

// Parameters with a gradient.
Places trainedPlaces(Operation *model, const WeightTable &table) {
  return placesOf<kernel::GradientOp>(
      model, table,
      [](kernel::GradientOp op) -> Attribute { return op.getParameterAttr(); });
}

// Parameters that a run reads, among them those that no loss depends on
// smoothly, like a bias that experts are chosen by.
Places readPlaces(Operation *model, const WeightTable &table) {
  return placesOf<kernel::WeightOp>(
      model, table,
      [](kernel::WeightOp op) -> Attribute { return op.getValue(); });
}

// Calls `use` for what a symbol that `op` uses stands for, in each layer.
template <typename Use>
void eachMeaning(Operation *op, FlatSymbolRefAttr symbol, Use use) {
  auto layers = op->getParentOfType<kernel::LayersOp>();
  if (!layers)
    return use(symbol);
  Region *body = op->getParentRegion();
  while (body->getParentOp() != layers)
    body = body->getParentOp()->getParentRegion();
  for (size_t layer : layers.layersOf(body->getRegionNumber()))
    use(layers.entryOf(layer, symbol));
}

// The classes of the logits that the loss reads.
int64_t classesOf(Operation *model) {
  int64_t classes = INT32_MAX;
  model->walk([&](kernel::CrossEntropyOp op) {
    classes = cast<ShapedType>(op.getLogits().getType()).getShape().back();
  });
  return classes;
}

using Words = SmallVector<int64_t>;
Words word(uint64_t number) { return {int64_t(number)}; }

int64_t numberOf(ArrayRef<EntryData> entries, StringRef name) {
  for (auto [number, entry] : llvm::enumerate(entries))
    if (entry.name == name)
      return number;
  return -1;
}

} // namespace

LogicalResult checkTrained(Operation *model, const WeightTable &table) {
  Places places = trainedPlaces(model, table);
  WalkResult result = model->walk([&](kernel::WeightOp weight) {
    bool trained = false;
    if (!isa<FlatSymbolRefAttr>(weight.getValue()))
      transformer::replaceSymbols(
          weight.getValue(), [&](FlatSymbolRefAttr symbol) -> Attribute {
            eachMeaning(weight, symbol, [&](Attribute meaning) {
              trained |= places.contains(meaning);
            });
            return symbol;
          });
    if (!trained)
      return WalkResult::advance();
    weight.emitOpError() << "is " << weight.getValue()
                         << ", computed before a run of a parameter that "
                            "training changes";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

// For each parameter that a loop back leaves whole, the number of that call of
// mille_update in a step, from 1 on; and how many calls there are.
static llvm::DenseMap<Attribute, uint64_t> wholeAt(Operation *model,
                                                   uint64_t &calls) {
  llvm::DenseMap<Attribute, uint64_t> at;
  calls = 0;
  model->walk([&](kernel::LayersOp layers) {
    std::vector<SmallVector<Update>> updates;
    for (unsigned body = 0; body < layers->getNumRegions(); ++body)
      updates.push_back(updatesOf(layers, body));
    for (size_t layer = layers.getBodies().size(); layer-- > 0;)
      for (const Update &update : updates[layers.getBodies()[layer]]) {
        ++calls;
        for (Attribute column : update.columns)
          at[layers.entryOf(layer, cast<FlatSymbolRefAttr>(column))] = calls;
      }
  });
  return at;
}

// A struct of words is written as words: an initializer of structs costs a
// thousand times as much, and deep models have ten thousand parameters.
Parameters ModelData::parametersOf(Operation *model, const WeightTable &table,
                                   const Training &training) {
  using Field = abi::parameter_info::Field;
  static_assert(sizeof(mille_parameter_info) ==
                8 * (11 + MILLE_MAX_DIMENSIONS));
  Parameters result;
  llvm::DenseMap<Attribute, uint64_t> whole = wholeAt(model, result.updates);
  Places places = trainedPlaces(model, table), read = readPlaces(model, table);
  SmallVector<int64_t> words;
  std::string names;
  model->walk([&](transformer::ParameterOp op) {
    auto symbol = FlatSymbolRefAttr::get(op.getSymNameAttr());
    auto place = places.find(symbol);
    const bool trained = place != places.end();
    if (!trained && (place = read.find(symbol)) == read.end())
      return;
    const size_t group = trained ? training.groupOf(op.getSymName())
                                 : training.groups.size() + 1;
    auto type = cast<RankedTensorType>(op.getType());
    Words shape(type.getShape());
    shape.resize(MILLE_MAX_DIMENSIONS, 0);
    auto drawn = table.drawn.lookup(symbol);
    const Recipe by = drawn ? recipeOf(drawn) : Recipe();
    for (const Words &some : inOrder<Field, Words>(
             {{Field::name, word(names.size())},
              {Field::entry, word(place->second)},
              {Field::elements, word(type.getNumElements())},
              {Field::rank, word(type.getRank())},
              {Field::group, word(group)},
              {Field::whole_at, word(whole.lookup(place->first))},
              {Field::shape, shape},
              {Field::distribution, word(by.distribution)},
              {Field::key, word(by.key)},
              {Field::mean, word(llvm::bit_cast<uint64_t>(by.mean))},
              {Field::std, word(llvm::bit_cast<uint64_t>(by.std))},
              {Field::cut, word(llvm::bit_cast<uint64_t>(by.cut))}}))
      words.append(some);
    names += op.getSymName().str() + '\0';
    ++result.count;
  });
  result.list = wordArray(words);
  result.names = text(names);
  return result;
}

Constant ModelData::groupArray(const Training &training) {
  using Field = abi::group_info::Field;
  std::vector<Constant> parts;
  auto add = [&](double rate, double decay) {
    parts.push_back(record<Field>(
        types.group_info, {{Field::rate, Constant::real(types, rate)},
                           {Field::decay, Constant::real(types, decay)}}));
  };
  for (const TrainingGroup &group : training.groups)
    add(group.rate, group.decay);
  add(1, training.decay); // of parameters in no group
  add(0, 0);              // of those without gradients, which stay as they are
  return array("groups", types.group_info, std::move(parts));
}

Constant ModelData::trainingOf(Operation *model, ArrayRef<EntryData> entries,
                               const WeightTable &table) {
  const int64_t step = numberOf(entries, trainStepName),
                eval = numberOf(entries, evaluateName);
  if (step < 0 || eval < 0)
    return Constant::address(types, "");
  FailureOr<Training> found = mille::trainingOf(model);
  if (failed(found)) // the verifier has seen it
    return Constant::address(types, "");
  const Training &training = *found;
  const bool sgd = training.optimizer == Optimizer::sgd;
  const Parameters parameters = parametersOf(model, table, training);
  auto real = [&](double value) { return Constant::real(types, value); };
  using Field = abi::training_info::Field;
  return Constant::address(
      types,
      constants.add(
          "training",
          record<Field>(
              types.training_info,
              {{Field::optimizer, int64_t(training.optimizer)},
               {Field::schedule, int64_t(training.schedule)},
               {Field::first, real(sgd ? training.momentum : training.beta1)},
               {Field::second, real(training.beta2)},
               {Field::epsilon, real(training.epsilon)},
               {Field::peak, real(training.rate)},
               {Field::end, real(training.endRate)},
               {Field::warmup, training.warmup},
               {Field::steps, training.steps},
               {Field::clip, real(training.clip)},
               {Field::accumulate, training.accumulate},
               {Field::labels, classesOf(model)},
               {Field::step_entry, step},
               {Field::eval_entry, eval},
               {Field::groups, groupArray(training)},
               {Field::parameter_count, parameters.count},
               {Field::parameters, parameters.list},
               {Field::names, parameters.names},
               {Field::hash, options.trainedHash},
               {Field::updates, parameters.updates},
               {Field::drawn_bytes, options.weights.drawnBytes}})));
}

} // namespace mille::lower

// Reads the units of `forward` in one walk, with one rule per op of a branch.
// Must not have rules for families or placements.
#include "compiler/analyze/Read.h"
#include "dialects/transformer/Slots.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using namespace mille::transformer;

namespace {

double channelsOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::ShapedType>(value.getType());
  return type && type.hasRank() && type.getRank() &&
                 !type.isDynamicDim(type.getRank() - 1)
             ? double(type.getShape().back())
             : 0;
}

class Reader {
public:
  Reader(bool unitBranches, NumbersOf numbersOf)
      : unitBranches(unitBranches), numbersOf(numbersOf) {}

  Unit unit(ResidualOp op) {
    Unit unit;
    unit.layer = op.getLayer().value_or(0);
    unit.normedTap = op.getTap() == Tap::normed;
    unit.skip = scale(op.getSkipScaleAttr(), &unit.learnedSkip);
    unit.stream = scale(op.getStreamScaleAttr(), nullptr);
    unit.outNorm = norm(op.getOutNormAttr());
    for (auto [i, region] : llvm::enumerate(op.getBranches()))
      unit.branches.push_back(branch(op, i, region, unit));
    for (const Branch &branch : unit.branches)
      unit.name += (unit.name.empty() ? "" : " + ") + branch.name;
    return unit;
  }

  // The second moment of a value outside the units.
  double entry(mlir::Value value, int depth = 0) {
    mlir::Operation *op = value.getDefiningOp();
    if (!op || depth > 64 || unitBranches)
      return 1;
    return llvm::TypeSwitch<mlir::Operation *, double>(op)
        .Case([&](EmbedOp embed) {
          double sum = 0, factor = embed.getScale().convertToDouble();
          for (auto table :
               embed.getTables().getAsRange<mlir::FlatSymbolRefAttr>()) {
            sum += factor * factor * numbersOf(table.getValue()).second;
            factor = 1;
          }
          return sum;
        })
        .Case(
            [&](NormOp normOp) { return normedEntry(norm(normOp.getNorm())); })
        .Case([&](AddOp add) {
          return entry(add.getLeft(), depth + 1) +
                 entry(add.getRight(), depth + 1);
        })
        .Case([&](LinearOp linear) {
          const double factor = linear.getScale().convertToDouble();
          return factor * factor * channelsOf(linear.getInput()) *
                 numbersOf(linear.getWeight()).second *
                 entry(linear.getInput(), depth + 1);
        })
        .Default([&](mlir::Operation *other) {
          return other->getNumOperands()
                     ? entry(other->getOperand(0), depth + 1)
                     : 1.0;
        });
  }

  // Whatever the input is: a norm's result.
  static double normedEntry(const Norm &norm) {
    return norm.weight.second + norm.bias.second;
  }

  Norm norm(NormAttr attribute) {
    Norm norm;
    if (!isNorm(attribute))
      return norm;
    norm.present = true;
    norm.centred = attribute.getKind() == NormKind::layer_norm;
    norm.eps = attribute.getEps();
    if (unitBranches)
      return norm;
    if (attribute.getWeight() && attribute.getAffine() == Affine::weight)
      norm.weight = numbersOf(attribute.getWeight().getValue());
    else if (attribute.getWeight()) { // 1 + w, where w has mean 0
      norm.weight = numbersOf(attribute.getWeight().getValue());
      norm.weight.second += 1;
      norm.weight.largest += 1;
    }
    if (attribute.getBias())
      norm.bias = numbersOf(attribute.getBias().getValue());
    return norm;
  }

private:
  double scale(ScaleAttr attribute, bool *learned) {
    if (!attribute)
      return 1;
    switch (attribute.getKind()) {
    case ScaleKind::constant:
      return attribute.getValue();
    case ScaleKind::scheduled:
      return attribute.getTo();
    case ScaleKind::learned_scalar:
    case ScaleKind::learned_channel:
      if (learned)
        *learned = true;
      return unitBranches || !attribute.getSymbol()
                 ? 1
                 : std::sqrt(
                       numbersOf(attribute.getSymbol().getValue()).second);
    }
    return 1;
  }

  static NormAttr entryOf(mlir::ArrayAttr list, size_t i) {
    if (!list || list.empty())
      return {};
    return llvm::cast<NormAttr>(list[std::min(i, list.size() - 1)]);
  }

  Branch branch(ResidualOp op, size_t i, mlir::Region &region, Unit &unit) {
    Branch branch;
    branch.inNorm = norm(entryOf(op.getInNormAttr(), i));
    branch.branchNorm = norm(entryOf(op.getBranchNormAttr(), i));
    if (mlir::ArrayAttr scales = op.getBranchScaleAttr())
      branch.scale =
          scale(llvm::cast<ScaleAttr>(scales[i]), &unit.learnedBranch);
    Chain chain(*this, branch, region);
    chain.read();
    if (unitBranches)
      keepMoment(branch, channelsOf(op.getInput()));
    return branch;
  }

  // A relu network of two matrices, the first by He's rule and the second by
  // LeCun's, has E[F(u)^2] = E[u^2].
  static void keepMoment(Branch &branch, double width) {
    auto linear = [&](int from, double gain) {
      Map map;
      map.kind = MapKind::linear;
      map.first = from;
      map.channels = map.fanIn = width;
      map.weight.second = gain / width;
      return map;
    };
    Map input, relu;
    input.channels = relu.channels = width;
    relu.kind = MapKind::activate;
    relu.function = Activation::relu;
    relu.first = 1;
    branch.maps = {input, linear(0, 2), relu, linear(2, 1)};
    branch.logits.clear();
    branch.unknown.clear();
  }

  // The ops of one branch as maps.
  class Chain {
  public:
    Chain(Reader &reader, Branch &branch, mlir::Region &region)
        : reader(reader), branch(branch), region(region) {}

    void read() {
      mlir::Block &block = region.front();
      Map input;
      input.channels = channelsOf(block.getArgument(0));
      add(block.getArgument(0), input);
      for (mlir::Operation &op : block.without_terminator())
        step(&op);
      // The branch's value must be the last map.
      const int value = at(block.getTerminator()->getOperand(0));
      if (value + 1 != int(branch.maps.size())) {
        Map same;
        same.kind = MapKind::scale;
        same.first = value;
        same.channels = branch.maps[value].channels;
        branch.maps.push_back(same);
      }
      if (branch.name.empty())
        branch.name = "branch";
    }

  private:
    int at(mlir::Value value) {
      auto found = numbers.find(value);
      return found == numbers.end() ? 0 : found->second;
    }
    void add(mlir::Value value, Map map) {
      if (!map.channels)
        map.channels = channelsOf(value);
      numbers[value] = int(branch.maps.size());
      branch.maps.push_back(std::move(map));
    }
    void same(mlir::Operation *op, mlir::Value from, double factor = 1) {
      Map map;
      map.kind = MapKind::scale;
      map.first = at(from);
      map.factor = factor;
      map.channels = branch.maps[map.first].channels;
      add(op->getResult(0), map);
    }

    void step(mlir::Operation *op) {
      llvm::TypeSwitch<mlir::Operation *>(op)
          .Case([&](LinearOp linear) { stepLinear(linear); })
          .Case([&](NormOp normOp) {
            Map map;
            map.kind = MapKind::norm;
            map.first = at(normOp.getInput());
            map.norm = reader.norm(normOp.getNorm());
            add(normOp, map);
          })
          .Case([&](ActivateOp activate) {
            Map map;
            map.kind = MapKind::activate;
            map.first = at(activate.getInput());
            map.function = activate.getFunction();
            add(activate, map);
          })
          .Case([&](GateOp gate) {
            Map map;
            map.kind = MapKind::gate;
            map.first = at(gate.getGate());
            map.second = at(gate.getUp());
            map.function = gate.getFunction();
            map.offset = gate.getUpOffset().convertToDouble();
            add(gate, map);
          })
          .Case([&](AddOp sum) {
            Map map;
            map.kind = MapKind::add;
            map.first = at(sum.getLeft());
            map.second = at(sum.getRight());
            add(sum, map);
          })
          .Case([&](AttendOp attend) { stepAttend(attend); })
          .Case([&](LinearAttendOp attend) {
            Map map;
            map.kind = MapKind::attend;
            map.first = at(attend.getValue());
            map.heads = attend.getHeads();
            add(attend, map);
            branch.unknown.push_back("linear attention");
          })
          .Case([&](CombineOp combine) { stepCombine(combine); })
          .Case([&](AffineOp affine) {
            same(affine, affine.getInput(),
                 reader.scale(affine.getScaleAttr(), nullptr));
          })
          .Case([&](ClampOp clamp) {
            Map map;
            map.kind = MapKind::clamp;
            map.first = at(clamp.getInput());
            map.low = clamp.getLow().convertToDouble();
            map.high = clamp.getHigh().convertToDouble();
            add(clamp, map);
          })
          .Case<RotateOp, DispatchOp, GatherTokensOp, MovePatchesOp>(
              [&](auto other) { same(other, other->getOperand(0)); })
          .Default([&](mlir::Operation *other) {
            // Biases of scores and routes do not enter the value.
            if (other->getNumResults() == 1 && other->getNumOperands() &&
                channelsOf(other->getResult(0)) &&
                numbers.count(other->getOperand(0)) &&
                !llvm::isa<RouteOp, PositionBiasOp, DistanceBiasOp, PairBiasOp,
                           ContentBiasOp, KeyHeadBiasOp>(other)) {
              branch.unknown.push_back(other->getName().stripDialect().str());
              same(other, other->getOperand(0));
            }
          });
    }

    void stepLinear(LinearOp linear) {
      Map map;
      map.kind = MapKind::linear;
      map.first = at(linear.getInput());
      map.name = linear.getWeight().str();
      map.fanIn = channelsOf(linear.getInput());
      map.factor = linear.getScale().convertToDouble();
      if (branch.name.empty())
        branch.name = nameFrom(map.name);
      if (!reader.unitBranches) {
        map.weight = reader.numbersOf(linear.getWeight());
        if (linear.getBias())
          map.bias = reader.numbersOf(*linear.getBias());
      }
      add(linear, map);
    }

    // "layers.3.attn.q.weight": the branch is attn.
    static std::string nameFrom(llvm::StringRef weight) {
      llvm::SmallVector<llvm::StringRef> words;
      weight.split(words, '.');
      return words.size() > 2 ? words[words.size() - 3].str() : weight.str();
    }

    void stepAttend(AttendOp attend) {
      Map map;
      map.kind = MapKind::attend;
      map.first = at(attend.getValue());
      map.heads = attend.getHeads();
      Logits logits;
      logits.query = at(attend.getQuery());
      logits.key = at(attend.getKey());
      logits.scale = attend.getScale().convertToDouble();
      logits.headDim = attend.getHeadDim();
      logits.softcap = attend.getSoftcap().convertToDouble();
      logits.learnedScale = attend.getHeadScaleAttr() != nullptr;
      if (logits.learnedScale && !reader.unitBranches) // a scale per head
        logits.scale *= std::sqrt(
            reader.numbersOf(attend.getHeadScaleAttr().getValue()).second);
      branch.logits.push_back(logits);
      add(attend, map);
    }

    // k independent experts with weight w each give k w^2.
    void stepCombine(CombineOp combine) {
      double factor = 1;
      if (combine.getWeights())
        if (auto route = combine.getWeights().getDefiningOp<RouteOp>()) {
          const double k = route.getK(), all = channelsOf(route.getLogits());
          const bool shared =
              route.getRenormalised() || route.getSoftmaxChosen();
          const double each = shared ? 1 / k
                              : route.getScore() == RouterScore::softmax
                                  ? 1 / all
                                  : 0.5;
          factor = std::sqrt(k) * each * route.getFactor().convertToDouble();
        }
      same(combine, combine->getOperand(0), factor);
    }

    Reader &reader;
    Branch &branch;
    mlir::Region &region;
    llvm::DenseMap<mlir::Value, int> numbers;
  };

  bool unitBranches;
  NumbersOf numbersOf;
};

} // namespace

// The unit that a value comes from, following first operands, or null.
static ResidualOp unitBehind(mlir::Value value) {
  for (int steps = 0; steps < 64; ++steps) {
    mlir::Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (auto unit = llvm::dyn_cast<ResidualOp>(op))
      return unit;
    if (op->getNumOperands() == 0)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

std::vector<std::vector<ResidualOp>>
mille::analyze::unitsByStack(mlir::Operation *model) {
  std::vector<std::vector<ResidualOp>> stacks;
  ResidualOp before;
  model->walk([&](ResidualOp unit) {
    if (unit->getParentOfType<LayersOp>())
      return;
    const bool follows =
        before && unitBehind(unit.getInput()) == before &&
        unit.getLayer().value_or(0) >= before.getLayer().value_or(0) &&
        channelsOf(unit.getInput()) == channelsOf(before.getInput());
    if (!follows)
      stacks.push_back({});
    stacks.back().push_back(unit);
    before = unit;
  });
  return stacks;
}

Status mille::analyze::readStacks(mlir::Operation *model, bool unitBranches,
                                  NumbersOf numbersOf,
                                  std::vector<Stack> &stacks) {
  Reader reader(unitBranches, numbersOf);
  for (const std::vector<ResidualOp> &units : unitsByStack(model)) {
    Stack stack;
    stack.unitBranches = unitBranches;
    stack.channels = channelsOf(ResidualOp(units.front()).getInput());
    stack.entry = reader.entry(ResidualOp(units.front()).getInput());
    for (ResidualOp unit : units)
      stack.units.push_back(reader.unit(unit));
    stack.finalNorm = llvm::any_of(
        ResidualOp(units.back())->getUsers(),
        [](mlir::Operation *user) { return llvm::isa<NormOp>(user); });
    stacks.push_back(std::move(stack));
  }
  if (!stacks.empty())
    return Status::done;
  mlir::emitError(model->getLoc())
      << "the model has no residual unit as import gives them: analyze takes "
         "models before `roll`";
  return Status::input;
}

// `mille inspect`: what a model is, read off its transformer ops, on a screen.
// Must not run it; knows placements by the slots that are filled, no family.
#include "compiler/driver/Command.h"
#include "compiler/driver/Package.h"
#include "compiler/driver/Reference.h"
#include "compiler/driver/Report.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;
using namespace mille::transformer;
using llvm::StringRef;

//===-- Words -------------------------------------------------------------------------===//

static std::string normInWords(NormAttr norm) {
  std::string text = stringifyNormKind(norm.getKind()).str();
  if (norm.getKind() == NormKind::identity)
    return text;
  text += " eps " + formatDouble(norm.getEps());
  if (norm.getAffine() == Affine::none)
    text += " without weight";
  else if (norm.getAffine() == Affine::one_plus_weight)
    text += " times 1 + weight";
  return norm.getBias() ? text + " with bias" : text;
}

static std::string scaleInWords(ScaleAttr scale) {
  switch (scale.getKind()) {
  case ScaleKind::constant:
    if (scale.getSymbol())
      return "constant of each layer";
    return formatDouble(scale.getValue()) +
           (scale.getFormula() ? " = " + scale.getFormula().str() : "");
  case ScaleKind::learned_scalar:
    return "learned, one number for each " +
           stringifyShare(scale.getShare()).str();
  case ScaleKind::learned_channel:
    return "learned, one number for each channel";
  case ScaleKind::scheduled:
    return "from " + formatDouble(scale.getFrom()) + " to " +
           formatDouble(scale.getTo()) + " over " +
           std::to_string(scale.getSteps()) + " steps";
  }
  return "";
}

static bool isOne(ScaleAttr scale) {
  return scale.getKind() == ScaleKind::constant && !scale.getSymbol() &&
         double(scale.getValue()) == 1.0;
}

static bool holdsNorm(mlir::ArrayAttr norms) {
  return norms && llvm::any_of(norms.getAsRange<NormAttr>(), [](NormAttr norm) {
           return norm.getKind() != NormKind::identity;
         });
}

// The field's name for which norm slots are filled.
static std::string placementOf(ResidualOp unit) {
  bool in = holdsNorm(unit.getInNormAttr());
  bool branch = holdsNorm(unit.getBranchNormAttr());
  bool out = unit.getOutNormAttr() != nullptr;
  if (unit.getTap() == Tap::normed)
    return "pre-norm, normed skip";
  if (in && branch)
    return out ? "sandwich with an output norm" : "sandwich";
  if (in)
    return out ? "pre-norm with an output norm" : "pre-norm";
  if (branch)
    return out ? "res-post-norm with an output norm" : "res-post-norm";
  if (!out)
    return "no norm";
  ScaleAttr skip = unit.getSkipScaleAttr();
  return skip && skip.getKind() == ScaleKind::constant && !isOne(skip)
             ? "post-norm with a scaled skip (DeepNorm)"
             : "post-norm";
}

static int64_t channels(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape().back();
}

static std::string branchInWords(mlir::Region &branch) {
  std::string text;
  auto add = [&](const std::string &part) {
    text += (text.empty() ? "" : ", ") + part;
  };
  bool attention = false;
  branch.walk([&](mlir::Operation *op) {
    if (auto attend = llvm::dyn_cast<AttendOp>(op)) {
      attention = true;
      std::string part = "attention, " + std::to_string(attend.getHeads()) +
                         " heads of " + std::to_string(attend.getHeadDim());
      if (attend.getKvHeads() != attend.getHeads())
        part += ", " + std::to_string(attend.getKvHeads()) + " for keys and values";
      if (attend.getValueDim() != attend.getHeadDim())
        part += ", values of " + std::to_string(attend.getValueDim());
      part += ", scale " + formatDouble(attend.getScale().convertToDouble());
      part += attend.getMask() == Mask::causal ? ", causal" : "";
      if (attend.getSoftcap().convertToDouble() != 0)
        part += ", softcap " + formatDouble(attend.getSoftcap().convertToDouble());
      add(part);
    } else if (auto rotate = llvm::dyn_cast<RotateOp>(op)) {
      if (text.find("RoPE") == std::string::npos)
        add("RoPE on " + std::to_string(2 * (rotate.getFrequencies() ? rotate.getFrequencies()->size() : 0)) +
            " of " + std::to_string(rotate.getHeadDim()) + " dimensions, " +
            stringifyPairing(rotate.getPairing()).str());
    } else if (llvm::isa<PositionBiasOp>(op)) {
      add("ALiBi");
    } else if (auto activate = llvm::dyn_cast<ActivateOp>(op)) {
      add("feed-forward of " + std::to_string(channels(activate.getInput())) +
          ", " + stringifyActivation(activate.getFunction()).str());
    } else if (auto gate = llvm::dyn_cast<GateOp>(op)) {
      add("gated feed-forward of " + std::to_string(channels(gate.getUp())) +
          ", " + stringifyActivation(gate.getFunction()).str());
    }
  });
  (void)attention;
  return text.empty() ? "linear" : text;
}

// Everything about a unit but which layer it is in: units with the same words
// are one kind.
static std::string unitInWords(ResidualOp unit) {
  std::string text = placementOf(unit) + "\n";
  auto line = [&](const std::string &what, const std::string &value) {
    text += "    " + what + std::string(14 - std::min<size_t>(what.size(), 13), ' ') +
            value + "\n";
  };
  for (auto [i, branch] : llvm::enumerate(unit.getBranches()))
    line(unit.getBranches().size() > 1 ? "branch " + std::to_string(i + 1)
                                       : "branch",
         branchInWords(branch));
  auto norms = [&](const std::string &what, mlir::ArrayAttr list) {
    std::string last;
    for (NormAttr norm : list ? list.getAsRange<NormAttr>()
                              : mlir::ArrayAttr().getAsRange<NormAttr>())
      if (std::string words = normInWords(norm); words != last)
        line(what, last = words);
  };
  if (unit.getInNormAttr())
    norms("input norm", unit.getInNormAttr());
  if (unit.getBranchNormAttr())
    norms("branch norm", unit.getBranchNormAttr());
  if (unit.getOutNormAttr())
    line("output norm", normInWords(unit.getOutNormAttr()));
  if (unit.getSkipScaleAttr())
    line("skip scale", scaleInWords(unit.getSkipScaleAttr()));
  if (unit.getBranchScaleAttr())
    for (ScaleAttr scale : unit.getBranchScaleAttr().getAsRange<ScaleAttr>())
      line("branch scale", scaleInWords(scale));
  if (unit.getStreamScaleAttr())
    line("stream scale", scaleInWords(unit.getStreamScaleAttr()));
  return text;
}

//===-- The screen -------------------------------------------------------------------===//

// "0-11", "0, 2, 5-7".
static std::string ranges(llvm::ArrayRef<int64_t> numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] <= numbers[j] + 1)
      ++j;
    text += (i ? ", " : "") + std::to_string(numbers[i]);
    if (numbers[j] != numbers[i])
      text += "-" + std::to_string(numbers[j]);
    i = j + 1;
  }
  return text;
}

static void printUnits(mlir::Operation *model, llvm::raw_ostream &out) {
  llvm::MapVector<std::string, std::vector<int64_t>, std::map<std::string, unsigned>>
      kinds;
  model->walk([&](ResidualOp unit) {
    kinds[unitInWords(unit)].push_back(unit.getLayer().value_or(-1));
  });
  for (auto &[words, layers] : kinds) {
    bool numbered = layers.front() >= 0;
    out << "  " << layers.size() << (layers.size() == 1 ? " unit" : " units");
    if (numbered)
      out << " in layers " << ranges(layers);
    out << ": " << words;
  }
  if (kinds.empty())
    out << "  no residual units\n";
}

static void printTensors(mlir::func::FuncOp forward, llvm::raw_ostream &out) {
  auto words = [&](mlir::Type type) {
    auto shaped = llvm::cast<mlir::ShapedType>(type);
    std::string text = "[";
    for (auto [i, extent] : llvm::enumerate(shaped.getShape()))
      text += (i ? ", " : "") +
              std::string(!mlir::ShapedType::isDynamic(extent)
                              ? std::to_string(extent)
                          : i == 0 ? "batch"
                                   : "tokens");
    return text + "]";
  };
  out << "inputs\n";
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = forward.getArgAttrOfType<mlir::StringAttr>(i, "transformer.name");
    auto below =
        forward.getArgAttrOfType<mlir::IntegerAttr>(i, "transformer.below");
    out << "  " << (name ? name.getValue() : "?") << ' '
        << words(forward.getArgumentTypes()[i]);
    if (forward.getArgAttr(i, "transformer.default"))
      out << ", optional";
    if (below && below.getInt())
      out << ", below " << below.getInt();
    out << '\n';
  }
  out << "outputs\n";
  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    auto name =
        forward.getResultAttrOfType<mlir::StringAttr>(i, "transformer.name");
    out << "  " << (name ? name.getValue() : "?") << ' '
        << words(forward.getResultTypes()[i]) << '\n';
  }
}

static void printPositions(mlir::Operation *model, llvm::raw_ostream &out) {
  model->walk([&](EmbedOp embed) {
    out << "embedding of " << embed.getIds().size()
        << (embed.getIds().size() == 1 ? " table" : " tables");
    auto scale = embed.getScale().convertToDouble();
    if (scale != 1.0)
      out << ", the first times " << formatDouble(scale);
    out << ":";
    for (auto table : embed.getTables().getAsRange<mlir::FlatSymbolRefAttr>())
      if (auto parameter = llvm::dyn_cast_or_null<ParameterOp>(
              mlir::SymbolTable::lookupSymbolIn(model, table))) {
        auto type = llvm::cast<mlir::ShapedType>(parameter.getType());
        out << ' ' << table.getValue() << " [" << type.getDimSize(0) << ", "
            << type.getDimSize(1) << ']';
      }
    out << '\n';
  });
}

static void print(mlir::Operation *model, llvm::raw_ostream &out) {
  out << "model " << llvm::cast<ModelOp>(model).getSymName();
  if (auto family = model->getAttrOfType<mlir::StringAttr>("family"))
    out << ", family " << family.getValue();
  auto number = [&](StringRef key, StringRef words) {
    if (auto value = model->getAttrOfType<mlir::IntegerAttr>(key))
      out << ", " << value.getInt() << ' ' << words;
  };
  number("layers", "layers");
  number("hidden_size", "channels");
  number("max_tokens", "positions at most");
  out << '\n';
  printPositions(model, out);
  out << "residual units\n";
  printUnits(model, out);
  printTensors(kernel::forwardOf(model), out);
  double count = 0;
  model->walk([&](ParameterOp parameter) {
    count += llvm::cast<mlir::ShapedType>(parameter.getType()).getNumElements();
  });
  out << "parameters " << static_cast<int64_t>(count) << ": "
      << sayBytes(count * 4) << " in f32, " << sayBytes(count * 2)
      << " in bf16, " << sayBytes(count) << " in int8\n";
}

Status mille::inspectCommand(const InspectOptions &options,
                             mlir::MLIRContext &context,
                             llvm::raw_ostream &out) {
  Subject subject;
  Package package;
  if (Status status = findSubject(options.subject, context, subject, package);
      failed(status))
    return status;
  Reference reference;
  Status status = subject == Subject::package
                      ? Reference::open(package, context, reference)
                      : Reference::open(options.subject, ImportOptions(),
                                        context, reference);
  if (failed(status))
    return status;
  print(reference.model(), out);
  return Status::done;
}

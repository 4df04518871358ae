// `mille inspect`: describes a model on one screen, from its transformer ops.
// Must not run it; UnitFacts describes a unit in words.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/commands/Report.h"
#include "compiler/driver/commands/UnitKinds.h"
#include "compiler/driver/package/Package.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/interpret/Inputs.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Grid.h"
#include "dialects/transformer/UnitNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mille;
using namespace mille::transformer;
using llvm::StringRef;

//===-- The screen --------------------------------------------------------===//

static void printFact(const std::string &what, const std::string &value,
                      llvm::raw_ostream &out) {
  out << "    " << what
      << std::string(what.size() < 15 ? 16 - what.size() : 1, ' ') << value
      << '\n';
}

static void printFacts(const Facts &facts, llvm::raw_ostream &out) {
  for (const Fact &fact : llvm::drop_begin(facts))
    printFact(fact.what, fact.value, out);
}

// Prints the facts that differ from `usual`, and "none" for facts that only
// `usual` has.
static void printDifferences(const Facts &facts, const Facts &usual,
                             llvm::raw_ostream &out) {
  for (const Fact &fact : facts)
    if (llvm::find(usual, fact) == usual.end())
      printFact(fact.what, fact.value, out);
  for (const Fact &fact : usual)
    if (llvm::none_of(
            facts, [&](const Fact &other) { return other.what == fact.what; }))
      printFact(fact.what, "none", out);
}

// Prints the most frequent kind in full, and the differences of the others.
static void printKinds(const std::vector<UnitKind> &kinds,
                       llvm::raw_ostream &out) {
  const Facts &usual = kinds.front().facts;
  for (const auto &[slots, facts, layers] : kinds) {
    out << "  " << layers.size() << (layers.size() == 1 ? " unit" : " units")
        << (layers.size() == 1 ? " in layer " : " in layers ")
        << rangesOf(layers, ", ") << ": ";
    if (&facts == &usual) {
      out << facts.front().value << '\n';
      printFacts(facts, out);
    } else {
      out << "as above, but\n";
      printDifferences(facts, usual, out);
    }
  }
}

static void printUnits(mlir::Operation *model, llvm::raw_ostream &out) {
  UnitKinds stacks = unitKindsOf(model);
  for (auto [number, stack] : llvm::enumerate(stacks)) {
    out << "residual units";
    if (stacks.size() > 1)
      out << " of stack " << number + 1 << " of " << stacks.size();
    out << '\n';
    for (const std::vector<UnitKind> &kinds : stack)
      printKinds(kinds, out);
  }
  if (stacks.empty())
    out << "no residual units\n";
}

// The name of the size that counts a value's tokens. Follows first operands
// back to the input that the stream began with.
static std::string tokensOf(mlir::Value value, mlir::func::FuncOp forward) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() == 0)
      return sizes::tokens.str();
    value = op->getOperand(0);
  }
  if (auto grid = gridOf(value))
    return grid.getTokens().str();
  auto declared = forward.getArgAttrOfType<ShapeAttr>(
      llvm::cast<mlir::BlockArgument>(value).getArgNumber(),
      "transformer.shape");
  Shape shape = declared ? declared.getShape() : Shape();
  return shape.size() > 1 ? shape[1].text() : sizes::tokens.str();
}

static void printInput(StringRef name, StringRef shape, bool isOptional,
                       int64_t below, llvm::raw_ostream &out) {
  out << "  " << name << ' ' << shape;
  if (isOptional)
    out << ", optional";
  if (below)
    out << ", below " << below;
  out << '\n';
}

// For a kernel program: its arguments are flat, so the shapes come from the
// signature.
static void printSignature(const kernel::Signature &signature,
                           llvm::raw_ostream &out) {
  out << "inputs\n";
  for (const kernel::TensorInfo &input : signature.inputs)
    printInput(input.name, extentsText(input.shape), !input.fallback.empty(),
               input.below, out);
  out << "outputs\n";
  for (const kernel::TensorInfo &output : signature.outputs)
    out << "  " << output.name << ' ' << extentsText(output.shape) << '\n';
}

static void printStates(mlir::func::FuncOp entry, llvm::raw_ostream &out) {
  auto states = kernel::signatureOf(entry).states;
  out << (states.empty() ? "" : "states\n");
  for (const kernel::TensorInfo &state : states)
    out << "  " << state.name << ' ' << extentsText(state.shape) << '\n';
}

static void printTensors(mlir::func::FuncOp forward, llvm::raw_ostream &out) {
  if (kernel::sizeArguments(forward))
    return printSignature(kernel::signatureOf(forward), out);
  auto words = [&](mlir::Value value) {
    auto shaped = llvm::cast<mlir::ShapedType>(value.getType());
    Shape shape;
    for (auto [i, extent] : llvm::enumerate(shaped.getShape()))
      if (!mlir::ShapedType::isDynamic(extent))
        shape.push_back(extent);
      else
        shape.push_back(i == 0 ? ShapeExtent(sizes::batch)
                               : ShapeExtent(tokensOf(value, forward)));
    return extentsText(shape);
  };
  out << "inputs\n";
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    if (kernel::isState(forward, i))
      continue;
    auto name =
        forward.getArgAttrOfType<mlir::StringAttr>(i, "transformer.name");
    auto below =
        forward.getArgAttrOfType<mlir::IntegerAttr>(i, "transformer.below");
    printInput(name ? name.getValue() : "?",
               gridOf(forward.getArgument(i))
                   ? extentsText(interpreter::inputShape(forward, i))
                   : words(forward.getArgument(i)),
               bool(forward.getArgAttr(i, "transformer.default")),
               below ? below.getInt() : 0, out);
  }
  out << "outputs\n";
  auto values = forward.getBody().front().getTerminator()->getOperands();
  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    auto name =
        forward.getResultAttrOfType<mlir::StringAttr>(i, "transformer.name");
    out << "  " << (name ? name.getValue() : "?") << ' ' << words(values[i])
        << '\n';
  }
}

static void printEntries(mlir::Operation *model, llvm::raw_ostream &out) {
  auto entries = kernel::entriesOf(model);
  for (mlir::func::FuncOp entry : entries) {
    if (entries.size() > 1)
      out << "entry " << entry.getName() << '\n';
    printTensors(entry, out);
    printStates(entry, out);
  }
}

static void printPositions(mlir::Operation *model, llvm::raw_ostream &out) {
  kernel::forwardOf(model).walk([&](EmbedOp embed) {
    out << "embedding of " << embed.getIds().size()
        << (embed.getIds().size() == 1 ? " table" : " tables");
    auto scale = embed.getScale().convertToDouble();
    if (scale != 1.0) {
      auto root = knownRoot(scale);
      out << ", the first times " << formatDouble(scale)
          << (root ? " = " + *root : "");
    }
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

static double parametersOf(mlir::Operation *model) {
  double count = 0;
  model->walk([&](ParameterOp parameter) {
    count += llvm::cast<mlir::ShapedType>(parameter.getType()).getNumElements();
  });
  return count;
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
  number("max_tokens", "tokens at most");
  out << '\n';
  printPositions(model, out);
  printUnits(model, out);
  printEntries(model, out);
  double count = parametersOf(model);
  out << "parameters " << static_cast<int64_t>(count) << ": "
      << sayBytes(count * 4) << " in f32, " << sayBytes(count * 2)
      << " in bf16, " << sayBytes(count) << " in int8\n";
}

static void printJson(mlir::Operation *model, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  auto kind = [&](const UnitKind &kind) {
    json.object([&] {
      json.attribute("units", int64_t(kind.layers.size()));
      json.attribute("layers", rangesOf(kind.layers, ", "));
      for (const Fact &fact : kind.facts)
        json.attribute(fact.what, fact.value);
    });
  };
  json.object([&] {
    json.attribute("model", llvm::cast<ModelOp>(model).getSymName());
    if (auto family = model->getAttrOfType<mlir::StringAttr>("family"))
      json.attribute("family", family.getValue());
    json.attribute("parameters", int64_t(parametersOf(model)));
    json.attributeArray("entries", [&] {
      for (mlir::func::FuncOp entry : kernel::entriesOf(model))
        json.value(entry.getName());
    });
    json.attributeArray("tables", [&] {
      kernel::forwardOf(model).walk([&](EmbedOp embed) {
        for (auto table :
             embed.getTables().getAsRange<mlir::FlatSymbolRefAttr>())
          json.value(table.getValue());
      });
    });
    json.attributeArray("stacks", [&] {
      for (const auto &stack : unitKindsOf(model))
        json.array([&] {
          for (const auto &kinds : stack)
            json.array([&] { llvm::for_each(kinds, kind); });
        });
    });
  });
  out << '\n';
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
  if (options.json)
    printJson(reference.model(), out);
  else
    print(reference.model(), out);
  return Status::done;
}

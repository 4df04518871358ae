// The report of fusions: for each unit and boundary of the closed list, whether
// it was fused, or the reason why not. Must not decide anything.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "dialects/transformer/UnitNames.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mille;

namespace {

constexpr llvm::StringLiteral attributeName = "kernel.fusions";

// The layers that run the body which holds `op`; none outside a loop.
SmallVector<int64_t> layersOf(Operation *op) {
  SmallVector<int64_t> layers;
  auto loop = op->getParentOfType<kernel::LayersOp>();
  if (!loop)
    return layers;
  Region *region = op->getParentRegion();
  while (region->getParentOp() != loop)
    region = region->getParentOp()->getParentRegion();
  for (auto [layer, body] : llvm::enumerate(loop.getBodies()))
    if (body == region->getRegionNumber())
      layers.push_back(layer);
  return layers;
}

void collectSymbols(Value operand, SmallVectorImpl<StringRef> &symbols) {
  if (auto weight = operand.getDefiningOp<kernel::WeightOp>())
    transformer::forEachSymbol(weight.getValue(),
                               [&](FlatSymbolRefAttr symbol) {
                                 symbols.push_back(symbol.getValue());
                               });
}

// The op that computes the first input; of a sum's inputs the last one to be
// computed, which is its branch.
Operation *makerOf(Operation *op) {
  if (op->getNumOperands() == 0)
    return nullptr;
  Operation *last = op->getOperand(0).getDefiningOp();
  if (auto rows = dyn_cast<kernel::RowsOp>(op); rows && isElementwise(rows))
    for (Value input : elementInputs(rows)) {
      Operation *maker = input.getDefiningOp();
      if (maker && maker->getBlock() == op->getBlock() &&
          (!last || last->getBlock() != op->getBlock() ||
           last->isBeforeInBlock(maker)))
        last = maker;
    }
  return last;
}

// The symbols that name the unit of `op`: those of its weight, its norm's
// parameters or its tables; or else those of the op that computes its input.
void namingSymbols(Operation *op, SmallVectorImpl<StringRef> &symbols) {
  for (int depth = 0; op && symbols.empty() && depth < 8; ++depth) {
    if (auto launch = dyn_cast<kernel::LaunchOp>(op)) {
      namingSymbols(&launch.getBody().front().front(), symbols);
      for (Operation &inner : launch.getBody().front())
        if (symbols.empty())
          namingSymbols(&inner, symbols);
      return;
    }
    if (auto matmul = dyn_cast<kernel::MatmulOp>(op))
      collectSymbols(matmul.getWeight(), symbols);
    else if (auto rows = dyn_cast<kernel::RowsOp>(op);
             rows && (rows.getNorm() || !rows.getIndices().empty()))
      for (Value input : rows.getInputs())
        collectSymbols(input, symbols);
    op = makerOf(op);
  }
}

} // namespace

std::string mille::unitOf(Operation *op) {
  SmallVector<StringRef> symbols;
  namingSymbols(op, symbols);
  return unitName(symbols);
}

FusionReport::FusionReport(func::FuncOp function, StringRef boundary)
    : function(function), boundary(boundary) {
  auto known = function->getAttrOfType<ArrayAttr>(attributeName);
  if (!known)
    return;
  for (auto words : known.getAsRange<DictionaryAttr>()) {
    auto text = [&](StringRef key) {
      auto value = words.getAs<StringAttr>(key);
      return value ? value.str() : std::string();
    };
    auto number = [&](StringRef key) {
      auto value = words.getAs<IntegerAttr>(key);
      return value ? value.getInt() : 0;
    };
    entries.push_back({text("boundary"), text("unit"), text("layers"),
                       text("status"), text("reason"), number("bytes_saved"),
                       number("launches_saved")});
  }
}

FusionReport::~FusionReport() {
  Builder builder(function.getContext());
  SmallVector<Attribute> all;
  for (const Entry &entry : entries)
    all.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("boundary",
                              builder.getStringAttr(entry.boundary)),
         builder.getNamedAttr("unit", builder.getStringAttr(entry.unit)),
         builder.getNamedAttr("layers", builder.getStringAttr(entry.layers)),
         builder.getNamedAttr("status", builder.getStringAttr(entry.status)),
         builder.getNamedAttr("reason", builder.getStringAttr(entry.reason)),
         builder.getNamedAttr("bytes_saved",
                              builder.getI64IntegerAttr(entry.bytes)),
         builder.getNamedAttr("launches_saved",
                              builder.getI64IntegerAttr(entry.launches))}));
  if (!all.empty())
    function->setAttr(attributeName, builder.getArrayAttr(all));
}

FusionReport::Entry &FusionReport::entryOf(Operation *at, int64_t &layers) {
  SmallVector<int64_t> numbers = layersOf(at);
  layers = numbers.empty() ? 1 : numbers.size();
  std::string unit = unitOf(at), where = rangesOf(numbers);
  for (Entry &entry : entries)
    if (entry.boundary == boundary && entry.unit == unit &&
        entry.layers == where)
      return entry;
  entries.push_back({boundary, unit, where, "", "", 0, 0});
  return entries.back();
}

void FusionReport::fused(Operation *at, int64_t bytes, int64_t launches,
                         StringRef how) {
  int64_t layers;
  Entry &entry = entryOf(at, layers);
  entry.bytes += bytes * layers;
  entry.launches += launches * layers;
  if (!entry.status.empty())
    return;
  entry.status = "fused";
  entry.reason = how.str();
}

void FusionReport::holds(Operation *at, int64_t bytes, int64_t launches,
                         StringRef how) {
  int64_t layers;
  Entry &entry = entryOf(at, layers);
  if (entry.status.empty())
    entry = {entry.boundary, entry.unit,     entry.layers,     "fused",
             how.str(),      bytes * layers, launches * layers};
}

void FusionReport::declined(Operation *at, StringRef reason) {
  int64_t layers;
  Entry &entry = entryOf(at, layers);
  entry.status = llvm::is_contained(missing::all, reason) ? "declined: missing"
                                                          : "declined: law";
  entry.reason = reason.str();
  remark::missed(at->getLoc(),
                 remark::RemarkOpts::name(boundary).category("fuse"))
      << (Twine(entry.unit) + " keeps " + boundary + " apart, " + entry.status +
          ": " + reason)
             .str();
}

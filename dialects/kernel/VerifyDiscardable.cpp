// The table of the kernel dialect's discardable attributes.
// Must not check attributes of the transformer dialect.
#include "dialects/kernel/HeldPanels.h"
#include "dialects/kernel/Joined.h"
#include "dialects/kernel/Remembered.h"
#include "dialects/kernel/Signature.h"
#include "dialects/kernel/Updates.h"
#include "dialects/transformer/Discardable.h"

using namespace mlir;
using namespace mille;
using namespace mille::kernel;

namespace {

bool isEnds(Attribute value) {
  return isInt64From<0>(value) && cast<IntegerAttr>(value).getInt() <= 3;
}

// Sizes must be the first arguments, with distinct names.
LogicalResult verifySize(const AttributeSite &site, Attribute value) {
  if (!site.type.isIndex())
    return errorAt(site) << "has kernel.size but is " << site.type
                         << ", no index";
  auto entry = dyn_cast<func::FuncOp>(site.op);
  for (unsigned i = 0; entry && i < site.number; ++i) {
    Attribute before = entry.getArgAttr(i, "kernel.size");
    if (!before)
      return errorAt(site) << "has kernel.size but argument " << i
                           << " before it has none";
    if (before == value)
      return errorAt(site) << "has the kernel.size of argument " << i << ", "
                           << value;
  }
  return success();
}

LogicalResult verifyOutput(const AttributeSite &site, Attribute) {
  if (isa<MemRefType>(site.type))
    return success();
  return errorAt(site) << "has kernel.output but is " << site.type
                       << ", no memref";
}

// The number counts inputs: arguments that are not sizes, states or outputs.
LogicalResult verifyMask(const AttributeSite &site, Attribute value) {
  auto entry = dyn_cast<func::FuncOp>(site.op);
  if (!entry)
    return success();
  int64_t inputs = 0, number = cast<IntegerAttr>(value).getInt();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    inputs += sizeName(entry, i).empty() && !isState(entry, i) &&
              !entry.getArgAttr(i, "kernel.output");
  if (number < inputs)
    return success();
  return errorAt(site) << "has kernel.mask_input = " << number
                       << " but the function has " << inputs << " inputs";
}

bool isWindows(Attribute value) {
  auto windows = dyn_cast<DenseI64ArrayAttr>(value);
  return windows && !windows.empty() &&
         llvm::all_of(windows.asArrayRef(),
                      [](int64_t keys) { return keys >= 0; });
}
bool isPanels(Attribute value) { return isa<StatePanelsAttr>(value); }

// Whether the argument is a state of rows.
bool isOfRows(const AttributeSite &site) {
  auto entry = dyn_cast<func::FuncOp>(site.op);
  auto type = dyn_cast<ShapedType>(site.type);
  return entry && isState(entry, site.number) && type && type.hasRank() &&
         type.getRank() == 3;
}

// The heads of a row of a state in panels.
LogicalResult verifyPanelHeads(const AttributeSite &site, Attribute value) {
  if (!isOfRows(site))
    return errorAt(site) << "has " << panelHeadsName << " but is " << site.type
                         << ", no state of rows";
  if (!cast<func::FuncOp>(site.op).getArgAttr(site.number, panelsName))
    return errorAt(site) << "has " << panelHeadsName << " but no "
                         << panelsName;
  const int64_t heads = cast<IntegerAttr>(value).getInt(),
                columns = cast<ShapedType>(site.type).getDimSize(2);
  if (columns % heads)
    return errorAt(site) << "has " << panelHeadsName << " = " << heads
                         << " but the state has " << columns << " columns";
  return success();
}

// A window of each entry of a state in panels.
LogicalResult verifyWindows(const AttributeSite &site, Attribute value) {
  if (!isOfRows(site))
    return errorAt(site) << "has " << windowsName << " but is " << site.type
                         << ", no state of rows";
  const size_t windows = cast<DenseI64ArrayAttr>(value).size();
  const int64_t entries = cast<ShapedType>(site.type).getDimSize(0);
  if (entries != int64_t(windows))
    return errorAt(site) << "has " << windows << " " << windowsName
                         << " but the state has " << entries << " entries";
  if (!cast<func::FuncOp>(site.op).getArgAttr(site.number, panelHeadsName))
    return errorAt(site) << "has " << windowsName << " but no "
                         << panelHeadsName;
  return success();
}

LogicalResult verifyFusions(const AttributeSite &site, Attribute value) {
  return verifyDictionaries(site, "kernel.fusions", value,
                            {{"boundary", "unit", "layers", "status", "reason"},
                             {"bytes_saved", "launches_saved"}});
}

LogicalResult verifyBodies(const AttributeSite &site, Attribute value) {
  return verifyDictionaries(site, "kernel.bodies", value,
                            {{"layers", "difference"}, {"stack", "body"}});
}

constexpr auto function = AttributeSite::function;

const DiscardableAttribute table[] = {
    {"kernel.size", AttributeSite::argument, isName,
     "a string that is not empty", verifySize},
    {"kernel.output", AttributeSite::argument, isUnit, "without a value",
     verifyOutput},
    {windowsName, AttributeSite::argument, isWindows,
     "a list of i64 of at least 0", verifyWindows},
    {panelHeadsName, AttributeSite::argument, isInt64From<1>,
     "an i64 of at least 1", verifyPanelHeads},
    {panelsName, AttributeSite::argument, isPanels, "keys or values", nullptr},
    {"kernel.arena_bytes_per_row", function, isInt64From<0>,
     "an i64 of at least 0", nullptr},
    {"kernel.arena_fixed_bytes", function, isInt64From<0>,
     "an i64 of at least 0", nullptr},
    {"kernel.fixed_tokens", function, isInt64From<1>, "an i64 of at least 1",
     nullptr},
    {"kernel.slots", function, isInt64From<1>, "an i64 of at least 1", nullptr},
    {"kernel.state_rows", function, isUnit, "without a value", nullptr},
    {"kernel.padding_ends", function, isEnds, "an i64 from 0 to 3", nullptr},
    {"kernel.mask_input", function, isInt64From<0>, "an i64 of at least 0",
     verifyMask},
    {"kernel.fusions", function, isListOfDictionaries, "a list of dictionaries",
     verifyFusions},
    {"kernel.bodies", function, isListOfDictionaries, "a list of dictionaries",
     verifyBodies},
};

// The attributes of ops that are no functions.
LogicalResult verifyUpdates(Operation *op, Attribute value) {
  auto layers = dyn_cast<LayersOp>(op);
  auto columns = dyn_cast<ArrayAttr>(value);
  if (!layers || !layers.getReverse() || !columns || columns.empty())
    return op->emitOpError() << "has kernel.updates = " << value
                             << " but only a reversed loop has it, a list of "
                                "its columns";
  for (Attribute column : columns) {
    auto name = dyn_cast<FlatSymbolRefAttr>(column);
    bool found = false;
    for (size_t body = 0; name && body < layers->getNumRegions(); ++body)
      found |= layers.columnNamed(body, name.getAttr()).has_value();
    if (!found)
      return op->emitOpError()
             << "has kernel.updates with " << column << ", which is no column";
  }
  return success();
}

LogicalResult verifyJoined(Operation *op, Attribute value) {
  auto rows = dyn_cast<RowsOp>(op);
  if (!isUnit(value) || !rows || !isa<LaunchOp>(op->getParentOp()))
    return op->emitOpError() << "has kernel.joined = " << value
                             << " but only rows of a launch have it, without "
                                "a value";
  Operation *leader = op->getPrevNode();
  while (leader && !isLeader(leader))
    leader = leader->getPrevNode();
  if (!leader)
    return op->emitOpError("has kernel.joined but is the first of its launch");
  for (auto [input, gather] : llvm::zip(rows.getInputs(), rows.getGather()))
    if (gather >= 0)
      return op->emitOpError("has kernel.joined but gathers an input");
  if (!isa<MemRefType>(rows.getOut().getType()))
    return op->emitOpError("has kernel.joined but is not planned");
  return success();
}

LogicalResult verifyFrom(Operation *op, Attribute value) {
  if (isa<RememberOp>(op) && isInt64From<1>(value))
    return success();
  return op->emitOpError() << "has kernel.from = " << value
                           << " but only remember has it, an i64 > 0";
}

} // namespace

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute a) {
  if (a.getName() == joinedName)
    return verifyJoined(op, a.getValue());
  if (a.getName() == updatesName)
    return verifyUpdates(op, a.getValue());
  if (a.getName() == fromName)
    return verifyFrom(op, a.getValue());
  return verifyOnOperation(op, a, table);
}
LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                      unsigned number,
                                                      NamedAttribute a) {
  return verifyOnArgument(op, number, a, table);
}
LogicalResult KernelDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned,
                                                         unsigned number,
                                                         NamedAttribute a) {
  return verifyOnResult(op, number, a, table);
}

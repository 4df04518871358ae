// Records what a rewrite did or declined, where and why, in the func attribute
// `transformer.rewrites`. Must not decide anything.
#include "compiler/rewrite/RewriteLog.h"
#include "dialects/transformer/UnitNames.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

static constexpr llvm::StringLiteral attributeName = "transformer.rewrites";

static ResidualOp unitAround(Operation *op) {
  while (op && !isa<ResidualOp>(op))
    op = op->getParentOp();
  return cast_or_null<ResidualOp>(op);
}

// Replaces the layer's number in a name by `*`: layers.3.attn -> layers.*.attn.
static std::string general(StringRef name, std::optional<uint64_t> layer) {
  if (!layer)
    return name.str();
  SmallVector<StringRef> parts;
  std::string number = std::to_string(*layer);
  name.split(parts, '.');
  for (StringRef &part : parts)
    if (part == number)
      part = "*";
  return llvm::join(parts, ".");
}

RewriteLog::RewriteLog(func::FuncOp function, StringRef name)
    : function(function), law(*lawOf(name)) {}

void RewriteLog::add(Operation *at, StringRef status, StringRef reason,
                     StringRef bound, int roundings) {
  ResidualOp unit = unitAround(at);
  std::optional<uint64_t> layer = unit ? unit.getLayer() : std::nullopt;
  std::string name =
      general(unitName(unit ? unit.getOperation() : at,
                       [](FlatSymbolRefAttr symbol) { return symbol; }),
              layer);
  auto entry = llvm::find_if(entries, [&](const Entry &known) {
    return known.unit == name && known.status == status &&
           known.reason == reason && known.bound == bound;
  });
  if (entry == entries.end()) {
    entries.push_back({name,
                       status.str(),
                       reason.str(),
                       bound.str(),
                       roundings,
                       at->getLoc(),
                       {}});
    entry = std::prev(entries.end());
  }
  if (layer &&
      (entry->layers.empty() || entry->layers.back() != int64_t(*layer)))
    entry->layers.push_back(*layer);
}

void RewriteLog::applied(Operation *at, StringRef what, bool exact) {
  if (exact && law.roundings)
    add(at, "applied", what, "0: a power of two");
  else
    add(at, "applied", what, law.bound, law.roundings);
}
void RewriteLog::declinedByLaw(Operation *at, StringRef why) {
  add(at, "declined: law", why);
}
void RewriteLog::declinedByCost(Operation *at, const Cost &cost) {
  add(at, "declined: cost", cost.inWords());
}
void RewriteLog::declinedBitExact(Operation *at) {
  add(at, "declined: bit-exact", "it moves a rounding");
}
void RewriteLog::found(Operation *at, StringRef what) {
  add(at, "found", what);
}

RewriteLog::~RewriteLog() {
  if (entries.empty())
    return;
  Builder builder(function.getContext());
  SmallVector<Attribute> all;
  if (auto known = function->getAttrOfType<ArrayAttr>(attributeName))
    all.assign(known.begin(), known.end());
  for (Entry &entry : entries) {
    std::string layers = rangesOf(entry.layers);
    SmallVector<NamedAttribute> words;
    for (auto [key, text] :
         std::initializer_list<std::pair<StringRef, StringRef>>{
             {"name", law.name},
             {"unit", entry.unit},
             {"layers", layers},
             {"status", entry.status},
             {"reason", entry.reason},
             {"law", law.formula},
             {"bound", entry.bound}})
      words.push_back(builder.getNamedAttr(key, builder.getStringAttr(text)));
    words.push_back(builder.getNamedAttr(
        "roundings", builder.getI64IntegerAttr(entry.roundings)));
    all.push_back(builder.getDictionaryAttr(words));
    std::string text = entry.unit + (layers.empty() ? "" : ", layers ") +
                       layers + ": " + law.name.str() + " " + entry.status +
                       ": " + entry.reason;
    auto options = remark::RemarkOpts::name(law.name).category("rewrite");
    if (StringRef(entry.status).starts_with("declined"))
      remark::missed(entry.at, options) << text;
    else
      remark::passed(entry.at, options) << text;
  }
  function->setAttr(attributeName, builder.getArrayAttr(all));
}

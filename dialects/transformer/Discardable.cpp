// Checks discardable attributes against a dialect's table.
// Must not know any name: the dialects have the names.
#include "dialects/transformer/Discardable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace mille {
namespace {

StringRef placeOf(AttributeSite::Kind kind) {
  return kind == AttributeSite::argument ? "an argument"
         : kind == AttributeSite::result ? "a result"
                                         : "a function";
}

std::string sitesOf(unsigned kinds) {
  std::string text;
  for (auto kind : {AttributeSite::function, AttributeSite::argument,
                    AttributeSite::result})
    if (kinds & kind)
      text += (text.empty() ? "" : " or ") + placeOf(kind).str();
  return text;
}

LogicalResult verifyAt(const AttributeSite &site, NamedAttribute given,
                       DiscardableTable table) {
  StringRef name = given.getName();
  const auto *row = llvm::find_if(
      table, [&](const DiscardableAttribute &row) { return row.name == name; });
  if (row == table.end())
    return errorAt(site) << "has " << name
                         << " but its dialect has no such attribute";
  if (!(row->kinds & site.kind))
    return errorAt(site) << "has " << name << " but this belongs to "
                         << sitesOf(row->kinds);
  if (!row->takes(given.getValue()))
    return errorAt(site) << "has " << name << " = " << given.getValue()
                         << " but it must be " << row->values;
  return row->verify ? row->verify(site, given.getValue()) : success();
}

} // namespace

InFlightDiagnostic errorAt(const AttributeSite &site) {
  InFlightDiagnostic error = site.op->emitOpError();
  if (site.kind == AttributeSite::argument)
    error << "argument " << site.number << ' ';
  if (site.kind == AttributeSite::result)
    error << "result " << site.number << ' ';
  return error;
}

LogicalResult verifyOnOperation(Operation *op, NamedAttribute given,
                                DiscardableTable table) {
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << "has " << given.getName().getValue()
                             << " but only functions have such attributes";
  return verifyAt({AttributeSite::function, op, 0, Type(),
                   op->getDiscardableAttrDictionary()},
                  given, table);
}

LogicalResult verifyOnArgument(Operation *op, unsigned number,
                               NamedAttribute given, DiscardableTable table) {
  auto function = cast<FunctionOpInterface>(op);
  return verifyAt({AttributeSite::argument, op, number,
                   function.getArgumentTypes()[number],
                   function.getArgAttrDict(number)},
                  given, table);
}

LogicalResult verifyOnResult(Operation *op, unsigned number,
                             NamedAttribute given, DiscardableTable table) {
  auto function = cast<FunctionOpInterface>(op);
  return verifyAt({AttributeSite::result, op, number,
                   function.getResultTypes()[number],
                   function.getResultAttrDict(number)},
                  given, table);
}

bool isUnit(Attribute value) { return isa<UnitAttr>(value); }

bool isName(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty();
}

bool isListOfDictionaries(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<DictionaryAttr>);
}

LogicalResult verifyDictionaries(const AttributeSite &site, StringRef name,
                                 Attribute value, DictionaryKeys keys) {
  for (auto [number, entry] : llvm::enumerate(cast<ArrayAttr>(value))) {
    auto dictionary = cast<DictionaryAttr>(entry);
    auto error = [&, number = number] {
      return errorAt(site) << "has " << name << " whose entry " << number
                           << ' ';
    };
    for (StringRef key : keys.texts)
      if (!isa_and_nonnull<StringAttr>(dictionary.get(key)))
        return error() << "has no string '" << key << "'";
    for (StringRef key : keys.numbers)
      if (Attribute found = dictionary.get(key);
          !found || !isInt64From<0>(found))
        return error() << "has no i64 '" << key << "' of at least 0";
    for (NamedAttribute given : dictionary)
      if (!llvm::is_contained(keys.texts, given.getName().getValue()) &&
          !llvm::is_contained(keys.numbers, given.getName().getValue()))
        return error() << "has a key '" << given.getName().getValue()
                       << "' that no such entry has";
  }
  return success();
}

} // namespace mille

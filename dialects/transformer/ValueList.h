// The nodes of parameters' expressions as classes: a visit with a function
// that takes not all of them does not compile. Must not be kept by hand: ODS
// generates the list of attributes.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <type_traits>

namespace mille::transformer {

template <typename... Attrs> struct ValueList {
  // Calls `function` with the node as its own class.
  template <typename Result, typename Function>
  static Result visit(ParameterValue node, Function &&function) {
    Result result{};
    (void)(visited<Attrs>(node, function, result) || ...);
    return result;
  }

private:
  template <typename Attr, typename Function, typename Result>
  static bool visited(ParameterValue node, Function &function, Result &result) {
    if constexpr (std::is_base_of_v<ParameterValue::Trait<Attr>, Attr>)
      if (auto attr = llvm::dyn_cast<Attr>(node)) {
        result = function(attr);
        return true;
      }
    return false;
  }
};

using Values = ValueList<
#define GET_ATTRDEF_LIST
#include "dialects/transformer/TransformerAttrs.cpp.inc"
    >;

} // namespace mille::transformer

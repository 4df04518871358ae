// Reads and evaluates a formula in one descent. Bounded: nesting is capped, so
// no text of a user's overflows the stack.
#include "dialects/transformer/Formula.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <cmath>

using llvm::StringRef;
using llvm::Twine;

namespace mille::transformer {
namespace {

constexpr int deepest = 64;

class Reader {
public:
  Reader(StringRef text, FormulaName names, std::string &why)
      : rest(text), names(names), why(why) {}

  std::optional<double> read() {
    std::optional<double> value = sum();
    if (value && !next().empty())
      return no("has '" + next().take_front(1) + "' where an operator belongs");
    return value;
  }

private:
  std::optional<double> no(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return std::nullopt;
  }
  StringRef next() { return rest = rest.ltrim(); }
  bool take(char symbol) {
    next();
    return rest.consume_front(StringRef(&symbol, 1));
  }

  // sum = product (('+' | '-') product)*
  std::optional<double> sum() {
    std::optional<double> left = product();
    while (left) {
      bool plus = take('+');
      if (!plus && !take('-'))
        break;
      std::optional<double> right = product();
      if (!right)
        return right;
      *left += plus ? *right : -*right;
    }
    return left;
  }

  // product = sign (('*' | '/') sign)*
  std::optional<double> product() {
    std::optional<double> left = sign();
    while (left) {
      bool times = take('*');
      if (!times && !take('/'))
        break;
      std::optional<double> right = sign();
      if (!right)
        return right;
      *left = times ? *left * *right : *left / *right;
    }
    return left;
  }

  // sign = '-' sign | power; so -2^2 is -4.
  std::optional<double> sign() {
    if (++depth > deepest)
      return no("nests more than " + Twine(deepest) + " deep");
    bool minus = take('-');
    std::optional<double> value = minus ? sign() : power();
    --depth;
    if (value && minus)
      *value = -*value;
    return value;
  }

  // power = atom ('^' sign)?; so 2^3^2 is 2^9 and 2^-1 is a half.
  std::optional<double> power() {
    std::optional<double> base = atom();
    if (!base || !take('^'))
      return base;
    std::optional<double> exponent = sign();
    if (!exponent)
      return exponent;
    return std::pow(*base, *exponent);
  }

  std::optional<double> group() {
    std::optional<double> value = sum();
    if (value && !take(')'))
      return no("lacks a ')'");
    return value;
  }

  std::optional<double> atom() {
    if (take('('))
      return group();
    if (next().empty())
      return no("ends where a number or a name belongs");
    if (llvm::isDigit(rest[0]) || rest[0] == '.')
      return number();
    StringRef name = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (name.empty())
      return no("has '" + rest.take_front(1) +
                "' where a number or a name belongs");
    rest = rest.drop_front(name.size());
    const bool root = name == "sqrt";
    if ((root || name == "ln") && take('(')) {
      std::optional<double> value = group();
      if (value)
        *value = root ? std::sqrt(*value) : std::log(*value);
      return value;
    }
    if (std::optional<double> value = names(name))
      return value;
    return no("names '" + name + "', which has no number");
  }

  std::optional<double> number() {
    size_t size = 0;
    auto digits = [&] {
      while (size < rest.size() && llvm::isDigit(rest[size]))
        ++size;
    };
    digits();
    if (size < rest.size() && rest[size] == '.')
      ++size, digits();
    if (size < rest.size() && (rest[size] == 'e' || rest[size] == 'E')) {
      size_t mantissa = size++;
      if (size < rest.size() && (rest[size] == '-' || rest[size] == '+'))
        ++size;
      size_t exponent = size;
      digits();
      if (size == exponent)
        size = mantissa;
    }
    double value;
    StringRef text = rest.take_front(size);
    if (text.getAsDouble(value))
      return no("has '" + text + "' where a number belongs");
    rest = rest.drop_front(size);
    return value;
  }

  StringRef rest;
  FormulaName names;
  std::string &why;
  int depth = 0;
};

} // namespace

std::optional<double> evaluateFormula(StringRef text, FormulaName names,
                                      std::string &why) {
  return Reader(text, names, why).read();
}

std::optional<double> evaluateFormula(StringRef text,
                                      const llvm::StringMap<double> &names,
                                      std::string &why) {
  return evaluateFormula(
      text,
      [&](StringRef name) -> std::optional<double> {
        auto found = names.find(name);
        if (found == names.end())
          return std::nullopt;
        return found->second;
      },
      why);
}

} // namespace mille::transformer

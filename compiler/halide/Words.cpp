// Loads of pairs get the words' name. Must not be used for words whose place is a
// constant: LLVM is told of such places by the element, which differs.
#include "compiler/halide/Words.h"

#include <map>

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class ShareWords : public IRMutator {
public:
  explicit ShareWords(const std::vector<Words> &all) {
    for (const Words &w : all)
      wordsOf[w.pairs.name()] = w.words.name();
  }

private:
  using IRMutator::visit;

  bool isPairs(const std::string &name) const { return wordsOf.count(name); }

  Expr visit(const Load *op) override {
    auto found = wordsOf.find(op->name);
    if (found == wordsOf.end())
      return IRMutator::visit(op);
    return Load::make(op->type, found->second, mutate(op->index), op->image,
                      op->param, mutate(op->predicate), op->alignment);
  }
  Stmt visit(const ProducerConsumer *op) override {
    if (isPairs(op->name) && op->is_producer)
      return Evaluate::make(0);
    return IRMutator::visit(op);
  }
  Stmt visit(const Allocate *op) override {
    return isPairs(op->name) ? mutate(op->body) : IRMutator::visit(op);
  }
  // Words live as long as what reads their pairs: to the end of their scope.
  Stmt visit(const Free *op) override {
    for (auto &[pairs, words] : wordsOf)
      if (op->name == pairs || op->name == words)
        return Evaluate::make(0);
    return op;
  }

  std::map<std::string, std::string> wordsOf;
};

} // namespace

void readAsPairs(Words &w, const Var &half, const std::vector<Var> &arguments) {
  std::vector<Var> all{half};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<Expr> of(arguments.begin(), arguments.end());
  w.pairs(all) = reinterpret<bfloat16_t>(
      cast<uint16_t>(w.words(of) >> cast<uint32_t>(16 * half)));
}

IRMutator *shareWords(const std::vector<Words> &all) { return new ShareWords(all); }

} // namespace mille

// Writes the header as text: typed functions with shapes in comments, for C99
// and C++. Must not include headers of Mille.
#include "compiler/link/Header.h"
#include "compiler/link/MilleHeaderText.h" // made from runtime/mille.h
#include "dialects/transformer/Identifier.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mille::link {
namespace {

struct Argument {
  std::string name, type, comment;
};

std::string identifier(StringRef name, StringSet<> &taken) {
  std::string result = identifierFrom(name, name.size() + 1);
  while (!taken.insert(result).second)
    result += '_';
  return result;
}

std::string commentOf(const kernel::TensorInfo &info) {
  std::string text = extentsText(info.shape);
  if (info.below)
    text += ", 0 <= value < " + std::to_string(info.below);
  if (info.fallback == "ones" || info.fallback == "zeros")
    text += "; null: all " + info.fallback;
  else if (info.fallback == "positions")
    text += "; null: 0, 1, 2, ... in each sequence";
  else if (!info.fallback.empty())
    text += "; null: the schedule's end";
  return text;
}

std::vector<Argument> argumentsOf(const kernel::Signature &signature) {
  // Names that the function itself uses, and keywords of C and C++.
  StringSet<> taken;
  for (StringRef word :
       {"session", "sizes",   "batch",  "tokens",   "decoder_tokens",
        "inputs",  "outputs", "int",    "float",    "double",
        "long",    "short",   "char",   "default",  "register",
        "class",   "new",     "this",   "template", "switch",
        "return",  "union",   "struct", "static",   "operator"})
    taken.insert(word);
  for (const kernel::SizeInfo &size : signature.sizes)
    taken.insert(size.name);
  std::vector<Argument> arguments;
  for (const kernel::TensorInfo &info : signature.inputs)
    arguments.push_back({identifier(info.name, taken),
                         info.element == kernel::PortElement::f32
                             ? "const float *"
                             : "const int32_t *",
                         commentOf(info)});
  for (const kernel::TensorInfo &info : signature.outputs)
    arguments.push_back(
        {identifier(info.name, taken), "float *", commentOf(info)});
  return arguments;
}

// The sizes that a run of an entry is given.
std::vector<std::string> sizesOf(const kernel::Signature &signature) {
  std::vector<std::string> sizes;
  for (const kernel::SizeInfo &size : signature.sizes)
    if (size.ofRuns && size.isGiven())
      sizes.push_back(size.name);
  return sizes;
}

// A line for each size that follows from others, or has multiples only.
std::string rulesOf(const kernel::Signature &signature) {
  std::string text;
  raw_string_ostream out(text);
  for (const kernel::SizeInfo &size : signature.sizes) {
    if (size.multiple > 1)
      out << "\n * " << size.name << " is a multiple of " << size.multiple
          << ".";
    if (const auto &rule = size.rule)
      out << "\n * " << size.name << " = "
          << (rule->prefix ? std::to_string(rule->prefix) + " + " : "")
          << rule->from[0] << " / " << rule->step[0] << " * (" << rule->from[1]
          << " / " << rule->step[1] << ")"
          << (rule->each > 1 ? " * " + std::to_string(rule->each) : "")
          << (rule->up ? ", rounded up." : ", rounded down.");
  }
  return text;
}

// Describes in the top comment how to create a session.
std::string creationOf(const kernel::Signature &first,
                       const kernel::SharedSignature &shared) {
  bool plain = llvm::all_of(shared.sizes, [](const kernel::SizeInfo &size) {
    return size.name == sizes::batch || size.name == sizes::tokens;
  });
  if (plain)
    return std::string(" *   mille_session_create(package, max_batch, ") +
           (first.size(sizes::tokens) ? "max_tokens" : "0") +
           ", threads, &session);\n";
  std::string text = " *   mille_size most[] = {";
  size_t count = 0;
  for (const kernel::SizeInfo &size : shared.sizes)
    if (size.isGiven())
      text += (count++ ? ", {\"" : "{\"") + size.name + "\", max_" + size.name +
              "}";
  return text + "};\n *   mille_session_create_for(package, most, " +
         std::to_string(count) + ", threads, &session);\n";
}

// Writes a line per scale that follows a schedule.
std::string scalesOf(const kernel::SharedSignature &shared) {
  std::string text;
  raw_string_ostream out(text);
  for (const kernel::ScheduledScale &scale : shared.scales)
    out << " *\n *   mille_session_set_scale(session, \"" << scale.name
        << "\", value); (else from " << transformer::formatDouble(scale.from)
        << " to " << transformer::formatDouble(scale.to) << " over "
        << scale.steps << " steps)\n";
  return text;
}

void writeList(raw_ostream &out, StringRef type, StringRef name,
               ArrayRef<Argument> arguments) {
  out << "  " << type << name << "[] = {";
  interleaveComma(arguments, out,
                  [&](const Argument &argument) { out << argument.name; });
  out << "};\n";
}

// Writes the function that runs entry `number`; NAME_run for the first.
std::string functionName(StringRef name, StringRef entry, size_t number) {
  return (name + "_run" + (number ? "_" + entry : Twine())).str();
}

void writeFunction(raw_ostream &out, StringRef function, size_t number,
                   const kernel::Signature &signature) {
  std::vector<Argument> arguments = argumentsOf(signature);
  std::vector<std::string> sizes = sizesOf(signature);
  out << "/* One run. Shapes are dense, the last dimension innermost; "
      << join(sizes, ", ") << "\n"
      << (sizes.size() == 1 ? " * is" : " * are")
      << " at most what the session was created with." << rulesOf(signature)
      << " */\n"
      << "static inline mille_status\n"
      << function << "(mille_session *session";
  for (const std::string &size : sizes)
    out << ", int64_t " << size;
  for (const Argument &argument : arguments)
    out << ",\n    " << argument.type << argument.name << " /* "
        << argument.comment << " */";
  out << ")\n{\n";
  ArrayRef<Argument> all(arguments);
  size_t inputs = signature.inputs.size();
  writeList(out, "const void *", "inputs", all.take_front(inputs));
  writeList(out, "float *", "outputs", all.drop_front(inputs));
  out << "  mille_size sizes[" << sizes.size() << "];\n";
  for (auto [i, size] : enumerate(sizes))
    out << "  sizes[" << i << "].name = \"" << size << "\";\n"
        << "  sizes[" << i << "].value = " << size << ";\n";
  out << "  return mille_session_run_entry(session, " << number << ", sizes, "
      << sizes.size() << ", inputs, outputs);\n}\n\n";
}

} // namespace

std::vector<std::string> functionsOfMille() {
  std::vector<std::string> names;
  StringSet<> seen;
  StringRef text = milleHeaderText;
  for (size_t at = 0; (at = text.find("mille_", at)) != StringRef::npos;) {
    StringRef name = text.substr(at).take_while(
        [](char c) { return isAlnum(c) || c == '_'; });
    at += name.size();
    if (text.substr(at).starts_with("(") && seen.insert(name).second)
      names.push_back(name.str());
  }
  return names;
}

std::string writeHeader(StringRef name, mlir::Operation *model, bool embedded) {
  std::vector<std::pair<std::string, kernel::Signature>> entries;
  for (mlir::func::FuncOp entry : kernel::entriesOf(model))
    entries.emplace_back(entry.getName(), kernel::signatureOf(entry));
  const kernel::SharedSignature shared = kernel::sharedSignatureOf(model);
  std::string text;
  raw_string_ostream out(text);
  out << "/* " << name << ", compiled by Mille. Link with " << name << ".a (and"
      << " -lm -lpthread) or " << name << ".so.\n"
      << " *\n"
      << " *   mille_package *package;\n"
      << " *   mille_session *session;\n"
      << " *   mille_package_open(" << name << "_model(), "
      << (embedded ? std::string("NULL") : "\"" + name.str() + ".weights\"")
      << ", NULL, &package, NULL, 0);\n"
      << creationOf(entries.front().second, shared);
  for (auto [number, entry] : enumerate(entries))
    out << " *   " << functionName(name, entry.first, number) << "(session, "
        << join(sizesOf(entry.second), ", ") << ", ...);\n";
  out << scalesOf(shared) << " *\n"
      << " * What follows is mille.h, then the model's own functions. */\n"
      << milleHeaderText << "\n"
      << "#ifndef MILLE_MODEL_" << name << "_H\n"
      << "#define MILLE_MODEL_" << name << "_H\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "const struct mille_model *" << name << "_model(void);\n\n";
  for (auto [number, entry] : enumerate(entries))
    writeFunction(out, functionName(name, entry.first, number), number,
                  entry.second);
  out << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace mille::link

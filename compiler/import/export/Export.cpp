// A folder keeps its config and names; a native spec takes those of a family
// with the same program.
#include "compiler/import/export/Export.h"
#include "compiler/import/export/FamilySearch.h"
#include "compiler/import/model/Build.h"
#include "compiler/import/spec/Spec.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

namespace {

Status refuse(StringRef file, const Twine &text, mlir::MLIRContext &context) {
  mlir::emitError(mlir::FileLineColLoc::get(&context, file, 0, 0)) << text;
  return Status::input;
}

// The end of the string that begins at `text[at]`.
size_t endOfString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// The config with weights of f32, which is what is written. All else keeps its
// text: transformers tells 0 from 0.0. The text is JSON, verified before.
std::string inF32(StringRef text) {
  std::string out;
  bool told = false;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char c = text[at];
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    at = c == '"' ? endOfString(text, at) : at + 1;
    const StringRef word = text.slice(begin, at);
    out += word;
    const StringRef rest = text.drop_front(at).ltrim();
    if (depth != 1 || !rest.starts_with(":") ||
        (word != "\"dtype\"" && word != "\"torch_dtype\""))
      continue;
    const StringRef value = rest.drop_front().ltrim();
    at = value.data() - text.data();
    at = value.starts_with("\"") ? endOfString(text, at)
                                 : text.find_first_of(",}", at);
    out += ": \"float32\"";
    told = true;
  }
  if (!told)
    out.insert(out.find('{') + 1, "\n  \"torch_dtype\": \"float32\",");
  return out;
}

Status finish(Problems &problems, Exported &exported) {
  if (problems.tell())
    return Status::done;
  exported.module = nullptr;
  return Status::input;
}

Status describeFolder(StringRef file, mlir::MLIRContext &context,
                      Exported &exported) {
  auto document = json::parseFile(file, context);
  if (!document)
    return Status::input;
  Problems problems;
  StoredTensors tensors;
  if (!tensors.addFolder(llvm::sys::path::parent_path(file), context))
    return Status::input;
  const bool empty = tensors.empty() || tensors.haveOwnNames();
  StoredTensors invented;
  invented.inventAll();
  Config config(*document, problems, context, empty ? nullptr : &tensors);
  const Family *family = familyOf(config, problems);
  ModelSpec spec;
  if (family)
    readConfig(config, *family, spec);
  if (problems.any() || !family)
    return finish(problems, exported);
  FamilyWeights weights(*family, empty ? invented : tensors, spec.at, problems,
                        context);
  exported.module = build(spec, weights, {}, context);
  exported.family = family->modelType.str();
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    // No test has this: the file could be read a moment ago.
    return refuse(file, "cannot read: " + buffer.getError().message(), context);
  exported.config = inF32((*buffer)->getBuffer());
  for (auto model : exported.module->getOps<ModelOp>())
    for (auto op : model.getOps<ParameterOp>())
      exported.parameters.push_back({op.getSymName().str(), 0, op});
  return finish(problems, exported);
}

// What a parameter that only the family has holds, so that it changes nothing.
ExportedParameter filled(StringRef name, const ModelSpec &spec) {
  if (name == "head.weight" && spec.head && spec.head->tied)
    return {"embed.weight", 0, nullptr};
  return {"", name.ends_with(".bias") ? 0.0 : 1.0, nullptr};
}

// The parameters of the family's model beside those of the spec: in the same
// program they come in the same order.
void pairParameters(const ModelSpec &spec, const FamilyTrial &found,
                    mlir::MLIRContext &context, Exported &exported) {
  NoWeights weights(context);
  auto own = build(spec, weights, {}, context),
       widened = build(found.widened, weights, {}, context);
  llvm::StringSet<> known;
  for (const std::string &name : ProgramText(*own).parameters)
    known.insert(name);
  const ProgramText mine(*widened), theirs(*exported.module);
  llvm::StringMap<mlir::Operation *> made;
  for (auto model : exported.module->getOps<ModelOp>())
    for (auto op : model.getOps<ParameterOp>())
      made[op.getSymName()] = op;
  for (auto [name, other] : llvm::zip(mine.parameters, theirs.parameters)) {
    ExportedParameter parameter = known.contains(name)
                                      ? ExportedParameter{name, 0, nullptr}
                                      : filled(name, spec);
    parameter.made = made.lookup(other);
    exported.parameters.push_back(parameter);
  }
}

Status describeNative(StringRef file, mlir::MLIRContext &context,
                      Exported &exported) {
  auto document = json::parseFile(file, context);
  if (!document)
    return Status::input;
  Problems problems;
  ModelSpec spec;
  std::optional<InitRecipe> init;
  readSpec(*document, spec, init, problems, context);
  if (problems.any())
    return finish(problems, exported);
  if (!spec.before.empty())
    return refuse(file,
                  "the spec has an encoder and a decoder but export does "
                  "one stack",
                  context);
  FamilyTrial found;
  if (!FamilySearch(spec, *document, context).run(found)) {
    mlir::InFlightDiagnostic error =
        mlir::emitError(mlir::FileLineColLoc::get(&context, file, 0, 0))
        << "no Hugging Face family that Mille reads has the model's program; "
        << found.family->modelType << " comes nearest";
    error.attachNote() << "only the model has: " << found.difference.first;
    error.attachNote() << "only " << found.family->modelType
                       << " has: " << found.difference.second;
    return Status::input;
  }
  StoredTensors invented;
  invented.inventAll();
  FamilyWeights weights(*found.family, invented, spec.at, problems, context);
  exported.module = build(found.spec, weights, {}, context);
  exported.family = found.family->modelType.str();
  exported.config = configText(found);
  if (!problems.any())
    pairParameters(spec, found, context, exported);
  return finish(problems, exported);
}

} // namespace

Status mille::describeExport(StringRef path, mlir::MLIRContext &context,
                             Exported &exported) {
  context.loadDialect<TransformerDialect, mlir::func::FuncDialect>();
  llvm::SmallString<128> file(path);
  if (llvm::sys::fs::is_directory(path))
    llvm::sys::path::append(file, "config.json");
  if (llvm::sys::path::filename(file) == "config.json")
    return describeFolder(file, context, exported);
  if (file.ends_with(".json"))
    return describeNative(file, context, exported);
  return refuse(path,
                "export takes a native spec (*.json) or a Hugging Face "
                "folder: others name no family",
                context);
}

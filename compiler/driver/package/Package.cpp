// Reads NAME.json of a package, and finds out whether a path leads to a package
// or to a model.
// Must not load code or weights.
#include "compiler/driver/package/Package.h"

#include "compiler/driver/Version.h"
#include "compiler/driver/package/ManifestKeys.h"
#include "compiler/json/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mille;
using llvm::StringRef;

std::string Package::file(StringRef extension) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name + "." + extension);
  return std::string(path);
}

bool Package::hasSize(StringRef size) const {
  return llvm::any_of(sizes, [&](auto &known) { return known.name == size; });
}

int64_t Package::most(StringRef size) const {
  for (const Size &known : sizes)
    if (known.name == size)
      return known.most;
  return 0;
}

const Package::Entry *Package::entry(StringRef name) const {
  for (const Entry &known : entries)
    if (name.empty() || known.name == name)
      return &known;
  return nullptr;
}

std::string Package::entryNames() const {
  std::string names;
  for (const Entry &known : entries)
    names += (names.empty() ? "" : ", ") + known.name;
  return names;
}

const Package::Kernel *Package::kernel(StringRef name) const {
  for (const Kernel &known : kernels)
    if (known.name == name)
      return &known;
  return nullptr;
}

std::string Package::inWords(StringRef name) const {
  const Kernel *known = kernel(name);
  return known ? known->does : name.str();
}

//===-- Members of a JSON object that checkManifest has seen --------------===//
// An absent optional member reads as empty or 0.

static std::string text(const json::Value &object, StringRef key) {
  const json::Member *member = object.find(key);
  return member ? member->value.text : std::string();
}
static int64_t whole(const json::Value &object, StringRef key) {
  const json::Member *member = object.find(key);
  return member && member->value.whole ? member->value.integer : 0;
}
static bool flag(const json::Value &object, StringRef key) {
  const json::Member *member = object.find(key);
  return member && member->value.boolean;
}
static llvm::ArrayRef<json::Value> items(const json::Value &object,
                                         StringRef key) {
  const json::Member *member = object.find(key);
  return member ? llvm::ArrayRef(member->value.items)
                : llvm::ArrayRef<json::Value>();
}

static std::vector<Package::Tensor> tensors(llvm::ArrayRef<json::Value> list) {
  std::vector<Package::Tensor> result;
  for (const json::Value &item : list) {
    Package::Tensor tensor;
    tensor.name = text(item, "name");
    tensor.type = text(item, "type");
    tensor.fallback = text(item, "default");
    tensor.below = whole(item, "below");
    for (const json::Value &extent : items(item, "shape"))
      tensor.shape.push_back(extent.text.empty() ? ShapeExtent(extent.integer)
                                                 : ShapeExtent(extent.text));
    result.push_back(std::move(tensor));
  }
  return result;
}

static double real(const json::Value &object, StringRef key) {
  const json::Member *member = object.find(key);
  return member ? member->value.number : 0;
}

static void readCertificate(const json::Value &body, Certificate &certificate) {
  certificate.wishes.bitExact = flag(body, "bit_exact");
  certificate.wishes.foldSchedules = flag(body, "fold_schedules");
  if (body.find("asked_for")) {
    certificate.wishes.names.emplace();
    for (const json::Value &name : items(body, "asked_for"))
      certificate.wishes.names->push_back(name.text);
  }
  certificate.sample.layers = whole(body, "layers");
  certificate.sample.ofLayers = whole(body, "of_layers");
  certificate.note = text(body, "note");
  for (const json::Value &one : items(body, "measured"))
    certificate.measured.push_back({text(one, "what"), text(one, "inputs"),
                                    text(one, "type"), real(one, "error"),
                                    real(one, "allowed")});
}

static Traffic trafficIn(const json::Value &body) {
  return {whole(body, "kernels"), whole(body, "launches"),
          whole(body, "bytes_per_row"), whole(body, "weight_bytes")};
}

static MemoryUse memoryIn(const json::Value &entry) {
  MemoryUse use;
  for (const json::Value &step : items(entry, "steps"))
    use.steps.push_back({text(step, "kernel"), text(step, "layers")});
  for (const json::Value &buffer : items(entry, "buffers"))
    use.buffers.push_back({whole(buffer, "offset"), whole(buffer, "bytes"),
                           whole(buffer, "first"), whole(buffer, "last")});
  return use;
}

static void readParts(const json::Value &body, Package &package) {
  for (const json::Value &entry : items(body, "entries"))
    package.entries.push_back(
        {text(entry, "name"), tensors(items(entry, "inputs")),
         tensors(items(entry, "outputs")), tensors(items(entry, "states")),
         whole(entry, "arena_bytes_per_row"), memoryIn(entry)});
  for (const json::Value &isa : items(body, "isas"))
    package.isas.push_back({text(isa, "name"), text(isa, "needs")});
  for (const json::Value &kernel : items(body, "kernels")) {
    package.kernels.push_back({text(kernel, "name"),
                               text(kernel, "does"),
                               whole(kernel, "places"),
                               whole(kernel, "flops_per_row"),
                               whole(kernel, "weight_bytes"),
                               {},
                               {},
                               whole(kernel, "row_bytes")});
    for (const json::Value &tile : items(kernel, "tiles"))
      package.kernels.back().tiles.push_back(
          {text(tile, "isa"), text(tile, "tile"), whole(tile, "rank")});
    for (const json::Value &maker : items(kernel, "makers"))
      package.kernels.back().makers.push_back(
          {text(maker, "isa"), text(maker, "generator")});
  }
  for (const json::Value &rewrite : items(body, "rewrites"))
    package.rewrites.push_back(
        {text(rewrite, "name"), text(rewrite, "unit"), text(rewrite, "layers"),
         text(rewrite, "status"), text(rewrite, "reason"), text(rewrite, "law"),
         text(rewrite, "bound"), whole(rewrite, "roundings"),
         text(rewrite, "entry")});
  if (const json::Member *traffic = body.find("traffic"))
    package.traffic = trafficIn(traffic->value);
  if (const json::Member *unscaled = body.find("traffic_unscaled"))
    package.unscaled = trafficIn(unscaled->value);
  if (const json::Member *certificate = body.find("certificate"))
    readCertificate(certificate->value, package.certificate);
  for (const json::Value &fusion : items(body, "fusions"))
    package.fusions.push_back(
        {text(fusion, "boundary"), text(fusion, "unit"), text(fusion, "layers"),
         text(fusion, "status"), text(fusion, "reason"),
         whole(fusion, "bytes_saved"), whole(fusion, "launches_saved"),
         text(fusion, "entry")});
  for (const json::Value &layers : items(body, "bodies"))
    package.bodies.push_back(
        {whole(layers, "stack"), whole(layers, "body"), text(layers, "layers"),
         text(layers, "difference"), text(layers, "entry")});
}

static Status readManifest(const json::Document &document,
                           mlir::MLIRContext &context, Package &package) {
  const json::Member *member = document.root.find("mille_package");
  const json::Value &body = member->value;
  if (int64_t version = whole(body, "version");
      body.kind == json::Kind::object && version != packageVersion) {
    mlir::emitError(document.locate(member->at, context))
        << "package version is " << version << " but this mille reads version "
        << packageVersion;
    return Status::input;
  }
  if (!checkManifest(document, context))
    return Status::input;
  StringRef stem = llvm::sys::path::stem(document.path);
  package.folder = llvm::sys::path::parent_path(document.path).str();
  if (package.folder.empty())
    package.folder = ".";
  package.name = text(body, "name");
  if (package.name != stem) {
    mlir::emitError(document.locate(member->at, context))
        << "name is '" << package.name << "' but the file is named '" << stem
        << "'";
    return Status::input;
  }
  if (const json::Member *model = body.find("model")) {
    package.modelPath = text(model->value, "path");
    package.modelFolder = text(model->value, "folder");
    package.modelHash = text(model->value, "hash");
  }
  std::string must;
  package.dtype = *DtypeChoice::parse(text(body, "dtype"), must);
  package.cache = text(body, "cache");
  package.calibrate = text(body, "calibrate");
  package.hiddenStates = flag(body, "hidden_states");
  package.embedded = flag(body, "weights_embedded");
  for (const json::Value &size : items(body, "sizes"))
    package.sizes.push_back({text(size, "name"), whole(size, "most"),
                             whole(size, "own"),
                             std::max<int64_t>(1, whole(size, "multiple")),
                             whole(size, "least"), !size.find("from")});
  package.scratchBytes = whole(body, "scratch_bytes_per_thread");
  package.scratchBytesPerToken =
      whole(body, "scratch_bytes_per_thread_and_token");
  package.parameters = whole(body, "parameters");
  package.weightsBytes = whole(body, "weights_bytes");
  package.codeBytes = whole(body, "code_bytes");
  if (const json::Member *generation = body.find("generation"))
    package.generation = rulesIn(generation->value);
  readParts(body, package);
  return Status::done;
}

// Whether the file looks like a manifest: it has writeManifest's first key.
static bool saysPackage(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, 256, 0);
  if (!buffer) // the file is shorter
    buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return false;
  StringRef start = (*buffer)->getBuffer().ltrim();
  return start.consume_front("{") &&
         start.ltrim().starts_with("\"mille_package\"");
}

static std::vector<std::string> manifestsIn(StringRef folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(folder, error), end;
       at != end && !error; at.increment(error))
    if (StringRef(at->path()).ends_with(".json") && saysPackage(at->path()))
      found.push_back(at->path());
  llvm::sort(found);
  return found;
}

static Status wrong(mlir::MLIRContext &context, StringRef path,
                    const llvm::Twine &text) {
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << text;
  return Status::input;
}

Status mille::findSubject(StringRef path, mlir::MLIRContext &context,
                          Subject &subject, Package &package) {
  subject = Subject::model;
  if (!llvm::sys::fs::exists(path))
    return wrong(context, path, "there is no such file or folder");
  std::vector<std::string> manifests;
  if (llvm::sys::fs::is_directory(path)) {
    if (llvm::sys::fs::exists(path + "/config.json"))
      return Status::done;
    manifests = manifestsIn(path);
    if (manifests.empty())
      return wrong(
          context, path,
          "the folder is neither a model (it has no config.json) nor a "
          "package (no NAME.json in it says mille_package)");
  } else if (path.ends_with(".json") && saysPackage(path.str())) {
    manifests.push_back(path.str());
  } else {
    return Status::done;
  }
  if (manifests.size() > 1) {
    auto error = mlir::emitError(mlir::UnknownLoc::get(&context))
                 << "the folder " << path << " holds " << manifests.size()
                 << " packages but one is needed";
    error.attachNote() << "help: name one: " << manifests.front();
    return Status::commandLine;
  }
  subject = Subject::package;
  auto document = json::parseFile(manifests.front(), context);
  if (!document)
    return Status::input;
  return readManifest(*document, context, package);
}

Status mille::findPackage(StringRef path, mlir::MLIRContext &context,
                          Package &package) {
  Subject subject;
  if (Status status = findSubject(path, context, subject, package);
      failed(status))
    return status;
  if (subject == Subject::package)
    return Status::done;
  auto error = mlir::emitError(mlir::UnknownLoc::get(&context))
               << "'" << path
               << "' is a model but this command takes a package";
  error.attachNote() << "help: mille compile " << path << " -o DIR";
  return Status::commandLine;
}

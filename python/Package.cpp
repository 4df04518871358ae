// A package and what it says of itself. Must not run anything.
#include "Arrays.h"

using namespace mille_python;

Tensor::Tensor(const mille_tensor &tensor)
    : name(tensor.name), type(tensor.type), optional(tensor.optional != 0) {
  for (int i = 0; i < tensor.rank; ++i) {
    shape.push_back(tensor.shape[i]);
    sizes.push_back(tensor.sizes[i] ? tensor.sizes[i] : "");
  }
}

nb::tuple Tensor::dimensions() const {
  nb::list list;
  for (size_t i = 0; i < shape.size(); ++i)
    if (sizes[i].empty())
      list.append(shape[i]);
    else
      list.append(sizes[i]);
  return nb::tuple(list);
}

Package::Package(const nb::object &given) {
  const std::string name = takePath(given);
  nb::object whole = nb::module_::import_("os.path").attr("abspath")(
      nb::bytes(name.data(), name.size()));
  path = nb::cast<nb::bytes>(whole).c_str();
  char message[512] = "";
  mille_package *opened = nullptr;
  mille_status status;
  {
    nb::gil_scoped_release released;
    status = mille_package_open_folder(name.c_str(), nullptr, &opened, message,
                                       sizeof message);
  }
  check(status, message);
  owner.reset(opened, mille_package_close);
  readEntries();
}

void Package::readEntries() {
  mille_package *package = owner.get();
  size_t count = 0;
  check(mille_package_entry_count(package, &count),
        mille_package_message(package));
  for (size_t i = 0; i < count; ++i) {
    mille_entry_info info;
    check(mille_package_entry(package, i, &info),
          mille_package_message(package));
    Entry entry{info.name, {}, {}};
    mille_tensor tensor;
    for (size_t k = 0; k < info.inputs; ++k) {
      check(mille_package_entry_input(package, i, k, &tensor),
            mille_package_message(package));
      entry.inputs.emplace_back(tensor);
    }
    for (size_t k = 0; k < info.outputs; ++k) {
      check(mille_package_entry_output(package, i, k, &tensor),
            mille_package_message(package));
      entry.outputs.emplace_back(tensor);
    }
    list.push_back(std::move(entry));
  }
}

std::string Package::name() const {
  mille_package *package = owner.get();
  const char *text = "";
  check(mille_package_name(package, &text), mille_package_message(package));
  return text;
}

nb::object Package::folder() const {
  return nb::module_::import_("os").attr("fsdecode")(
      nb::bytes(path.data(), path.size()));
}

nb::object Package::manifest() const {
  nb::object folders = nb::module_::import_("os.path"), place = folder();
  if (!nb::cast<bool>(folders.attr("isdir")(place)))
    place = folders.attr("dirname")(place);
  nb::object file = folders.attr("join")(place, name() + ".json");
  return nb::module_::import_("mille.manifests").attr("read")(file);
}

std::string Package::isa() const {
  mille_package *package = owner.get();
  const char *text = "";
  check(mille_package_isa(package, &text), mille_package_message(package));
  return text;
}

uint64_t Package::weightsBytes() const {
  mille_package *package = owner.get();
  uint64_t bytes = 0;
  check(mille_package_weights_bytes(package, &bytes),
        mille_package_message(package));
  return bytes;
}

std::map<std::string, int64_t> Package::sizes() const {
  mille_package *package = owner.get();
  size_t count = 0;
  check(mille_package_size_count(package, &count),
        mille_package_message(package));
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    const char *name;
    int64_t most;
    check(mille_package_size(package, i, &name, &most),
          mille_package_message(package));
    sizes[name] = most;
  }
  return sizes;
}

std::unique_ptr<Session>
Package::session(const nb::object &batch, const nb::object &tokens, int threads,
                 const std::optional<std::string> &device,
                 const nb::kwargs &others) const {
  const Sizes sizes = takeSizes(batch, tokens, others);
  const std::vector<mille_size> most = valuesOf(sizes);
  mille_package *package = owner.get();
  mille_session *session = nullptr;
  mille_status status;
  {
    nb::gil_scoped_release released;
    status =
        mille_session_create_on(package, most.data(), most.size(), threads,
                                device ? device->c_str() : nullptr, &session);
  }
  check(status, mille_package_message(package));
  return std::make_unique<Session>(owner, session, list);
}

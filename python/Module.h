// The classes of the Python module. Must not compute on a tensor's values.
#pragma once
#include "Turn.h"
#include "loader/mille_loader.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace mille_python {
namespace nb = nanobind;

// Raises the exception of mille.errors for a status that is not MILLE_OK.
void check(mille_status status, const char *message);
// A path of Python's (text, bytes or what has __fspath__) as C takes it.
std::string takePath(const nb::object &given);

// A mille_tensor that outlives its package.
struct Tensor {
  std::string name;
  mille_type type;
  std::vector<int64_t> shape;     // 0 where a size stands
  std::vector<std::string> sizes; // "" where there is none
  bool optional;

  explicit Tensor(const mille_tensor &tensor);
  nb::tuple dimensions() const; // ("batch", "tokens", 64)
};

struct Entry {
  std::string name;
  std::vector<Tensor> inputs, outputs;
};

class Session;

class Package {
public:
  explicit Package(const nb::object &path);
  std::shared_ptr<mille_package> handle() const { return owner; }
  nb::object manifest() const; // NAME.json
  nb::object folder() const;   // or NAME.so
  std::string name() const;
  std::string isa() const;
  uint64_t weightsBytes() const;
  std::map<std::string, int64_t> sizes() const;
  const std::vector<Entry> &entries() const { return list; }
  // batch and tokens: None where the caller gives neither by place nor name.
  std::unique_ptr<Session> session(const nb::object &batch,
                                   const nb::object &tokens, int threads,
                                   const std::optional<std::string> &device,
                                   const nb::kwargs &others) const;

private:
  void readEntries();

  std::shared_ptr<mille_package> owner;
  std::string path; // absolute
  std::vector<Entry> list;
};

class Session {
public:
  Session(std::shared_ptr<mille_package> package, mille_session *session,
          std::vector<Entry> entries)
      : package(std::move(package)), session(session),
        entries(std::move(entries)) {}
  ~Session() { mille_session_close(session); }
  Session(const Session &) = delete;

  nb::dict run(const std::string &entry, const nb::object &out,
               const nb::kwargs &arrays);
  void cancel() { mille_session_cancel(session); }

private:
  std::shared_ptr<mille_package> package;
  mille_session *session;
  std::vector<Entry> entries;
  Running running; // one run at a time
};

} // namespace mille_python

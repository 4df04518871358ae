// Statuses become exceptions of mille.errors. Must not shorten a sentence.
#include "Module.h"
#include <cstring>

using namespace mille_python;

void mille_python::check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  nb::module_ errors = nb::module_::import_("mille.errors");
  const char *text = message && *message ? message : mille_status_name(status);
  // A message may quote a path of any bytes.
  nb::object sentence = nb::steal(
      PyUnicode_DecodeUTF8(text, Py_ssize_t(strlen(text)), "surrogateescape"));
  nb::object error = errors.attr("of_status")(int(status), sentence);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

void mille_python::refuse(const std::string &sentence) {
  check(MILLE_INVALID_ARGUMENT, sentence.c_str());
  throw nb::value_error(sentence.c_str());
}

std::string mille_python::takePath(const nb::object &given) {
  std::string path;
  try {
    nb::object name = nb::module_::import_("os").attr("fsencode")(given);
    nb::bytes bytes = nb::cast<nb::bytes>(name);
    path.assign(bytes.c_str(), bytes.size());
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
    refuse("the path is " + nb::cast<std::string>(nb::repr(given)) +
           " but must be text, bytes or a pathlib.Path");
  }
  if (path.find('\0') != std::string::npos)
    refuse("the path " + nb::cast<std::string>(nb::repr(given)) +
           " has a zero byte");
  return path;
}

// Statuses become exceptions of mille.errors. Must not shorten a sentence.
#include "Module.h"

using namespace mille_python;

void mille_python::check(mille_status status, const char *message) {
  if (status == MILLE_OK)
    return;
  nb::module_ errors = nb::module_::import_("mille.errors");
  nb::object type =
      errors.attr("by_status")
          .attr("get")(int(status), errors.attr("InvalidArgument"));
  std::string text = message && *message ? message : mille_status_name(status);
  PyErr_SetString(type.ptr(), text.c_str());
  throw nb::python_error();
}

void mille_python::refuse(const std::string &sentence) {
  check(MILLE_INVALID_ARGUMENT, sentence.c_str());
  throw nb::value_error(sentence.c_str());
}

// Rewrites the heads of OpenCL kernels. Halide gives each buffer a memory object
// of its own, whose start must be aligned as the device says; here it is a place
// in one.
#include "compiler/halide/DeviceSource.h"

#include <sstream>

namespace mille {

// ` SPACE const float *restrict _input,` becomes `... _input_object, const ulong
// _input_first,`, and the body begins with `SPACE const float *_input = ...;`. The
// place is in bytes: a kernel may read words where a buffer has halves.
std::string withOffsets(const std::string &source) {
  std::istringstream lines(source);
  std::string line, result, places;
  const std::string pointer = "*restrict ";
  const std::string wait = "barrier(";
  bool head = false;
  while (std::getline(lines, line)) {
    head |= line.compare(0, 14, "__kernel void ") == 0;
    size_t at = line.find(pointer);
    if (head && at != std::string::npos) {
      size_t end = line.find_first_of(",)", at);
      if (end == std::string::npos)
        return "";
      std::string name = line.substr(at + pointer.size(), end - at - pointer.size());
      const std::string type = line.substr(0, at); // " SPACE const float "
      const std::string space = type.substr(0, type.find(' ', 1));
      const std::string bytes = space + (type.find(" const ") < at ? " const char *" : " char *");
      places += type + pointer + name + " = (" + type + "*)((" + bytes + ")" + name +
                "_object + " + name + "_first);\n";
      line = line.substr(0, end) + "_object,\n const ulong " + name + "_first" +
             line.substr(end);
    }
    // Local memory is used again where only global memory has been waited for.
    if (size_t at = line.find(wait); at != std::string::npos)
      line = line.substr(0, at) + wait +
             "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    result += line + "\n";
    if (head && !line.empty() && line[0] == '{') {
      result += places;
      places.clear();
      head = false;
    }
  }
  return places.empty() ? result : "";
}

} // namespace mille

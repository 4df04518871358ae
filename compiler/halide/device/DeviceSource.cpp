// Rewrites the heads of OpenCL kernels: Halide gives each buffer a memory
// object of its own, whose start must be aligned as the device demands; here a
// buffer becomes a place in a larger memory object. Must not change bodies of
// kernels.
#include "compiler/halide/device/DeviceSource.h"

#include <sstream>

namespace mille {

namespace {

// ` SPACE const float *restrict _input,`
struct Pointer {
  std::string type, name; // " SPACE const float ", "_input"
  size_t nameEnd = 0;     // in the line

  bool read(const std::string &line) {
    const std::string mark = "*restrict ";
    const size_t at = line.find(mark);
    if (at == std::string::npos)
      return false;
    nameEnd = line.find_first_of(",)", at);
    type = line.substr(0, at);
    if (nameEnd != std::string::npos)
      name = line.substr(at + mark.size(), nameEnd - at - mark.size());
    return true;
  }
  bool ofExpertRows() const { return name.find(expertRowsName) == 1; }
  // The address of its first byte, in its own space.
  std::string first() const {
    const std::string space = type.substr(0, type.find(' ', 1));
    const bool isConst = type.find(" const ") != std::string::npos;
    return "(" + space + (isConst ? " const" : "") + " char *)" + name +
           "_object + " + name + "_first";
  }
  std::string declare(const std::string &more) const {
    return type + "*restrict " + name + " = (" + type + "*)(" + first() + more +
           ");\n";
  }
};

// The beginning of a work-group: it finds its expert, and its number among the
// groups of that expert. Groups that are left over belong to the last expert,
// past its rows: they read its last row, write nothing, and may return at once.
// Where barriers follow they stay, because PoCL 3.1 would lose results of other
// groups.
std::string findExpert(const Pointer &starts, const ExpertGroups &groups) {
  std::ostringstream text;
  text << " int mille_group = get_group_id(1), mille_expert = 0;\n"
       << starts.type << "*mille_starts = (" << starts.type << "*)("
       << starts.first() << ");\n"
       << " for (; mille_expert < " << groups.experts - 1
       << "; ++mille_expert) {\n"
       << "  const int mille_groups = (mille_starts[mille_expert + 1] -\n"
       << "   mille_starts[mille_expert] + " << groups.rows - 1 << ") / "
       << groups.rows << ";\n"
       << "  if (mille_group < mille_groups)\n   break;\n"
       << "  mille_group -= mille_groups;\n }\n"
       << " const ulong mille_first = mille_starts[mille_expert];\n"
       << " const int " << starts.name << "[1] =\n"
       << "  {mille_starts[mille_expert + 1] - mille_starts[mille_expert]};\n";
  if (groups.itemRows)
    text << " if (mille_group * " << groups.rows << " + (int)get_local_id(1) * "
         << groups.itemRows << " >= " << starts.name << "[0])\n  return;\n";
  else
    text << "#ifndef POCL_DEVICE_ADDRESS_BITS\n if (mille_group * "
         << groups.rows << " >= " << starts.name << "[0])\n  return;\n#endif\n";
  return text.str();
}

bool replaceOnly(std::string &text, const std::string &what,
                 const std::string &by) {
  const size_t at = text.find(what);
  if (at == std::string::npos || text.find(what, at + 1) != std::string::npos)
    return false;
  text.replace(at, what.size(), by);
  return true;
}

} // namespace

// A pointer becomes `... _input_object, const ulong _input_first,`, and the
// body begins with `SPACE const float *_input = ...;`. The place is in bytes: a
// kernel may read words where a buffer has halves.
std::string withOffsets(const std::string &source,
                        const ExpertGroups &experts) {
  std::string line, result, places, find, text = source;
  if (experts.experts && !replaceOnly(text, "get_group_id(1)", "mille_group"))
    return "";
  std::istringstream lines(text);
  const std::string wait = "barrier(";
  bool head = false;
  while (std::getline(lines, line)) {
    head |= line.compare(0, 14, "__kernel void ") == 0;
    if (Pointer pointer; head && pointer.read(line)) {
      if (pointer.name.empty())
        return "";
      std::string numbers = "_object,\n const ulong " + pointer.name + "_first";
      if (experts.experts && pointer.ofExpertRows()) {
        find = findExpert(pointer, experts);
      } else if (experts.experts) {
        numbers += ",\n const ulong " + pointer.name + "_row,\n const ulong " +
                   pointer.name + "_entry";
        places +=
            pointer.declare(" + mille_first * " + pointer.name +
                            "_row + mille_expert * " + pointer.name + "_entry");
      } else {
        places += pointer.declare("");
      }
      line = line.substr(0, pointer.nameEnd) + numbers +
             line.substr(pointer.nameEnd);
    }
    // Local memory is reused after a barrier that waits for global memory only.
    if (size_t at = line.find(wait); at != std::string::npos) {
      if (experts.itemRows)
        return ""; // work-items that returned would miss the barrier
      line = line.substr(0, at) + wait +
             "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    }
    result += line + "\n";
    if (head && !line.empty() && line[0] == '{') {
      if (experts.experts && find.empty())
        return "";
      result += find + places;
      places.clear();
      head = false;
    }
  }
  return places.empty() ? result : "";
}

} // namespace mille

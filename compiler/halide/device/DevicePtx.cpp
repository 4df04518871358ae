// Rewrites the PTX of Halide line by line. A line of another form than expected
// ends it, so that a new version of Halide fails instead of computing wrongly.
// Must not change the arithmetic of kernels.
#include "compiler/halide/device/DevicePtx.h"

#include "compiler/halide/device/DeviceSource.h"

#include <cctype>
#include <sstream>

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

class RunCalls : public IRVisitor {
public:
  EntryArguments entries;

private:
  using IRVisitor::visit;
  void visit(const Call *op) override {
    IRVisitor::visit(op);
    if (op->name != "halide_cuda_run")
      return;
    std::vector<const Call *> structs;
    const StringImm *entry = nullptr;
    for (const Expr &argument : op->args) {
      if (auto *text = argument.as<StringImm>())
        entry = text;
      if (const Call *call = argument.as<Call>();
          call && call->is_intrinsic(Call::make_struct))
        structs.push_back(call);
    }
    // Sizes, arguments, and which of these are buffers; each ends with a 0.
    if (!entry || structs.size() != 3)
      return;
    std::vector<std::string> &names = entries[entry->value];
    for (const Expr &argument : structs[1]->args) {
      const Variable *buffer = argument.as<Variable>();
      names.push_back(buffer ? buffer->name : "");
    }
    names.pop_back();
  }
};

CompileError unexpected(const std::string &what) {
  return CompileError("the device's kernels are not written as expected: " +
                      what);
}

std::string withoutComment(const std::string &line) {
  std::string text = line.substr(0, line.find("//"));
  while (!text.empty() && isspace((unsigned char)text.back()))
    text.pop_back();
  return text;
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

void replaceAll(std::string &text, const std::string &what,
                const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += by.size())
    text.replace(at, what.size(), by);
}

bool isName(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

// Whether the line has this register, and not only one that begins like it.
bool uses(const std::string &line, const std::string &name) {
  if (name.empty())
    return false;
  for (size_t at = 0; (at = line.find(name, at)) != std::string::npos; ++at)
    if (at + name.size() == line.size() || !isName(line[at + name.size()]))
      return true;
  return false;
}

// What lies between two texts, if the line is `before` NAME `after`.
std::string between(const std::string &line, const std::string &before,
                    const std::string &after) {
  if (line.compare(0, before.size(), before) != 0 ||
      line.size() <= before.size() + after.size() ||
      line.compare(line.size() - after.size(), after.size(), after) != 0)
    return "";
  std::string name =
      line.substr(before.size(), line.size() - before.size() - after.size());
  for (char c : name)
    if (!isName(c))
      return "";
  return name;
}

// One entry's text: its head up to "{", then its body.
class EntryText {
public:
  EntryText(const std::vector<std::string> &arguments,
            const ExpertGroups &experts)
      : arguments(arguments), experts(experts) {
    for (size_t a = 0; a < arguments.size() && experts.experts; ++a)
      if (arguments[a].find(expertRowsName) == 0)
        starts = int(a);
    if (experts.experts && starts < 0)
      throw unexpected("no number of an expert's rows");
  }

  std::string rewritten(const std::string &name,
                        const std::vector<std::string> &lines);

private:
  static std::string parameter(size_t a) {
    return "mille_argument" + std::to_string(a);
  }
  bool moves(size_t a) const {
    return experts.experts && int(a) != starts && !arguments[a].empty();
  }
  void addParameters();
  void addStart();
  void readStarts(const std::vector<std::string> &lines);
  bool addOfStarts(const std::string &line);
  void addShared(const std::string &line);
  void add(std::string line);

  const std::vector<std::string> &arguments;
  const ExpertGroups &experts;
  int starts = -1;                           // the argument
  std::string startsAddress, startsInGlobal; // its registers
  bool sawGroup = false, sawRows = false;
  std::ostringstream text;
};

void EntryText::addParameters() {
  for (size_t a = 0; a < arguments.size(); ++a)
    if (moves(a))
      text << ",\n.param .u64 " << parameter(a) << "_row,\n.param .u64 "
           << parameter(a) << "_entry";
}

// Where a block begins. It finds its expert, and its number among the blocks of
// that expert. Blocks that are left over end at once, all of their threads.
void EntryText::addStart() {
  text << ".reg .b64 %mille_shared, %mille_at;\n"
       << "mov.u64 %mille_shared, mille_shared;\n";
  if (!experts.experts)
    return;
  text << ".reg .pred %mille_is;\n"
       << ".reg .b32 %mille_group, %mille_expert, %mille_begin, %mille_end, "
          "%mille_rows, %mille_groups;\n"
       << ".reg .b64 %mille_starts, %mille_first, %mille_number, "
          "%mille_step;\n"
       << "mov.u32 %mille_group, %ctaid.y;\n"
       << "mov.u32 %mille_expert, 0;\n"
       << "ld.param.u64 %mille_starts, [" << parameter(starts) << "];\n"
       << "cvta.to.global.u64 %mille_starts, %mille_starts;\n"
       << "ld.global.u32 %mille_begin, [%mille_starts];\n"
       << "$mille_next:\n"
       << "ld.global.u32 %mille_end, [%mille_starts+4];\n"
       << "sub.s32 %mille_rows, %mille_end, %mille_begin;\n"
       << "add.s32 %mille_groups, %mille_rows, " << experts.rows - 1 << ";\n"
       << "div.s32 %mille_groups, %mille_groups, " << experts.rows << ";\n"
       << "setp.lt.s32 %mille_is, %mille_group, %mille_groups;\n"
       << "@%mille_is bra $mille_found;\n"
       << "sub.s32 %mille_group, %mille_group, %mille_groups;\n"
       << "mov.u32 %mille_begin, %mille_end;\n"
       << "add.s64 %mille_starts, %mille_starts, 4;\n"
       << "add.s32 %mille_expert, %mille_expert, 1;\n"
       << "setp.lt.s32 %mille_is, %mille_expert, " << experts.experts << ";\n"
       << "@%mille_is bra $mille_next;\n"
       << "ret;\n"
       << "$mille_found:\n"
       << "cvt.s64.s32 %mille_first, %mille_begin;\n"
       << "cvt.s64.s32 %mille_number, %mille_expert;\n";
  for (size_t a = 0; a < arguments.size(); ++a)
    if (moves(a))
      text << ".reg .b64 %mille_place" << a << ";\n"
           << "ld.param.u64 %mille_step, [" << parameter(a) << "_row];\n"
           << "mul.lo.s64 %mille_place" << a << ", %mille_first, %mille_step;\n"
           << "ld.param.u64 %mille_step, [" << parameter(a) << "_entry];\n"
           << "mad.lo.s64 %mille_place" << a
           << ", %mille_number, %mille_step, %mille_place" << a << ";\n";
}

// The registers that hold the address of the expert's number of rows.
void EntryText::readStarts(const std::vector<std::string> &lines) {
  for (const std::string &line : lines) {
    if (std::string its = between(line, "\tld.param.b64 \t",
                                  ", [" + parameter(starts) + "];");
        !its.empty())
      startsAddress = its;
    if (!startsAddress.empty())
      if (std::string its = between(line, "\tcvta.to.global.u64 \t",
                                    ", " + startsAddress + ";");
          !its.empty())
        startsInGlobal = its;
  }
  if (startsInGlobal.empty())
    throw unexpected("no address of an expert's rows");
}

// What reads the expert's number of rows gets the one that the block found.
bool EntryText::addOfStarts(const std::string &line) {
  if (starts < 0 || !(uses(line, parameter(starts)) ||
                      uses(line, startsAddress) || uses(line, startsInGlobal)))
    return false;
  const std::string &global = startsInGlobal;
  if (line == "\tld.param.b64 \t" + startsAddress + ", [" + parameter(starts) +
                  "];" ||
      line == "\tcvta.to.global.u64 \t" + global + ", " + startsAddress + ";")
    return true;
  std::string number;
  for (const char *load : {"\tld.global.nc.b32 \t", "\tld.global.b32 \t"})
    if (number.empty())
      number = between(line, load, ", [" + global + "];");
  if (number.empty())
    throw unexpected(line);
  text << "mov.b32 " << number << ", %mille_rows;\n";
  return sawRows = true;
}

// `ld.shared.b32 %r1, [%rd1+4];` or `st.shared...`, at a register or a number.
void EntryText::addShared(const std::string &line) {
  const size_t open = line.find('['), close = line.find(']');
  if ((line.compare(0, 11, "\tld.shared.") != 0 &&
       line.compare(0, 11, "\tst.shared.") != 0) ||
      close == std::string::npos || open > close)
    throw unexpected(line);
  const std::string place = line.substr(open + 1, close - open - 1);
  const size_t plus = std::min(place.find('+'), place.size());
  if (place.compare(0, 3, "%rd") == 0)
    text << "add.s64 %mille_at, %mille_shared, " << place.substr(0, plus)
         << ";\n"
         << line.substr(0, open + 1) << "%mille_at" << place.substr(plus)
         << line.substr(close) << "\n";
  else if (!place.empty() && isdigit((unsigned char)place[0]))
    text << line.substr(0, open + 1) << "%mille_shared+" << place
         << line.substr(close) << "\n";
  else
    throw unexpected(line);
}

void EntryText::add(std::string line) {
  if (has(line, "shared"))
    return addShared(line);
  if (addOfStarts(line))
    return;
  if (experts.experts && has(line, "%ctaid.y")) {
    replaceAll(line, "%ctaid.y", "%mille_group");
    sawGroup = true;
  }
  text << line << "\n";
  for (size_t a = 0; a < arguments.size(); ++a)
    if (moves(a) && uses(line, parameter(a))) {
      const std::string address =
          between(line, "\tld.param.b64 \t", ", [" + parameter(a) + "];");
      if (address.empty())
        throw unexpected(line);
      text << "add.s64 " << address << ", " << address << ", %mille_place" << a
           << ";\n";
    }
}

std::string EntryText::rewritten(const std::string &name,
                                 const std::vector<std::string> &lines) {
  size_t at = 0, parameters = 0;
  for (; at < lines.size() && lines[at] != "{"; ++at) {
    parameters += has(lines[at], ".param ");
    if (lines[at] == ")")
      addParameters();
    text << (at ? "\n" : "") << lines[at];
  }
  if (parameters != arguments.size())
    throw unexpected(name + " has other parameters than arguments");
  if (starts >= 0)
    readStarts(lines);
  text << "\n{\n";
  for (++at; at < lines.size() && lines[at].compare(0, 2, "\t.") == 0; ++at)
    text << lines[at] << "\n";
  addStart();
  for (; at < lines.size(); ++at)
    add(lines[at]);
  if (experts.experts && !(sawGroup && sawRows))
    throw unexpected(name + " does not ask for its group and its rows");
  return text.str();
}

} // namespace

std::string placedPtx(const std::string &source, const EntryArguments &entries,
                      const ExpertGroups &experts) {
  const std::string head = ".visible .entry ";
  std::istringstream lines(source);
  std::string line, result, name;
  std::vector<std::string> entry; // the lines of the one that is read
  size_t found = 0;
  while (std::getline(lines, line)) {
    line = withoutComment(line);
    if (line.empty())
      continue;
    if (line.compare(0, head.size(), head) == 0) {
      name = line.substr(head.size(), line.find('(') - head.size());
      // No kernel of a module has static memory of its own.
      if (!found++)
        result += ".extern .shared .align 16 .b8 mille_shared[];\n";
    }
    if (name.empty()) {
      if (has(line, "shared") || has(line, ".func"))
        throw unexpected(line);
      result += line + "\n";
      continue;
    }
    replaceAll(line, name + "_param_", "mille_argument");
    entry.push_back(line);
    if (line == "}") {
      auto arguments = entries.find(name);
      if (arguments == entries.end())
        throw unexpected(name + " is never run");
      result += EntryText(arguments->second, experts).rewritten(name, entry);
      entry.clear();
      name.clear();
    }
  }
  if (!found || !name.empty() || (experts.experts && found != 1))
    throw unexpected("no entry, or not a whole one");
  return result;
}

EntryArguments argumentsOf(const Module &module) {
  RunCalls calls;
  for (const LoweredFunc &function : module.functions())
    function.body.accept(&calls);
  return calls.entries;
}

} // namespace mille

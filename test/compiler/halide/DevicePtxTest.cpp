// The rewriting of PTX: shared memory in a declared array, the places of
// experts, and refusals of what is not written as expected.
//
// RUN: %programs/kernel-ptx plain | FileCheck %s
// CHECK: .target sm_70
// CHECK: .extern .shared .align 16 .b8 mille_shared[];
// CHECK: .visible .entry one(
// CHECK-NEXT: .param .u64 .ptr .align 1 mille_argument0,
// CHECK-NEXT: .param .u32 mille_argument1
// CHECK-NEXT: )
// CHECK-NEXT: {
// CHECK: mov.u64 %mille_shared, mille_shared;
// CHECK-NOT: mille_group
// CHECK: ld.param.b64 %rd1, [mille_argument0];
// CHECK-NEXT: cvta.to.global.u64 %rd2, %rd1;
// CHECK-NEXT: mov.u32 %r1, %ctaid.y;
// CHECK: add.s64 %mille_at, %mille_shared, %rd3;
// CHECK-NEXT: ld.shared.v2.b32 {%r2, %r3}, [%mille_at+-16];
// CHECK-NEXT: st.shared.b32 [%mille_shared+64], %r2;
// CHECK-NOT: //
//
// RUN: %programs/kernel-ptx experts | FileCheck %s --check-prefix=EXPERTS
// EXPERTS: .param .u32 mille_argument2,
// EXPERTS-NEXT: .param .u64 mille_argument1_row,
// EXPERTS-NEXT: .param .u64 mille_argument1_entry
// EXPERTS-NEXT: )
// EXPERTS: mov.u32 %mille_group, %ctaid.y;
// EXPERTS: ld.param.u64 %mille_starts, [mille_argument0];
// EXPERTS: add.s32 %mille_groups, %mille_rows, 15;
// EXPERTS-NEXT: div.s32 %mille_groups, %mille_groups, 16;
// EXPERTS: setp.lt.s32 %mille_is, %mille_expert, 4;
// EXPERTS-NEXT: @%mille_is bra $mille_next;
// EXPERTS-NEXT: ret;
// EXPERTS: mad.lo.s64 %mille_place1, %mille_number, %mille_step,
// EXPERTS: ld.param.b64 %rd3, [mille_argument1];
// EXPERTS-NEXT: add.s64 %rd3, %rd3, %mille_place1;
// EXPERTS-NOT: ld.global
// EXPERTS: mov.b32 %r1, %mille_rows;
// EXPERTS-NEXT: mov.u32 %r2, %mille_group;
//
// RUN: %programs/kernel-ptx refused | FileCheck %s --check-prefix=REFUSED
// REFUSED: .shared .align 16 .b8 mine[4];
// REFUSED: atom.shared.add.u32 %r1, [%rd1], 1;
// REFUSED: st.shared.b32 [mine], %r1;
// REFUSED: one has other parameters than arguments
// REFUSED: two is never run
// REFUSED: no entry, or not a whole one
// REFUSED: no number of an expert's rows
// REFUSED: no address of an expert's rows
// REFUSED: add.s64 %rd5, %rd2, 4;
// REFUSED: ld.param.v2.b64 {%rd3, %rd4}, [mille_argument1];
// REFUSED: one does not ask for its group and its rows
// REFUSED: one does not ask for its group and its rows
// REFUSED-NOT: {{.}}
#include "compiler/halide/device/DevicePtx.h"

#include <cstdio>
#include <string>

using namespace mille;

namespace {

const std::string head = ".version 6.0\n.target sm_70 // the oldest\n\n";
const EntryArguments plainArguments{{"one", {"input", ""}}};
const EntryArguments expertArguments{{"one", {"expert_rows_k", "input", ""}}};
const ExpertGroups none, four{4, 16, 0};

// The entry `one` with these instructions.
std::string entry(const EntryArguments &arguments, const std::string &body) {
  std::string text = head + ".visible .entry one(\n";
  const std::vector<std::string> &names = arguments.at("one");
  for (size_t number = 0; number < names.size(); ++number)
    text +=
        std::string(names[number].empty() ? "\t.param .u32 "
                                          : "\t.param .u64 .ptr .align 1 ") +
        "one_param_" + std::to_string(number) +
        (number + 1 < names.size() ? ",\n" : "\n");
  return text +
         ")\n{\n\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<6>;\n\n// %bb.0:" +
         "                               // %entry\n" + body + "\tret;\n}\n";
}

const std::string starts = "\tld.param.b64 \t%rd1, [one_param_0];\n"
                           "\tcvta.to.global.u64 \t%rd2, %rd1;\n",
                  input = "\tld.param.b64 \t%rd3, [one_param_1];\n",
                  rows = "\tld.global.nc.b32 \t%r1, [%rd2];\n",
                  group = "\tmov.u32 \t%r2, %ctaid.y;\n";

void print(const std::string &source, const EntryArguments &arguments,
           const ExpertGroups &experts) {
  try {
    printf("%s", placedPtx(source, arguments, experts).c_str());
  } catch (const Halide::Error &problem) {
    printf("%s\n", problem.what());
  }
}

void refuse() {
  auto plain = [](const std::string &body) {
    print(entry(plainArguments, body), plainArguments, none);
  };
  print(head + ".shared .align 16 .b8 mine[4];\n", plainArguments, none);
  plain("\tatom.shared.add.u32 \t%r1, [%rd1], 1;\n");
  plain("\tst.shared.b32 \t[mine], %r1;\n");
  print(entry(expertArguments, ""), plainArguments, none);
  print(head + ".visible .entry two(\n)\n{\n\tret;\n}\n", plainArguments, none);
  print(head, plainArguments, none);
  print(entry(plainArguments, group), plainArguments, four);
  auto experts = [](const std::string &body) {
    print(entry(expertArguments, body), expertArguments, four);
  };
  experts(input + group);
  experts(starts + "\tadd.s64 \t%rd5, %rd2, 4;\n" + group);
  experts(starts + "\tld.param.v2.b64 \t{%rd3, %rd4}, [one_param_1];\n");
  experts(starts + input + rows);
  experts(starts + input + group);
}

} // namespace

int main(int count, char **arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "plain")
    print(entry(plainArguments,
                "\tld.param.b64 \t%rd1, [one_param_0];\n"
                "\tcvta.to.global.u64 \t%rd2, %rd1;\n" +
                    std::string("\tmov.u32 \t%r1, %ctaid.y;\n"
                                "\tld.shared.v2.b32 \t{%r2, %r3}, "
                                "[%rd3+-16];\n"
                                "\tst.shared.b32 \t[64], %r2;\n")),
          plainArguments, none);
  if (what == "experts")
    print(entry(expertArguments, starts + input + rows + group),
          expertArguments, four);
  if (what == "refused")
    refuse();
}

// RUN: %programs/import-windows | FileCheck %s
//
// Index lists of windows and tables of coordinates, small enough to check by
// eye.
#include "compiler/import/model/Coordinates.h"

#include <cstdio>

using namespace mille::import;

template <typename Number>
static void print(const char *name, const std::vector<Number> &numbers) {
  std::printf("%s:", name);
  for (Number number : numbers)
    std::printf(" %.6g", double(number));
  std::printf("\n");
}

// Every token comes back to its place, whatever the padding and the shift.
static bool returns(Grid grid, int64_t size, int64_t shift) {
  Windows windows(grid, size, shift);
  const std::vector<int64_t> out = windows.partition(),
                             back = windows.reverse();
  bool same = int64_t(out.size()) == windows.count() * size * size &&
              int64_t(back.size()) == grid.tokens();
  for (int64_t token = 0; token < grid.tokens(); ++token)
    same &= out[back[token]] == token;
  return same;
}

int main() {
  Windows plain({2, 4}, 2, 0);
  // CHECK: {{^}}windows 2{{$}}
  std::printf("windows %d\n", int(plain.count()));
  // CHECK-NEXT: {{^}}plain: 0 1 4 5 2 3 6 7{{$}}
  print("plain", plain.partition());
  // CHECK-NEXT: {{^}}back: 0 1 4 5 2 3 6 7{{$}}
  print("back", plain.reverse());
  // CHECK-NEXT: {{^}}one segment: 0 0 0 0 0 0 0 0{{$}}
  print("one segment", plain.segments());

  // Rows 1 2 3 0 of columns 1 2 3 0, in four windows.
  Windows shifted({4, 4}, 2, 1);
  // CHECK-NEXT: {{^}}shifted: 5 6 9 10 7 4 11 8 13 14 1 2 15 12 3 0{{$}}
  print("shifted", shifted.partition());
  // CHECK-NEXT: {{^}}segments: 0 0 0 0 1 2 1 2 3 3 6 6 4 5 7 8{{$}}
  print("segments", shifted.segments());

  // 3 x 3 becomes 4 x 4; padding comes after the shift from the right place.
  Windows padded({3, 3}, 2, 1);
  // CHECK-NEXT: {{^}}padded: 4 5 7 8 -1 3 -1 6 -1 -1 1 2 -1 -1 -1 0{{$}}
  print("padded", padded.partition());
  bool all = true;
  for (int64_t height = 1; height < 10; ++height)
    for (int64_t size = 1; size < 5; ++size)
      for (int64_t shift = 0; shift < size; ++shift)
        all &= returns({height, 7}, size, shift);
  // CHECK-NEXT: {{^}}every token returns{{$}}
  std::printf("%s\n", all ? "every token returns" : "a token is lost");

  // CHECK-NEXT: {{^}}merge: 0 3 1 4 2 5 -1 -1{{$}}
  print("merge", mergeIndex({2, 3}));
  // CHECK-NEXT: {{^}}merge odd rows: 0 -1 1 -1{{$}}
  print("merge odd rows", mergeIndex({1, 2}));

  // CHECK-NEXT: {{^}}pairs: 4 3 1 0 5 4 2 1 7 6 4 3 8 7 5 4{{$}}
  print("pairs", relativePairs({2, 2}));
  // CHECK-NEXT: {{^}}pairs of a row: 1 0 2 1{{$}}
  print("pairs of a row", relativePairs({1, 2}));
  // CHECK-NEXT: {{^}}behind a class: 5 3 3 4 1 0 4 2 1{{$}}
  print("behind a class", relativePairsBehindClass({1, 2}));

  // A token that does not turn, then columns at -2/3, 0 and 2/3 of the one row;
  // the second pair turns 100^(-1/2) as far.
  // CHECK-NEXT: {{^}}rotation: 1 1 1 1 0 0 0 0 1 1 -0.5 0.913545 0 0 0.866025
  // CHECK-SAME: {{ }}-0.406737 1 1 1 1 0 0 0 0 1 1 -0.5 0.913545 0 0 -0.866025
  // CHECK-SAME: {{ }}0.406737{{$}}
  print("rotation", axialRotation({1, 3}, 1, 8, 100));
  // CHECK-NEXT: {{^}}rotation of rows: -0.5 1 0.866025 0{{$}}
  std::vector<double> rows = axialRotation({3, 1}, 0, 4, 100);
  rows.resize(4);
  print("rotation of rows", rows);

  // 8 / (2 - 1) = 8 places of 2: log2(9) / 3.
  // CHECK-NEXT: {{^}}distances: -1.05664 -1.05664 -1.05664 0 -1.05664 1.05664 0
  // CHECK-SAME: {{ }}-1.05664 0 0 0 1.05664 1.05664 -1.05664 1.05664 0 1.05664
  // CHECK-SAME: {{ }}1.05664{{$}}
  print("distances", logSpacedDistances(2, 2));
  // A window of 3 after training with one of 5: 2 and 4 of 8.
  // CHECK-NEXT: {{^}}rescaled: -0.773976 -0.528321 0 0.528321 0.773976{{$}}
  std::vector<double> rescaled = logSpacedDistances(3, 5), rowOf;
  for (int64_t i = 0; i < 5; ++i)
    rowOf.push_back(rescaled[2 * i + 1]);
  print("rescaled", rowOf);
}

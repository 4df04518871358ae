/* Where an element of a state in panels lies in a sequence's memory, which is
 * one head after another: the runtime writes it there, kernels read it there.
 * Must stay C, and arithmetic alone. */
#pragma once
#include <stdint.h>

/* Rows of a panel of keys; the rows of every state are a multiple of it. */
#define MILLE_PANEL_ROWS 16
/* Columns of a panel of values where a head is a multiple of it; else the panel
 * is the head: decode reads so many columns at once. */
#define MILLE_PANEL_COLUMNS 64

/* Neighbours that one multiply-add takes: columns of a key of `size` columns,
 * rows of a value. */
static inline int64_t mille_key_pair(int64_t element_bytes, int64_t size) {
  return element_bytes == 2 && size % 2 == 0 ? 2 : 1;
}
static inline int64_t mille_value_pair(int64_t element_bytes) {
  return element_bytes == 2 ? 2 : 1;
}
static inline int64_t mille_panel_columns(int64_t size) {
  return size % MILLE_PANEL_COLUMNS == 0 ? MILLE_PANEL_COLUMNS : size;
}

/* The element of column `d` in row `row` of a head of `size` columns. */
static inline int64_t mille_key_place(int64_t row, int64_t d, int64_t size,
                                      int64_t pair) {
  return (row / MILLE_PANEL_ROWS * (size / pair) + d / pair) *
             MILLE_PANEL_ROWS * pair +
         row % MILLE_PANEL_ROWS * pair + d % pair;
}
/* `rows` are all rows of a sequence. */
static inline int64_t mille_value_place(int64_t row, int64_t d, int64_t size,
                                        int64_t pair, int64_t rows) {
  int64_t columns = mille_panel_columns(size);
  return d / columns * rows * columns + row / pair * pair * columns +
         d % columns * pair + row % pair;
}

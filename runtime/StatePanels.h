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

/* States in bytes: a number is an integer from -127 to 127 times the step, in
 * f32, of its row and head. Steps lie where they are needed as memory is read
 * in order: behind the bytes of 16 keys, which scores multiply by them; before
 * 16 values, whose weights they multiply. */
#define MILLE_STEP_BYTES 4
/* Columns of a key that one multiply-add takes, side by side. */
#define MILLE_BYTE_GROUP 4

/* The bytes of a row of a head of `size` columns, with its steps: a value has
 * one in each panel of columns. */
static inline int64_t mille_key_bytes(int64_t size) {
  return size + MILLE_STEP_BYTES;
}
static inline int64_t mille_value_bytes(int64_t size) {
  return size + size / mille_panel_columns(size) * MILLE_STEP_BYTES;
}

/* A key's integer is stored with 128 added, so that it is unsigned. */
static inline int64_t mille_key_byte(int64_t row, int64_t d, int64_t size) {
  return row / MILLE_PANEL_ROWS * (MILLE_PANEL_ROWS * mille_key_bytes(size)) +
         d / MILLE_BYTE_GROUP * (MILLE_PANEL_ROWS * MILLE_BYTE_GROUP) +
         row % MILLE_PANEL_ROWS * MILLE_BYTE_GROUP + d % MILLE_BYTE_GROUP;
}
static inline int64_t mille_key_step(int64_t row, int64_t size) {
  return row / MILLE_PANEL_ROWS * (MILLE_PANEL_ROWS * mille_key_bytes(size)) +
         MILLE_PANEL_ROWS * size + row % MILLE_PANEL_ROWS * MILLE_STEP_BYTES;
}

/* Where the steps of 16 rows of a panel of columns begin; their bytes follow,
 * row after row. */
static inline int64_t mille_value_steps(int64_t row, int64_t d, int64_t size,
                                        int64_t rows) {
  int64_t columns = mille_panel_columns(size),
          bytes = columns + MILLE_STEP_BYTES;
  return d / columns * (rows * bytes) +
         row / MILLE_PANEL_ROWS * (MILLE_PANEL_ROWS * bytes);
}
static inline int64_t mille_value_byte(int64_t row, int64_t d, int64_t size,
                                       int64_t rows) {
  int64_t columns = mille_panel_columns(size);
  return mille_value_steps(row, d, size, rows) +
         MILLE_PANEL_ROWS * MILLE_STEP_BYTES +
         row % MILLE_PANEL_ROWS * columns + d % columns;
}

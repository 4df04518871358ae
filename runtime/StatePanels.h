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
 * in order: behind the bytes of 16 keys, which scores multiply by them; those
 * of a head's values before all values, since the weights of many keys are
 * multiplied by them before values are read. */
#define MILLE_STEP_BYTES 4
/* Neighbours that one multiply-add takes: columns of a key, rows of a value. */
#define MILLE_KEY_GROUP 4
#define MILLE_VALUE_GROUP 2

/* The bytes of a row of a head of `size` columns, of keys and of values. */
static inline int64_t mille_row_bytes(int64_t size) {
  return size + MILLE_STEP_BYTES;
}

/* A key's integer is stored with 128 added, so that it is unsigned. */
static inline int64_t mille_key_byte(int64_t row, int64_t d, int64_t size) {
  return row / MILLE_PANEL_ROWS * (MILLE_PANEL_ROWS * mille_row_bytes(size)) +
         d / MILLE_KEY_GROUP * (MILLE_PANEL_ROWS * MILLE_KEY_GROUP) +
         row % MILLE_PANEL_ROWS * MILLE_KEY_GROUP + d % MILLE_KEY_GROUP;
}
static inline int64_t mille_key_step(int64_t row, int64_t size) {
  return row / MILLE_PANEL_ROWS * (MILLE_PANEL_ROWS * mille_row_bytes(size)) +
         MILLE_PANEL_ROWS * size + row % MILLE_PANEL_ROWS * MILLE_STEP_BYTES;
}

static inline int64_t mille_value_step(int64_t row) {
  return row * MILLE_STEP_BYTES;
}
static inline int64_t mille_value_byte(int64_t row, int64_t d, int64_t size,
                                       int64_t rows) {
  return rows * MILLE_STEP_BYTES +
         mille_value_place(row, d, size, MILLE_VALUE_GROUP, rows);
}

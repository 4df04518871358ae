// A growing array of plain types, without the C++ library. Must not report a
// failed allocation: the array becomes lost, and its user checks lost() once.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace mille::text {
struct Place {};
} // namespace mille::text
inline void *operator new(size_t, mille::text::Place, void *memory) noexcept {
  return memory;
}

namespace mille::text {

template <typename T> class Array {
public:
  Array() = default;
  Array(const Array &) = delete;
  ~Array() { free(items); }

  bool reserve(size_t wanted) {
    if (wanted <= room)
      return true;
    size_t grown = room + room / 2 + 16;
    grown = grown < wanted ? wanted : grown;
    // No valid text or vocabulary needs more; a damaged one may ask for it.
    constexpr uint64_t mostBytes = uint64_t(1) << 32;
    void *moved = grown > mostBytes / sizeof(T)
                      ? nullptr
                      : realloc(items, grown * sizeof(T));
    if (!moved) {
      refused = true;
      return false;
    }
    items = static_cast<T *>(moved);
    room = grown;
    return true;
  }
  void push(const T &item) {
    T copy = item; // `item` may be one of this array's own
    if (count < room || reserve(count + 1))
      items[count++] = copy;
  }
  // `from` must not point into this array.
  void append(const T *from, size_t more) {
    if (more && reserve(count + more)) {
      memcpy(items + count, from, more * sizeof(T));
      count += more;
    }
  }
  // Sets each new item to `value`.
  bool resize(size_t size, const T &value) {
    if (!reserve(size))
      return false;
    for (; count < size; ++count)
      items[count] = value;
    count = size;
    return true;
  }
  void swap(Array &other) {
    T *its = other.items;
    size_t itsCount = other.count, itsRoom = other.room;
    bool itsRefused = other.refused;
    other.items = items, other.count = count;
    other.room = room, other.refused = refused;
    items = its, count = itsCount, room = itsRoom, refused = itsRefused;
  }
  void shrink(size_t size) { count = size < count ? size : count; }
  void clear() { count = 0; }

  T &operator[](size_t i) { return items[i]; }
  const T &operator[](size_t i) const { return items[i]; }
  T &back() { return items[count - 1]; }
  T *data() { return items; }
  const T *data() const { return items; }
  T *begin() { return items; }
  T *end() { return items + count; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  bool lost() const { return refused; }

private:
  T *items = nullptr;
  size_t count = 0, room = 0;
  bool refused = false;
};

} // namespace mille::text

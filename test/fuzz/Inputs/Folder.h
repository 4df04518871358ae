// A folder of a fuzz program, which ends with it. Must not know what is in it.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

// In memory, if there is a place for that, since files are made thousands of
// times a second.
class Folder {
public:
  Folder() {
    if (mkdtemp(path) || mkdtemp(std::strcpy(path, "/tmp/mille-fuzz-XXXXXX")))
      made = true;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  // The path of a file of it, whether or not there is one.
  std::string file(const char *name) const {
    return std::string(path) + "/" + name;
  }
  // False: these bytes are not in that file.
  bool write(const char *name, const void *bytes, size_t size) const {
    FILE *file = made ? std::fopen(this->file(name).c_str(), "wb") : nullptr;
    const bool written = file && std::fwrite(bytes, 1, size, file) == size;
    return file && std::fclose(file) == 0 && written;
  }

  char path[32] = "/dev/shm/mille-fuzz-XXXXXX";

private:
  bool made = false;
};

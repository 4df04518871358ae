/* The same with the loader: a package by its folder. */
#include <mille_loader.h>

#include <stdio.h>

int main(void) {
  char message[512];
  mille_package *package;
  mille_status status = mille_package_open_folder("nowhere", NULL, &package,
                                                  message, sizeof message);
  printf("mille %s: %s: %s\n", mille_version(), mille_status_name(status),
         message);
  return 0;
}

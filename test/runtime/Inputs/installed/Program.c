/* An application as its author writes it: mille.h and the installed library. */
#include <mille.h>

#include <stdio.h>

int main(void) {
  char message[512];
  mille_package *package;
  mille_status status = mille_package_open(NULL, "model.weights", NULL,
                                           &package, message, sizeof message);
  printf("mille %s: %s: %s\n", mille_version(), mille_status_name(status),
         message);
  return 0;
}

/* Mille's loader: opens packages by their folder, at run time. The only public
 * header of libmille_loader. C99 and C++.
 *
 * A package's NAME.so brings the runtime that it was compiled with. The loader
 * has the functions of mille.h, each of which calls that runtime, so a program
 * runs packages of several builds of Mille side by side and is not linked again
 * for a new one. A program is linked with libmille_loader or with libmille,
 * never with both.
 *
 * Of mille.h the loader has all but mille_package_open, whose place
 * mille_package_open_folder takes, and mille_devices (mille_package_devices).
 * A function that a package's older runtime lacks returns
 * MILLE_INVALID_ARGUMENT. */
#ifndef MILLE_LOADER_H
#define MILLE_LOADER_H
#ifndef MILLE_H /* a NAME.h has its text */
#include "mille.h"
#endif
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Opens the package in `path`: its folder, which then holds one NAME.so, or the
 * path of a NAME.so. NAME.weights lies beside it, or the weights are embedded.
 * options: as for mille_package_open, null for the defaults; the loader itself
 * takes some bytes of the C library's memory. The code stays loaded until the
 * package and its sessions are closed. The code runs in this process: open only
 * what you would run.
 * MILLE_FILE_ERROR: there is no such package, or its library cannot be loaded.
 * On failure *package is null and message says why (message may be null; 512
 * bytes are enough). */
mille_status mille_package_open_folder(const char *path,
                                       const mille_options *options,
                                       mille_package **package, char *message,
                                       size_t message_size);

/* mille_devices of the package's runtime. */
mille_status mille_package_devices(mille_package *package, const char *backend,
                                   mille_device *devices, size_t room,
                                   size_t *count, char *message,
                                   size_t message_size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

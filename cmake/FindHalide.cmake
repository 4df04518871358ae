# Halide out of its PyPI wheel: one header folder and one library.
# The wheel's own HalideConfig.cmake wants CMake 3.28 and a Python development
# install; Debian 12 has neither. HALIDE_ROOT is the wheel's halide/ folder.
find_path(Halide_INCLUDE_DIR Halide.h
  PATHS ${HALIDE_ROOT}/include NO_DEFAULT_PATH)
find_library(Halide_LIBRARY Halide
  PATHS ${HALIDE_ROOT}/lib64 NO_DEFAULT_PATH)
if(Halide_INCLUDE_DIR)
  file(STRINGS ${Halide_INCLUDE_DIR}/Halide.h _version
    REGEX "define HALIDE_VERSION_(MAJOR|MINOR|PATCH)")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)"
    "\\1.\\2.\\3" Halide_VERSION "${_version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Halide
  REQUIRED_VARS Halide_LIBRARY Halide_INCLUDE_DIR VERSION_VAR Halide_VERSION)
if(Halide_FOUND AND NOT TARGET Halide::Halide)
  # Checks in Halide.h name the file that they are in. The option leaves out its folder,
  # so that builds in two folders are equal.
  add_library(Halide::Halide SHARED IMPORTED)
  set_target_properties(Halide::Halide PROPERTIES
    IMPORTED_LOCATION ${Halide_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Halide_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "HALIDE_ENABLE_RTTI;HALIDE_WITH_EXCEPTIONS"
    INTERFACE_COMPILE_OPTIONS "-fmacro-prefix-map=${Halide_INCLUDE_DIR}/=")
endif()

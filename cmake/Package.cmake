# What `cpack -G DEB` makes: mille (tools), libmille and libmille-dev. The tools
# link archives of libmille-dev into every package that they compile.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mille)
set(CPACK_PACKAGE_VENDOR Mille)
set(CPACK_PACKAGE_CONTACT "Mille <mille@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tools runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${Halide_ROOT}/lib64 ${LLVM_LIBRARY_DIR})

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME mille)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "compiles Transformer models ahead of time
 The command mille and mille-opt: a model becomes an object, a shared library,
 a header and packed weights, which need no framework.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS
  "libmille-dev (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libmille)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "runs models that Mille has compiled
 The runtime, and the loader that opens packages by their folder.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmille-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "headers and archives of Mille
 What a C program is built with that embeds a compiled model.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libmille (= ${PROJECT_VERSION})")
include(CPack)

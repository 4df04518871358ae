# mille_llvm: LLVM and MLIR for every library that names them. A program takes the
# system's shared libraries, or with the property MILLE_CARRIES_LLVM what it uses of
# the archives: then it starts in half the time, for the shared libraries have 500 000
# addresses to relocate, and needs no LLVM where it is installed. It is also 190 MB
# large, so that programs of tests take the shared libraries.
file(GLOB _archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER _archives EXCLUDE REGEX "/libMLIR(CAPI|Test)[^/]*$")

# LLVM's optimiser at link time names Polly, which a package of its own has. lld is
# given machine code only, so that this is never called.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/NoPolly.cpp CONTENT
  "#include <llvm/Plugins/PassPlugin.h>
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }
")
add_library(mille_no_polly STATIC ${CMAKE_CURRENT_BINARY_DIR}/NoPolly.cpp)
target_compile_options(mille_no_polly PRIVATE -Wno-return-type-c-linkage)

add_library(mille_llvm INTERFACE)
target_link_libraries(mille_llvm INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:MILLE_CARRIES_LLVM>>,${_archives};mille_no_polly;z;zstd,MLIR;LLVM>")

# Makes programs carry LLVM. Where a sanitizer watches they do not: what is in the
# archives is compiled without.
function(mille_carry_llvm)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return()
  endif()
  set_target_properties(${ARGN} PROPERTIES MILLE_CARRIES_LLVM ON)
  foreach(program ${ARGN})
    target_link_options(${program} PRIVATE -Wl,--gc-sections)
  endforeach()
endfunction()

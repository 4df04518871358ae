# What `cmake --install` puts where. Tools find each other and libraries beside them:
# bin/mille looks for ../libexec/mille-compiler, that for ../lib/libmille.a, so `lib` is
# not a multiarch folder.
include(CMakePackageConfigHelpers)

# runtime: what an application has when it runs; development: what it is built
# with.
install(TARGETS mille_runtime mille_runtime_shared mille_kernel_support
  ARCHIVE DESTINATION lib COMPONENT development
  LIBRARY DESTINATION lib COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES runtime/mille.h runtime/mille_train.h DESTINATION include
  COMPONENT development)
# The text room: an application links it with -lpcre2-8 -lutf8proc.
install(TARGETS mille_text ARCHIVE DESTINATION lib COMPONENT development)
install(FILES text/mille_text.h DESTINATION include COMPONENT development)
# The generation room needs libm alone.
install(TARGETS mille_generation ARCHIVE DESTINATION lib COMPONENT development)
install(FILES generation/mille_generation.h DESTINATION include
  COMPONENT development)
# The loader, in place of the runtime: packages by their folder.
install(TARGETS mille_loader mille_loader_shared
  ARCHIVE DESTINATION lib COMPONENT development
  LIBRARY DESTINATION lib COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES loader/mille_loader.h DESTINATION include COMPONENT development)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/mille-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/mille-config.cmake
    ${PROJECT_BINARY_DIR}/package/mille-config-version.cmake
  DESTINATION lib/cmake/mille COMPONENT development)
configure_file(cmake/mille.pc.in ${PROJECT_BINARY_DIR}/package/mille.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/mille.pc
  DESTINATION lib/pkgconfig COMPONENT development)

# Tools: the command, its compiler, with Halide beside it. mille, mille-compiler and
# mille-opt carry what they use of LLVM and MLIR, the others take the system's.
foreach(tool mille mille-compiler mille-opt mille-lsp mille-reduce)
  if(TARGET ${tool})
    set(_folder bin)
    if(tool STREQUAL "mille-compiler")
      set(_folder libexec)
    endif()
    install(TARGETS ${tool} RUNTIME DESTINATION ${_folder} COMPONENT tools)
    # Programs of the build look for Halide where installed ones do. Of a path into the
    # build an installed file would keep the length, and builds in two folders differ.
    set_target_properties(${tool} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "$ORIGIN/../lib/mille;${LLVM_LIBRARY_DIR}")
  endif()
endforeach()
install(FILES ${Halide_LIBRARY} DESTINATION lib/mille COMPONENT tools)
cmake_path(GET Halide_LIBRARY FILENAME _halide)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/mille)
file(CREATE_LINK ${Halide_LIBRARY} ${PROJECT_BINARY_DIR}/lib/mille/${_halide} SYMBOLIC)

# Man pages and completions, from the tool's own help, and the licences of what
# the tools carry.
find_program(MILLE_PYTHON python3 HINTS /usr/bin NO_DEFAULT_PATH)
if(TARGET mille AND MILLE_PYTHON)
  set(_files ${PROJECT_BINARY_DIR}/command-files)
  add_custom_command(OUTPUT ${_files}/man1/mille.1
    COMMAND ${MILLE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/command-files.py
      $<TARGET_FILE:mille> ${_files}
    COMMAND ${MILLE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/licenses.py
      ${_files}/copyright
    DEPENDS mille tools/command-files.py tools/licenses.py
    COMMENT "Writing man pages, completions and licences")
  add_custom_target(command-files ALL DEPENDS ${_files}/man1/mille.1)
  foreach(_pair man1:man/man1 bash:bash-completion/completions
      zsh:zsh/vendor-completions fish:fish/vendor_completions.d)
    string(REPLACE ":" ";" _pair ${_pair})
    list(POP_FRONT _pair _from _to)
    install(DIRECTORY ${_files}/${_from}/ DESTINATION share/${_to}
      COMPONENT tools)
  endforeach()
  install(FILES ${_files}/copyright DESTINATION share/doc/mille
    COMPONENT tools)
endif()

include(Package)

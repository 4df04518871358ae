# What `cmake --install` puts where. Tools find libraries beside them: bin/mille
# looks for ../lib/libmille.a, so `lib` is not a multiarch folder.
include(CMakePackageConfigHelpers)

# Runtime: what an application needs.
install(TARGETS mille_runtime mille_runtime_shared mille_kernel_support
  ARCHIVE DESTINATION lib COMPONENT runtime
  LIBRARY DESTINATION lib COMPONENT runtime)
install(FILES runtime/mille.h DESTINATION include COMPONENT runtime)
# The text room: an application links it with -lpcre2-8 -lutf8proc.
install(TARGETS mille_text ARCHIVE DESTINATION lib COMPONENT runtime)
install(FILES text/mille_text.h DESTINATION include COMPONENT runtime)
# The generation room needs libm alone.
install(TARGETS mille_generation ARCHIVE DESTINATION lib COMPONENT runtime)
install(FILES generation/mille_generation.h DESTINATION include
  COMPONENT runtime)
# The loader, in place of the runtime: packages by their folder.
install(TARGETS mille_loader mille_loader_shared
  ARCHIVE DESTINATION lib COMPONENT runtime
  LIBRARY DESTINATION lib COMPONENT runtime)
install(FILES loader/mille_loader.h DESTINATION include COMPONENT runtime)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/mille-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/mille-config.cmake
    ${PROJECT_BINARY_DIR}/package/mille-config-version.cmake
  DESTINATION lib/cmake/mille COMPONENT runtime)
configure_file(cmake/mille.pc.in ${PROJECT_BINARY_DIR}/package/mille.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/mille.pc
  DESTINATION lib/pkgconfig COMPONENT runtime)

# Tools: the compiler, with Halide beside it. LLVM and MLIR are the system's.
foreach(tool mille mille-opt)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION bin COMPONENT tools)
    set_target_properties(${tool} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../lib/mille;${LLVM_LIBRARY_DIR}")
  endif()
endforeach()
install(FILES ${Halide_LIBRARY} DESTINATION lib/mille COMPONENT tools)

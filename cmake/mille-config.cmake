# find_package(mille): runs models that `mille compile` has made. C or C++.
#   mille::runtime         the runtime, static
#   mille::runtime_shared  the runtime, shared
#   mille::loader          packages by their folder, in place of the runtime
#   mille_add_package(TARGET FOLDER NAME)
#     TARGET to link with: FOLDER/NAME.a and NAME.h, which bring the runtime
get_filename_component(_mille_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(mille_INCLUDE_DIR "${_mille_prefix}/include")
if(NOT TARGET mille::runtime)
  include(CMakeFindDependencyMacro)
  find_dependency(Threads)
  add_library(mille::runtime STATIC IMPORTED)
  set_target_properties(mille::runtime PROPERTIES
    IMPORTED_LOCATION "${_mille_prefix}/lib/libmille.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${mille_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "m;Threads::Threads")
  add_library(mille::runtime_shared SHARED IMPORTED)
  set_target_properties(mille::runtime_shared PROPERTIES
    IMPORTED_LOCATION "${_mille_prefix}/lib/libmille.so"
    INTERFACE_INCLUDE_DIRECTORIES "${mille_INCLUDE_DIR}")
  add_library(mille::loader STATIC IMPORTED)
  set_target_properties(mille::loader PROPERTIES
    IMPORTED_LOCATION "${_mille_prefix}/lib/libmille_loader.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${mille_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()

function(mille_add_package target folder name)
  get_filename_component(_folder "${folder}" ABSOLUTE)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${_folder}/${name}.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${_folder};${mille_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "m;Threads::Threads")
endfunction()
unset(_mille_prefix)

# Tests by Pleach in a CMake project.
#
#   list(APPEND CMAKE_MODULE_PATH /usr/share/pleach/cmake)
#   include(Pleach)
#   pleach_add_test(parse SOURCES parse.c ENTRY parse FLAGS --max-time 60s)
#   pleach_add_test(parse_safe COMMAND verify SOURCES parse.c FLAGS --property memsafety)
#
# `ctest` then explores: a test fails if an error is found, or the property is not proved.
find_program(PLEACH_EXECUTABLE pleach DOC "Pleach, which explores C programs")
if(NOT PLEACH_EXECUTABLE)
  message(WARNING "pleach is not installed; its tests are not added")
endif()

function(pleach_add_test name)
  cmake_parse_arguments(arg "" "COMMAND;ENTRY;TARGET" "SOURCES;FLAGS" ${ARGN})
  if(NOT PLEACH_EXECUTABLE)
    return()
  endif()
  if(NOT arg_COMMAND)
    set(arg_COMMAND test)
  endif()
  set(flags ${arg_FLAGS})
  if(arg_ENTRY)
    list(APPEND flags --entry ${arg_ENTRY})
  endif()
  # Headers and definitions of a target of the project.
  if(arg_TARGET)
    list(APPEND flags
      "$<LIST:TRANSFORM,$<TARGET_PROPERTY:${arg_TARGET},INCLUDE_DIRECTORIES>,PREPEND,-I>"
      "$<LIST:TRANSFORM,$<TARGET_PROPERTY:${arg_TARGET},COMPILE_DEFINITIONS>,PREPEND,-D>")
  endif()
  set(run ${CMAKE_CURRENT_BINARY_DIR}/pleach/${name})
  add_test(NAME ${name}-clean COMMAND ${CMAKE_COMMAND} -E rm -rf ${run})
  add_test(NAME ${name}
    COMMAND ${PLEACH_EXECUTABLE} ${arg_COMMAND} ${arg_SOURCES} ${flags} --output-dir ${run}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMAND_EXPAND_LISTS)
  set_tests_properties(${name}-clean PROPERTIES FIXTURES_SETUP pleach-${name})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED pleach-${name} LABELS pleach)
endfunction()

# Installs the build into a prefix below itself, then builds and runs a program that knows only find_package(dma).
# Also: nothing that was installed may name the source or the build directory.
set(work ${BINARY_DIR}/package_test)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${prefix})  # the consumer is kept: its configuration is reused

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "package: this failed with ${code}: ${command}\n${output}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix} --config ${CONFIG})
file(GLOB_RECURSE installed ${prefix}/*)
foreach(file IN LISTS installed)
  file(STRINGS ${file} text)
  foreach(path ${SOURCE_DIR} ${BINARY_DIR})
    string(FIND "${text}" "${path}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "package: ${file} contains the path ${path}/")
    endif()
  endforeach()
endforeach()

step(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tools/cmake/consumer -B ${work}/consumer -G ${GENERATOR}
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${prefix})
step(${CMAKE_COMMAND} --build ${work}/consumer --config ${CONFIG})
step(${work}/consumer/consumer)

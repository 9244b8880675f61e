# Packs what is built into Debian packages, unpacks them into an empty root, and uses them from there: the program, its manual
# pages and completions, the Python module, and a program that knows only find_package(dma). Where there is no dpkg the build is
# installed into that root instead.
# Also: nothing that was installed may name the source or the build directory.
set(work ${BINARY_DIR}/package_test)
set(root ${work}/root)
file(REMOVE_RECURSE ${root} ${work}/packages)  # the consumer is kept: its configuration is reused
file(MAKE_DIRECTORY ${root} ${work}/packages)

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output WORKING_DIRECTORY ${root})
  if(code)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "package: this failed with ${code}: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(expect text)
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "package: '${text}' is expected, but this was printed:\n${output}")
  endif()
endfunction()

find_program(DPKG_DEB dpkg-deb)
if(DPKG_DEB)
  step(${CMAKE_CPACK_COMMAND} -G DEB --config ${BINARY_DIR}/CPackConfig.cmake -B ${work}/packages -C ${CONFIG}
       -D CPACK_OUTPUT_FILE_PREFIX=${work}/packages -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
  file(GLOB packages ${work}/packages/*.deb)
  foreach(package IN LISTS packages)
    step(${DPKG_DEB} -x ${package} ${root})
    step(${DPKG_DEB} -f ${package} Package Version Depends)
    string(APPEND facts "${output}")
  endforeach()
  set(output "${facts}")
  foreach(fact "Package: libdma-dev" "Package: dma" "Version: ${VERSION}" "libeigen3-dev" "libc6 (>=")
    expect("${fact}")
  endforeach()
else()
  step(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${root}/usr --config ${CONFIG})
endif()

file(GLOB_RECURSE installed ${root}/*)
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
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${root}/usr)
step(${CMAKE_COMMAND} --build ${work}/consumer --config ${CONFIG})
step(${work}/consumer/consumer)

if(EXISTS ${root}/usr/bin/dma)
  include(${CMAKE_CURRENT_LIST_DIR}/program_test.cmake)
endif()

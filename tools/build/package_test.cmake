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
       -D CPACK_OUTPUT_FILE_PREFIX=${work}/packages -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
  file(GLOB packages ${work}/packages/*.deb)
  foreach(package IN LISTS packages)
    step(${DPKG_DEB} -x ${package} ${root})
    step(${DPKG_DEB} -f ${package} Package Version Depends)
    string(APPEND facts "${output}")
    string(REGEX MATCH "Package: ([a-z0-9-]+)" name "${output}")
    foreach(file copyright changelog.gz)
      if(NOT EXISTS ${root}/usr/share/doc/${CMAKE_MATCH_1}/${file})
        message(FATAL_ERROR "package: ${CMAKE_MATCH_1} has no usr/share/doc/${CMAKE_MATCH_1}/${file}")
      endif()
    endforeach()
  endforeach()
  set(output "${facts}")
  foreach(fact "Package: libdma-dev" "Package: dma" "Version: ${VERSION}" "libeigen3-dev" "libc6 (>=")
    expect("${fact}")
  endforeach()
else()
  step(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${root}/usr --config ${CONFIG})
endif()

foreach(header engine/compile/plan_data.h engine/run/state_data.h)  # private
  if(EXISTS ${root}/usr/include/dma/${header})
    message(FATAL_ERROR "package: the private header ${header} is installed")
  endif()
endforeach()
execute_process(COMMAND grep -rlF -e ${SOURCE_DIR}/ -e ${BINARY_DIR}/ ${root} OUTPUT_VARIABLE named)
if(named)
  message(FATAL_ERROR "package: these files contain a path of ${SOURCE_DIR} or ${BINARY_DIR}:\n${named}")
endif()

step(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tools/build/consumer -B ${work}/consumer -G ${GENERATOR}
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${root}/usr
     -DDMA_EXPECTED=${VERSION})
step(${CMAKE_COMMAND} --build ${work}/consumer --config ${CONFIG})
step(${work}/consumer/consumer)
step(${work}/consumer/robot)
file(SIZE ${work}/consumer/robot bytes)
if(CONFIG STREQUAL "Release" AND bytes GREATER_EQUAL 1000000)
  message(FATAL_ERROR "package: a robot's program is ${bytes} bytes; it must be below 1000000: see which code it keeps "
                      "(add -Wl,-Map=FILE,--print-gc-sections)")
endif()

# The same project with the source tree as a subdirectory: its own file alone is compiled, not the library once more.
step(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tools/build/consumer -B ${work}/subdirectory -G ${GENERATOR}
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=${CONFIG} -DDMA_SOURCE=${SOURCE_DIR} -DDMA_EXPECTED=${VERSION})
if(GENERATOR MATCHES Ninja)
  step(${CMAKE_COMMAND} --build ${work}/subdirectory --target CMakeFiles/consumer.dir/main.cpp.o)
endif()

if(EXISTS ${root}/usr/bin/dma)
  include(${CMAKE_CURRENT_LIST_DIR}/program_test.cmake)
endif()

# The test suite, dma_test, one ctest entry per test file, and what else ctest runs. Included by the top CMakeLists.txt.
find_package(doctest REQUIRED)
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/*.cpp)
list(FILTER test_sources EXCLUDE REGEX "/tests/(main|fuzz/(driver|libfuzzer))\\.cpp$")
if(DMA_TEST_ONLY)
  list(FILTER test_sources INCLUDE REGEX "tests/(oracles/|structure/source_tree|tools/(run_dma|browser))|${DMA_TEST_ONLY}")
endif()
set_source_files_properties(tests/oracles/allocations.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # replaces operator new

# A library of objects per large folder of tests/. dma_test is all of them; dma_test_factors, say, those of tests/factors
# alone, which a change in factors/ has built soonest.
add_executable(dma_test tests/main.cpp)
set(rest ${test_sources})
foreach(folder oracles engine factors models tools)
  set(sources ${rest})
  if(NOT folder STREQUAL "tools")  # which has claims, fuzz, schedules, structure too, of few files each
    list(FILTER sources INCLUDE REGEX "/tests/${folder}/")
    list(FILTER rest EXCLUDE REGEX "/tests/${folder}/")
  endif()
  if(NOT sources)  # by DMA_TEST_ONLY
    continue()
  endif()
  set(objects dma_tests_${folder})
  add_library(${objects} OBJECT EXCLUDE_FROM_ALL ${sources})
  dma_by_folder(${objects})
  target_link_libraries(${objects} PUBLIC dma::dma doctest::doctest $<TARGET_NAME_IF_EXISTS:dma_baselines>)
  if(folder MATCHES "models|tools" AND (NOT DMA_TEST_ONLY OR DMA_TEST_ONLY MATCHES "tools|fuzz"))
    target_link_libraries(${objects} PUBLIC $<TARGET_NAME_IF_EXISTS:dma_lab> $<TARGET_NAME_IF_EXISTS:dma_command>)
  endif()
  target_compile_definitions(${objects} PUBLIC DMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" DMA_BINARY_DIR="${PROJECT_BINARY_DIR}"
    DMA_EMULATOR="$<$<BOOL:${CMAKE_CROSSCOMPILING}>:${CMAKE_CROSSCOMPILING_EMULATOR}>")
  target_compile_definitions(${objects} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  target_compile_options(${objects} PUBLIC ${dma_test_options})
  target_link_libraries(dma_test PRIVATE ${objects})
  if(NOT folder MATCHES "oracles|tools")
    add_executable(dma_test_${folder} EXCLUDE_FROM_ALL tests/main.cpp)
    target_link_libraries(dma_test_${folder} PRIVATE ${objects} dma_tests_oracles)
  endif()
endforeach()
if(TARGET dma AND (NOT DMA_TEST_ONLY OR DMA_TEST_ONLY MATCHES "tools"))
  add_dependencies(dma_test dma dma-lab examples example)  # tests run them
endif()

# The fuzz targets as a program that draws its cases from a seed and, built by clang, as one libFuzzer program each.
if(TARGET dma_command)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cpp)
  list(FILTER fuzz_sources EXCLUDE REGEX "/(.*_test|driver|libfuzzer)\\.cpp$")
  add_library(dma_fuzz_targets STATIC EXCLUDE_FROM_ALL ${fuzz_sources})
  dma_by_folder(dma_fuzz_targets)
  target_link_libraries(dma_fuzz_targets PUBLIC dma_command)
  target_compile_options(dma_fuzz_targets PRIVATE ${dma_test_options})
  target_compile_definitions(dma_fuzz_targets PRIVATE DMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_executable(dma_fuzz EXCLUDE_FROM_ALL tests/fuzz/driver.cpp)
  target_link_libraries(dma_fuzz PRIVATE dma_fuzz_targets)
  if(DMA_LIBFUZZER)
    foreach(fuzzed csv model command graph discrete switching graph_file rows messages integrals)
      add_executable(dma_fuzz_${fuzzed} EXCLUDE_FROM_ALL tests/fuzz/libfuzzer.cpp)
      target_link_libraries(dma_fuzz_${fuzzed} PRIVATE dma_fuzz_targets)
      target_compile_definitions(dma_fuzz_${fuzzed} PRIVATE DMA_FUZZ_TARGET=fuzz_${fuzzed})
      target_link_options(dma_fuzz_${fuzzed} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endif()

# One ctest entry per test file, named factors/arithmetic/sum for tests/factors/arithmetic/sum_test.cpp; one that runs no case
# fails.
# Under the sanitizers one per folder: each process ends with a leak check of several seconds on some processors.
foreach(source IN LISTS test_sources)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE file)
  if(DMA_SANITIZE AND file MATCHES "^tests/([^/]*)/.*_test\\.cpp$")
    set(name ${CMAKE_MATCH_1})
    set(filter tests/${name}/*)
  elseif(file MATCHES "^tests/(.*)_test\\.cpp$")
    set(name ${CMAKE_MATCH_1})
    set(filter ${file})
  else()
    continue()
  endif()
  if(NOT TEST ${name})
    add_test(NAME ${name} COMMAND dma_test --source-file=${filter})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endif()
endforeach()
if(TEST tools/mpi/mpi)  # processes that wait for each other by asking again and again: alone, or all else is late
  set_tests_properties(tools/mpi/mpi PROPERTIES RUN_SERIAL ON)
endif()
if(NOT DMA_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND NOT DMA_TEST_ONLY)
  add_test(NAME package COMMAND ${CMAKE_COMMAND} -DBINARY_DIR=${PROJECT_BINARY_DIR} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
                                -DGENERATOR=${CMAKE_GENERATOR} -DCXX_COMPILER=${CMAKE_CXX_COMPILER} -DCONFIG=$<CONFIG>
                                -DVERSION=${PROJECT_VERSION} -DCMAKE_CPACK_COMMAND=${CMAKE_CPACK_COMMAND}
                                -P ${PROJECT_SOURCE_DIR}/tools/build/package_test.cmake)
endif()

# Every header compiles alone, and twice. One that its own .cpp includes first is compiled alone there when each file is
# (-DDMA_BY_FOLDER=OFF); tests/structure sees to the order, and to #pragma once.
if(DMA_CHECK_HEADERS)
  set(headers_alone "")
  foreach(folder engine factors schedules models tests tools/dma tools/experiments)
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.h)
    foreach(header IN LISTS headers)
      string(REGEX REPLACE "h$" "cpp" own ${PROJECT_SOURCE_DIR}/${header})
      if(NOT EXISTS ${own})
        set(alone ${PROJECT_BINARY_DIR}/headers_alone/${header}.cpp)
        file(CONFIGURE OUTPUT ${alone} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
        list(APPEND headers_alone ${alone})
      endif()
    endforeach()
  endforeach()
  add_library(dma_headers_alone OBJECT ${headers_alone})
  target_link_libraries(dma_headers_alone PRIVATE dma::dma doctest::doctest $<TARGET_NAME_IF_EXISTS:dma_command>)
  target_compile_options(dma_headers_alone PRIVATE -O0)
  target_compile_definitions(dma_headers_alone PRIVATE DMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# Toolchain of tools/test --cross: builds for the processor DMA_CROSS (x86_64, aarch64) on another one, to be run by an
# emulator, which finds the few shared libraries where QEMU_LD_PREFIX says; the libraries beneath are headers.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DMA_CROSS)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${DMA_CROSS})
set(CMAKE_CXX_COMPILER ${DMA_CROSS}-linux-gnu-g++)
find_program(emulator qemu-${DMA_CROSS} REQUIRED)  # by its whole path: tests hide programs from PATH
set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator})
set(DMA_FMT_HEADER_ONLY ON)
# Debian keeps the configuration of these packages beside libraries of the building processor.
foreach(package fmt Boost doctest CLI11 nlohmann_json)
  file(GLOB folder /usr/lib/*-linux-gnu/cmake/${package} /usr/lib/*-linux-gnu/cmake/${package}-[0-9]*)
  if(folder)
    set(${package}_DIR ${folder})
  endif()
endforeach()

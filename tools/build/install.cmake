# What is installed, and what find_package(dma) reads. Included by the top CMakeLists.txt.
include(CMakePackageConfigHelpers)
install(TARGETS dma_engine dma_factors dma_schedules dma_models dma_all EXPORT dmaTargets COMPONENT library)
install(DIRECTORY engine factors schedules models DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dma COMPONENT library
        FILES_MATCHING PATTERN "*.h")
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dma)
install(EXPORT dmaTargets NAMESPACE dma:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(tools/build/dmaConfig.cmake.in dmaConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(dmaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dmaConfig.cmake ${PROJECT_BINARY_DIR}/dmaConfigVersion.cmake DESTINATION ${package_dir}
        COMPONENT library)
if(TARGET dma)
  install(TARGETS dma COMPONENT program)
  if(NOT CMAKE_CROSSCOMPILING AND NOT DMA_SANITIZE)  # it has to run here, and soon
    include(tools/build/manuals.cmake)
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(tools/build/package.cmake)
endif()

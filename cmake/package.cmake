# The shared library, and what a program outside this tree finds it by: headers, paceline.pc, PacelineConfig.cmake.
include(CMakePackageConfigHelpers)

# Soname libpaceline.so.1: the number changes when a program that was built before would no longer run.
function(pace_shared_library target)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME paceline SOVERSION 1 C_VISIBILITY_PRESET hidden
                                             LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map LINKER:-z,defs)
endfunction()
pace_shared_library(libpaceline_shared $<TARGET_OBJECTS:paceline_objects>)
target_link_libraries(libpaceline_shared PRIVATE ${PACE_LIBRARIES})
set_target_properties(libpaceline_shared PROPERTIES EXPORT_NAME paceline)

# The library of a Python wheel has zlib, libzstd, libyaml and SQLite inside where their archives are, and no hwloc.
set(PACE_HOST_FACTS ${CMAKE_SOURCE_DIR}/calibrate/host_facts.c)
pace_shared_library(libpaceline_wheel ${PACE_HOST_FACTS}
                    $<FILTER:$<TARGET_OBJECTS:paceline_objects>,EXCLUDE,/host_facts\\.c>)
set_target_properties(libpaceline_wheel PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/wheel
                                                   BUILD_RPATH $ORIGIN)
set(PACE_WHEEL_LIBRARIES ${PACE_LIBRARIES})
list(REMOVE_ITEM PACE_WHEEL_LIBRARIES PkgConfig::HWLOC)
foreach(pair ZLIB::ZLIB=z PkgConfig::ZSTD=zstd PkgConfig::YAML=yaml PkgConfig::SQLITE=sqlite3)
  string(REGEX MATCH "(.*)=(.*)" pair ${pair})
  find_library(PACE_ARCHIVE_${CMAKE_MATCH_2} lib${CMAKE_MATCH_2}.a)
  if(PACE_ARCHIVE_${CMAKE_MATCH_2})
    list(TRANSFORM PACE_WHEEL_LIBRARIES REPLACE "^${CMAKE_MATCH_1}$" ${PACE_ARCHIVE_${CMAKE_MATCH_2}})
  endif()
endforeach()
target_link_libraries(libpaceline_wheel PRIVATE paceline_flags ${PACE_WHEEL_LIBRARIES})

set_target_properties(libpaceline PROPERTIES EXPORT_NAME static)
foreach(library libpaceline libpaceline_shared)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(PACE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Paceline)
install(TARGETS libpaceline_shared EXPORT PacelineShared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS libpaceline EXPORT PacelineStatic ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT PacelineShared NAMESPACE Paceline:: DESTINATION ${PACE_CMAKE_DIR})
install(EXPORT PacelineStatic NAMESPACE Paceline:: DESTINATION ${PACE_CMAKE_DIR})
install(FILES include/paceline/paceline.h include/paceline/calibrate.h include/paceline/train.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/paceline)

# What an archive needs besides itself, said in both files.
set(PACE_WITH_SQLITE ${SQLITE_FOUND})
set(PACE_WITH_HWLOC ${HWLOC_FOUND})
set(PACE_WITH_OPENMP ${OpenMP_C_FOUND})
foreach(with SQLITE HWLOC OPENMP)
  if(NOT PACE_WITH_${with})
    set(PACE_WITH_${with} FALSE)
  endif()
endforeach()
set(PACE_PC_REQUIRES zlib libzstd yaml-0.1)
if(SQLITE_FOUND)
  list(APPEND PACE_PC_REQUIRES sqlite3)
endif()
if(HWLOC_FOUND) # not as a requirement: it would ask for the archives of what hwloc itself needs
  set(PACE_PC_HWLOC -lhwloc)
endif()
list(JOIN PACE_PC_REQUIRES " " PACE_PC_REQUIRES)
set(PACE_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PACE_PC_TO_PREFIX /${PACE_PC_DIR} /)
string(REGEX REPLACE "/$" "" PACE_PC_TO_PREFIX ${PACE_PC_TO_PREFIX})
configure_file(cmake/paceline.pc.in paceline.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/paceline.pc DESTINATION ${PACE_PC_DIR})

configure_package_config_file(cmake/PacelineConfig.cmake.in PacelineConfig.cmake INSTALL_DESTINATION ${PACE_CMAKE_DIR})
write_basic_package_version_file(PacelineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/PacelineConfig.cmake ${CMAKE_BINARY_DIR}/PacelineConfigVersion.cmake
        DESTINATION ${PACE_CMAKE_DIR})

# oneDNN, for the modules that measure with it (calibrate/) and train with it (trainer/).
# Its C interface changed with version 3; the modules are written to version 2. Debian's package has a CMake file that
# asks for OpenCL's headers too, which are not needed here.
find_library(DNNL_LIBRARY dnnl)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl_version.h)
set(PACE_DNNL_MAJOR 0)
if(DNNL_LIBRARY AND DNNL_INCLUDE_DIR)
  file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h PACE_DNNL_LINE REGEX "define DNNL_VERSION_MAJOR")
  string(REGEX MATCH "[0-9]+" PACE_DNNL_MAJOR "${PACE_DNNL_LINE}")
endif()

# SPDX-License-Identifier: Apache-2.0
# OpenCV's core and imgproc as the target opencv_imgproc, of Debian's libopencv-imgproc-dev: that is four packages,
# libopencv-dev, which brings OpenCV's own CMake files, two hundred.
find_package(OpenCV QUIET CONFIG COMPONENTS core imgproc)
if(NOT TARGET opencv_imgproc)
  find_path(opencv_include opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
  find_library(opencv_core_library opencv_core)
  find_library(opencv_imgproc_library opencv_imgproc)
  mark_as_advanced(opencv_include opencv_core_library opencv_imgproc_library)
  if(opencv_include AND opencv_core_library AND opencv_imgproc_library)
    add_library(opencv_imgproc INTERFACE IMPORTED)
    target_include_directories(opencv_imgproc INTERFACE ${opencv_include})
    target_link_libraries(opencv_imgproc INTERFACE ${opencv_imgproc_library} ${opencv_core_library})
  endif()
endif()
if(TARGET opencv_imgproc)
  set(opencv_imgproc_FOUND TRUE)
endif()

# The part of package_test.cmake that needs the program: it fits and predicts from the unpacked root, as the Python module does;
# manual pages have no fault, and bash completes.
set(program ${root}/usr/bin/dma)
step(${program} --version)
expect("dma ${VERSION} (")
step(${program} generate regression --out data.csv)
step(${program} fit data.csv --target y --hidden 5 --members 1 --model model.json --quiet)
step(${program} predict model.json data.csv --out predictions.csv)

file(GLOB module ${root}/usr/lib/python3*/dist-packages/dma/_dma.pyi)
if(module)
  cmake_path(GET module PARENT_PATH module)
  cmake_path(GET module PARENT_PATH module)
  file(WRITE ${root}/try.py "
import dma, numpy
assert dma.__version__ == '${VERSION}' and dma.__file__.startswith('${root}'), dma.__file__
x, y = numpy.loadtxt('data.csv', delimiter=',', skiprows=1, unpack=True)
model = dma.Regressor(hidden=(5,), members=1).fit(x[:, None], y)
told = numpy.loadtxt('predictions.csv', delimiter=',', skiprows=1)
assert (model.predict(x[:, None]) == told[:, 0]).all()
")
  step(${CMAKE_COMMAND} -E env PYTHONPATH=${module} PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 try.py)
endif()

foreach(needed groff help2man bash)
  find_program(${needed} ${needed})
  if(NOT ${needed})
    message(STATUS "package: ${needed} is missing; manual pages and completion are not looked at (tools/build/setup --python)")
    return()
  endif()
endforeach()
file(GLOB pages ${root}/usr/share/man/man1/dma*)
list(LENGTH pages count)
if(count LESS 10)
  message(FATAL_ERROR "package: ${count} manual pages are installed; one of every command is expected")
endif()
foreach(page IN LISTS pages)
  step(sh -c "gzip -dcf \"$1\" | groff -man -ww -z -Tutf8" sh ${page})
  if(NOT output STREQUAL "")
    message(FATAL_ERROR "package: groff complains about ${page}:\n${output}")
  endif()
endforeach()

# One line typed to the shell, and what it must offer.
set(ENV{PATH} ${root}/usr/bin:$ENV{PATH})
file(WRITE ${root}/houses.csv "a,y\n")
set(lines "dma pred" predict "dma fit --pres" --preset "dma fit --preset pa" paper "dma fit hou" houses.csv
          "dma generate regression --gri" --grid "dma certify leaky" leaky_relu)
while(lines)
  list(POP_FRONT lines line offered)
  step(${bash} ${SOURCE_DIR}/tests/tools/dma/help/ask.bash ${root}/usr/share/bash-completion/completions/dma ${line})
  expect(${offered})
endwhile()

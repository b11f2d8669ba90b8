#!/bin/bash
# The floors of the house: who may include whom. The build refuses an include of a box that is not linked; here is the rest.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

# From left to right; cli stands beside train, and is seen by the tools alone.
order="tools train eval model prior text io dist kernels base"
kernels_users="kernels/registry.cpp tests/bench"

# lint_tree ROOT - prints one line for every breach.
lint_tree() {
  local root=$1
  (
    cd "$root" || exit 1
    grep -rnoE '^#include "(base|kernels|dist|io|text|prior|model|eval|train|cli)/' --include='*.h' --include='*.cpp' lib kernels tools |
      awk -F: -v order="$order" '
        BEGIN { n = split(order, boxes, " "); for (i = 1; i <= n; i++) place[boxes[i]] = i; place["cli"] = place["train"] }
        {
          split($1, path, "/")
          from = path[1] == "lib" ? path[2] : path[1]
          to = $3
          gsub(/.*"|\/$/, "", to)
          if (from != to && (to == "cli" ? from != "tools" : place[from] >= place[to])) print $1 ":" $2 ": " from " may not include " to
        }'
    grep -rnE '#include "kernels/(ref|cpu|cuda)/' --include='*.h' --include='*.cpp' lib tools kernels tests |
      grep -vE "^(kernels/(ref|cpu|cuda)/|${kernels_users// /|})" | grep -vE '^tests/' | sed 's/$/  (a backend is not included from outside)/'
    grep -rlE '#include <(hdf5|H5|zstd)' --include='*.h' --include='*.cpp' lib kernels tools | grep -vE '^lib/io/' | sed 's/$/: HDF5 and zstd belong to lib\/io/'
    grep -rlE '#include <mpi' --include='*.h' --include='*.cpp' lib kernels tools | grep -vE '^lib/dist/mpi/' | sed 's/$/: MPI belongs to lib\/dist\/mpi/'
    grep -rlE '#include <boost/' --include='*.h' --include='*.cpp' lib kernels tools | grep -vE '^lib/cli/' | sed 's/$/: Boost belongs to lib\/cli/'
    grep -rnE 'std::cout|[^_:.a-z]exit\(' --include='*.h' --include='*.cpp' lib kernels | grep -vE '^lib/cli/' | grep -vE '//.*exit\(' | sed 's/$/  (standard output and exit belong to lib\/cli and tools)/'
    grep -rnE '^#\s*if.*(CUDA|BAM_CPU|BAM_REF|HAVE_)' --include='*.h' --include='*.cpp' lib tools kernels | grep -vE '^kernels/(registry|cuda/)' | sed 's/$/  (no #if about backends)/'
  )
}

lint_tree "$BAM_SOURCE" >found
[ ! -s found ] || fail "$(cat found)"

# The lint itself: each kind of breach, planted in a copy, is found.
plant() {
  local file=$1 text=$2
  rm -rf copy
  mkdir copy
  cp -r "$BAM_SOURCE/lib" "$BAM_SOURCE/kernels" "$BAM_SOURCE/tools" copy/
  mkdir copy/tests
  echo "$text" >>"copy/$file"
  lint_tree copy >found
  [ -s found ] || fail "not found when planted in $file: $text"
}
plant lib/base/rng.cpp '#include "io/shard.h"'
plant lib/eval/planted.cpp '#include "train/trainer.h"'
plant lib/io/shard.cpp '#include "cli/options.h"'
plant lib/model/model.cpp '#include "kernels/cpu/cpu_backend.h"'
plant lib/model/model.cpp '#include <hdf5.h>'
plant lib/train/run.cpp '#include <mpi.h>'
plant lib/io/shard.cpp '#include "train/ranks.h"'
plant lib/dist/lifeline.cpp '#include "io/stream.h"'
plant tools/bam_train.cpp '#include <boost/program_options.hpp>'
plant lib/train/planted.cpp 'void f() { std::cout << 1; }'
plant lib/model/model.cpp '#if BAM_CUDA'
finish

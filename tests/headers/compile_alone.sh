#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles every public header by itself, twice in one file, as C99, C17 and C++: whoever uses one
# need not know which others it wants. compile_alone.sh FOLDER C-COMPILER [C++-COMPILER]; TAP.
# A compiler may be several words (ccache gcc).
folder=$1 c=$2 cxx=$3
count=0

# try HEADER LANGUAGE STANDARD COMPILER
try() {
	count=$((count + 1))
	if [ -z "$4" ]; then
		echo "ok $count - $1 as $3 # SKIP no C++ compiler"
	elif fault=$(printf '#include "%s"\n#include "%s"\nint main(void);\nint main(void) { return 0; }\n' "$1" "$1" |
		$4 -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Wconversion -Werror -I "$folder" -fsyntax-only - 2>&1); then
		echo "ok $count - $1 as $3"
	else
		echo "not ok $count - $1 as $3"
		echo "$fault" | sed 's/^/# /'
	fi
}

cd "$folder" || exit 1
headers=$(find . -name '*.h' | sed 's|^\./||' | LC_ALL=C sort)
if [ -z "$headers" ]; then
	echo "1..0 # SKIP 0 headers in include/"
	exit 0
fi
for header in $headers; do
	try "$header" c c99 "$c"
	try "$header" c c17 "$c"
	try "$header" c++ c++11 "$cxx"
	try "$header" c++ c++20 "$cxx"
done
echo "1..$count"

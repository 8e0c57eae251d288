// SPDX-License-Identifier: Apache-2.0
// Fat binaries of CUDA programs: the PTX in them, by NVIDIA's cuobjdump.
#pragma once
#include "blocks/compile.h"

// Puts the PTX of a BUILD that is a fat binary in its place: that of the highest architecture that
// the device runs. The build is told what it is. Files go into the folder. 0; or -ENOENT (no
// cuobjdump, or no such PTX), -ENOTSUP (PTX that counters are not put in), -EIO, -ETIMEDOUT or
// -ENOMEM with a sentence.
int tare_blocks_fat_unpack(const char *folder, struct tare_blocks_input *input,
                           struct tare_blocks_build *build, struct tare_error *error);

// SPDX-License-Identifier: Apache-2.0
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

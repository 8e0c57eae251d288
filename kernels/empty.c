// SPDX-License-Identifier: Apache-2.0
// Does nothing: what remains of its time is the cost of launching.
KERNEL void empty(void)
{
}

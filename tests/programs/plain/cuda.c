// SPDX-License-Identifier: Apache-2.0
// Stands for a library of an API that tare does not record: it has the soname, and does nothing.
int cuInit(unsigned flags);

int cuInit(unsigned flags)
{
	return (int)flags;
}

// SPDX-License-Identifier: Apache-2.0
// Is linked with the library of another API, and short.
int cuInit(unsigned flags);

int main(void)
{
	return cuInit(0);
}

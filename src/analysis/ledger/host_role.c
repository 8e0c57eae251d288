// SPDX-License-Identifier: Apache-2.0
// What the host does in a call of a role.
#include "analysis/ledger/host_internal.h"

enum tare_host_state ledger_state_of_role(uint32_t role)
{
	switch (role) {
	case TARE_ROLE_WAIT:
	case TARE_ROLE_POLL:
		return TARE_HOST_WAIT;
	case TARE_ROLE_BUILD:
		return TARE_HOST_BUILD;
	case TARE_ROLE_LOAD:
		return TARE_HOST_LOAD;
	case TARE_ROLE_ALLOCATE:
		return TARE_HOST_ALLOCATE;
	case TARE_ROLE_RELEASE:
		return TARE_HOST_RELEASE;
	case TARE_ROLE_QUERY:
		return TARE_HOST_QUERY;
	default:
		return TARE_HOST_API;
	}
}

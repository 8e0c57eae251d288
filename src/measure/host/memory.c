// SPDX-License-Identifier: Apache-2.0
#include "measure/host/memory.h"

#include "base/cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// The files of one version of control groups; see cgroups(7) and the kernel's cgroup-v2.rst.
struct version {
	const char *mount, *limit, *used, *reclaimable; // the last a row of memory.stat
};

static const struct version versions[] = {
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file" },
	{ "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file" },
};

static void lower(struct tare_host_memory *memory, uint64_t bytes, bool by_group)
{
	if (memory->known && bytes >= memory->bytes)
		return;
	*memory = (struct tare_host_memory){ true, bytes, by_group };
}

static void read_system(const char *root, struct tare_host_memory *memory)
{
	unsigned long long kib;
	char path[PATH_MAX], line[128];

	snprintf(path, sizeof path, "%s/proc/meminfo", root);
	TARE_FCLOSE FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			lower(memory, (uint64_t)kib << 10, false);
}

// False for "max", and where there is no such file.
static bool read_number(const char *folder, const char *name, uint64_t *value)
{
	unsigned long long number;
	char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	TARE_FCLOSE FILE *file = fopen(path, "re");
	if (!file || fscanf(file, "%llu", &number) != 1)
		return false;
	*value = number;
	return true;
}

static uint64_t read_reclaimable(const char *folder, const char *row)
{
	unsigned long long number;
	char path[PATH_MAX + 64], name[64];

	snprintf(path, sizeof path, "%s/memory.stat", folder);
	TARE_FCLOSE FILE *file = fopen(path, "re");
	while (file && fscanf(file, "%63s %llu", name, &number) == 2)
		if (strcmp(name, row) == 0)
			return number;
	return 0;
}

static void read_group(const struct version *version, const char *folder,
                       struct tare_host_memory *memory)
{
	uint64_t limit, used, reclaimable;

	if (!read_number(folder, version->limit, &limit) ||
	    !read_number(folder, version->used, &used))
		return;
	reclaimable = read_reclaimable(folder, version->reclaimable);
	used = used > reclaimable ? used - reclaimable : 0;
	lower(memory, limit > used ? limit - used : 0, true);
}

// The group and those above it. In a container its path may be the host's, which is not mounted
// there; the walk up then ends at the mount, which is the container's group.
static void read_groups(const struct version *version, const char *root, const char *group,
                        struct tare_host_memory *memory)
{
	char folder[PATH_MAX];
	size_t mount = (size_t)snprintf(folder, sizeof folder, "%s%s", root, version->mount);
	size_t length = mount + strlen(group);

	if (length >= sizeof folder)
		return;
	strcpy(folder + mount, group);
	for (;;) {
		while (length > mount && folder[length - 1] == '/')
			folder[--length] = '\0';
		read_group(version, folder, memory);
		if (length <= mount)
			return;
		while (length > mount && folder[length - 1] != '/')
			folder[--length] = '\0';
	}
}

// "4:cpu,memory:/docker/1f": whether the middle names the memory controller.
static bool has_memory(char *controllers)
{
	char *rest = NULL;

	for (char *one = strtok_r(controllers, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
		if (strcmp(one, "memory") == 0)
			return true;
	return false;
}

struct tare_host_memory tare_host_memory_free(const char *root)
{
	struct tare_host_memory memory = { 0 };
	char path[PATH_MAX], line[PATH_MAX];

	read_system(root, &memory);
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	TARE_FCLOSE FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		char *controllers = strchr(line, ':'), *group;
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		controllers++;
		if (controllers[0] == '\0')
			read_groups(&versions[1], root, group, &memory);
		else if (has_memory(controllers))
			read_groups(&versions[0], root, group, &memory);
	}
	return memory;
}

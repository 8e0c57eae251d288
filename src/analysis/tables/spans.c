// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/internal.h"

#include "analysis/core/ranks.h"
#include "base/random.h"

enum order { BY_FROM, BY_LENGTH };
enum { SHORT = 24, MANY = 1024 };

static int64_t key_of(const struct tables_span *span, enum order order)
{
	return order == BY_FROM ? span->from : span->to - span->from;
}

static int64_t pivot(const struct tables_span *spans, size_t n, enum order order,
                     struct tare_random *random)
{
	int64_t a = key_of(&spans[tare_random_below(random, n)], order);
	int64_t b = key_of(&spans[tare_random_below(random, n)], order);
	int64_t c = key_of(&spans[tare_random_below(random, n)], order);
	int64_t low = a < b ? a : b;
	int64_t high = a < b ? b : a;
	return c < low ? low : c > high ? high : c;
}

// Hoare's partition around one of the keys: [0, *left) is not larger than [*right, n), what lies
// between is equal to the key. Stopping at equals keeps the parts balanced when there are ties.
static void partition(struct tables_span *spans, size_t n, enum order order,
                      struct tare_random *random, size_t *left, size_t *right)
{
	int64_t middle = pivot(spans, n, order, random);
	ptrdiff_t i = 0;
	ptrdiff_t j = (ptrdiff_t)n - 1;
	while (i <= j) {
		while (key_of(&spans[i], order) < middle)
			i++;
		while (key_of(&spans[j], order) > middle)
			j--;
		if (i <= j) {
			struct tables_span held = spans[i];
			spans[i++] = spans[j];
			spans[j--] = held;
		}
	}
	*left = (size_t)(j + 1);
	*right = (size_t)i;
}

static void sort_short(struct tables_span *spans, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct tables_span held = spans[i];
		size_t place = i;
		for (; place > 0 && spans[place - 1].from > held.from; place--)
			spans[place] = spans[place - 1];
		spans[place] = held;
	}
}

// The C library's sort would take as much memory again.
static void sort_parts(struct tables_span *spans, size_t n, struct tare_random *random)
{
	while (n > SHORT) {
		size_t left, right;
		partition(spans, n, BY_FROM, random, &left, &right);
		// The smaller part by recursion: no deeper than log2(n).
		if (left < n - right) {
			sort_parts(spans, left, random);
			spans += right;
			n -= right;
		} else {
			sort_parts(spans + right, n - right, random);
			n = left;
		}
	}
	sort_short(spans, n);
}

void tables_sort(struct tables_span *spans, size_t n)
{
	struct tare_random random = { n };
	size_t sorted = 1;
	while (sorted < n && spans[sorted - 1].from <= spans[sorted].from)
		sorted++;
	if (sorted < n)
		sort_parts(spans, n, &random);
}

// The length of rank k; afterwards nothing before it is longer, nothing behind it shorter.
static int64_t select_length(struct tables_span *spans, size_t n, size_t k)
{
	struct tare_random random = { n };
	size_t low = 0;
	size_t high = n;
	while (high - low > 1) {
		size_t left, right;
		partition(spans + low, high - low, BY_LENGTH, &random, &left, &right);
		if (k < low + left)
			high = low + left;
		else if (k >= low + right)
			low += right;
		else
			break;
	}
	return key_of(&spans[k], BY_LENGTH);
}

static uint32_t narrow_at(const void *spans, size_t index)
{
	const struct tables_span *span = &((const struct tables_span *)spans)[index];
	return (uint32_t)(span->to - span->from);
}

// Whether there are many, each of which has 32 bits.
static bool are_narrow(const struct tables_span *spans, size_t n)
{
	uint64_t bits = n >= MANY && n <= UINT32_MAX ? 0 : UINT64_MAX;
	for (size_t i = 0; i < n && bits <= UINT32_MAX; i++)
		bits |= (uint64_t)(spans[i].to - spans[i].from);
	return bits <= UINT32_MAX;
}

double tables_quantile_length(struct tables_span *spans, size_t n, double p)
{
	double place = p * (double)(n - 1);
	size_t k = (size_t)place;
	if (are_narrow(spans, n))
		return tare_ranks_quantile(narrow_at, spans, n, p);
	int64_t below = select_length(spans, n, k);
	int64_t above = below;
	if (k + 1 < n) {
		above = INT64_MAX;
		for (size_t i = k + 1; i < n; i++)
			if (key_of(&spans[i], BY_LENGTH) < above)
				above = key_of(&spans[i], BY_LENGTH);
	}
	return (double)below + (place - (double)k) * (double)(above - below);
}

double tables_median_length(struct tables_span *spans, size_t n)
{
	return tables_quantile_length(spans, n, 0.5);
}

size_t tables_merge(struct tables_span *spans, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && spans[i].from <= spans[kept - 1].to) {
			if (spans[i].to > spans[kept - 1].to)
				spans[kept - 1].to = spans[i].to;
		} else {
			spans[kept++] = spans[i];
		}
	}
	return kept;
}

int64_t tables_union(const struct tables_span *spans, size_t n)
{
	int64_t total = 0;
	int64_t covered = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		int64_t from = spans[i].from > covered ? spans[i].from : covered;
		if (spans[i].to <= from)
			continue;
		total = tables_add(total, spans[i].to - from);
		covered = spans[i].to;
	}
	return total;
}

int64_t tables_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

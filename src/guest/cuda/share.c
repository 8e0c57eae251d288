// SPDX-License-Identifier: Apache-2.0
// A program that uses CUPTI itself, as PyTorch's profiler does. A process has one subscriber and
// one pair of buffer callbacks, and both are ours; so its libraries' calls of CUPTI come to us
// (bind.c).
//  - Its subscription is a part of ours: it gets the callbacks that it has enabled.
//  - With the first call for activity records, those are its own from then on: ours end.
#include "guest/cuda/cuda.h"
#include "guest/cuda/front/lookup.h"

#include <dlfcn.h>
#include <string.h>

enum { DOMAINS = 8 };

static cupti_subscriber shared;       // ours
static cupti_callback _Atomic theirs; // NULL: no subscription
static void *their_context;
static _Atomic uint8_t wanted[DOMAINS][CUDA_MOST_CALLBACKS / 8];

// ---- callbacks

static bool they_want(cupti_domain domain, uint32_t id)
{
	return domain < DOMAINS && id < CUDA_MOST_CALLBACKS &&
	       atomic_load_explicit(&wanted[domain][id / 8], memory_order_relaxed) >> id % 8 & 1;
}

static void set_wanted(cupti_domain domain, uint32_t id, bool wants)
{
	if (domain >= DOMAINS || id >= CUDA_MOST_CALLBACKS)
		return;
	if (wants)
		atomic_fetch_or(&wanted[domain][id / 8], (uint8_t)(1 << id % 8));
	else
		atomic_fetch_and(&wanted[domain][id / 8], (uint8_t)~(1 << id % 8));
}

static bool we_want(cupti_domain domain, uint32_t id)
{
	return id < CUDA_MOST_CALLBACKS &&
	       (domain == ABI_CUPTI_DOMAIN_DRIVER    ? cuda_by_callback[id] != 0
	        : domain == ABI_CUPTI_DOMAIN_RUNTIME ? cuda_runtime_by_callback[id] != 0
	                                             : domain == ABI_CUPTI_DOMAIN_RESOURCE &&
	                                                   id == ABI_CUPTI_RESOURCE_MODULE_LOADED);
}

void cuda_share_callback(cupti_domain domain, uint32_t id, const void *data)
{
	cupti_callback callback = atomic_load_explicit(&theirs, memory_order_acquire);
	if (CUDA_UNLIKELY(callback != NULL) && they_want(domain, id))
		callback(their_context, domain, id, data);
}

// ---- what the program calls

static cupti_result subscribe(cupti_subscriber *subscriber, cupti_callback callback, void *context)
{
	cupti_callback none = NULL;
	if (!shared || !subscriber || !callback || atomic_load(&theirs))
		return cuda_cupti.cuptiSubscribe(subscriber, callback, context);
	their_context = context;
	if (!atomic_compare_exchange_strong(&theirs, &none, callback))
		return ABI_CUPTI_MULTIPLE_SUBSCRIBERS;
	cuda_change(TARE_CHANGE_CALLBACK, (const void *)callback, 0, 1);
	*subscriber = shared;
	return ABI_CUPTI_SUCCESS;
}

static cupti_result subscribe_v2(cupti_subscriber *subscriber, cupti_callback callback,
                                 void *context, cupti_subscription *subscription)
{
	if (shared && subscriber && callback && !atomic_load(&theirs))
		return subscribe(subscriber, callback, context);
	return cuda_cupti.cuptiSubscribe_v2(subscriber, callback, context, subscription);
}

static bool is_theirs(cupti_subscriber subscriber)
{
	return subscriber && subscriber == shared && atomic_load(&theirs);
}

static cupti_result enable_callback(uint32_t enable, cupti_subscriber subscriber,
                                    cupti_domain domain, uint32_t id)
{
	cupti_result result = ABI_CUPTI_SUCCESS;
	if (!is_theirs(subscriber))
		return cuda_cupti.cuptiEnableCallback(enable, subscriber, domain, id);
	if (enable)
		set_wanted(domain, id, true);
	if (!we_want(domain, id))
		result = cuda_cupti.cuptiEnableCallback(enable, subscriber, domain, id);
	if (!enable || result != ABI_CUPTI_SUCCESS)
		set_wanted(domain, id, false);
	return result;
}

static void disable_wanted(cupti_domain domain)
{
	for (uint32_t id = 0; id < CUDA_MOST_CALLBACKS; id++) {
		if (!they_want(domain, id))
			continue;
		set_wanted(domain, id, false);
		if (!we_want(domain, id))
			cuda_cupti.cuptiEnableCallback(0, shared, domain, id);
	}
}

static cupti_result enable_domain(uint32_t enable, cupti_subscriber subscriber, cupti_domain domain)
{
	if (!is_theirs(subscriber) || domain == 0 || domain >= DOMAINS)
		return cuda_cupti.cuptiEnableDomain(enable, subscriber, domain);
	if (!enable) {
		disable_wanted(domain);
		return ABI_CUPTI_SUCCESS;
	}
	for (uint32_t i = 0; i < CUDA_MOST_CALLBACKS / 8; i++)
		atomic_store(&wanted[domain][i], 0xff);
	return cuda_cupti.cuptiEnableDomain(1, subscriber, domain);
}

static cupti_result enable_all_domains(uint32_t enable, cupti_subscriber subscriber)
{
	if (!is_theirs(subscriber))
		return cuda_cupti.cuptiEnableAllDomains(enable, subscriber);
	for (cupti_domain domain = 1; domain < DOMAINS; domain++) {
		if (!enable)
			disable_wanted(domain);
		for (uint32_t i = 0; enable && i < CUDA_MOST_CALLBACKS / 8; i++)
			atomic_store(&wanted[domain][i], 0xff);
	}
	return enable ? cuda_cupti.cuptiEnableAllDomains(1, subscriber) : ABI_CUPTI_SUCCESS;
}

static cupti_result callback_state(uint32_t *enable, cupti_subscriber subscriber,
                                   cupti_domain domain, uint32_t id)
{
	cupti_result result = cuda_cupti.cuptiGetCallbackState(enable, subscriber, domain, id);
	if (result == ABI_CUPTI_SUCCESS && is_theirs(subscriber))
		*enable = they_want(domain, id);
	return result;
}

static cupti_result unsubscribe(cupti_subscriber subscriber)
{
	if (!is_theirs(subscriber))
		return cuda_cupti.cuptiUnsubscribe(subscriber);
	for (cupti_domain domain = 1; domain < DOMAINS; domain++)
		disable_wanted(domain);
	atomic_store(&theirs, NULL);
	return ABI_CUPTI_SUCCESS;
}

// It would end ours as well: of theirs nothing is left, either.
static cupti_result finalize(void)
{
	unsubscribe(shared);
	return ABI_CUPTI_SUCCESS;
}

static cupti_result register_callbacks(cupti_buffer_requested requested,
                                       cupti_buffer_completed completed)
{
	if (requested && completed)
		cuda_activity_leave();
	return cuda_cupti.cuptiActivityRegisterCallbacks(requested, completed);
}

static cupti_result register_timestamp(cupti_timestamp now)
{
	if (now)
		cuda_activity_leave();
	return cuda_cupti.cuptiActivityRegisterTimestampCallback(now);
}

static cupti_result activity_enable(cupti_kind kind)
{
	cuda_activity_leave();
	return cuda_cupti.cuptiActivityEnable(kind);
}

// While they are ours, it has enabled none.
static cupti_result activity_disable(cupti_kind kind)
{
	return cuda_activity_is_ours() ? ABI_CUPTI_SUCCESS : cuda_cupti.cuptiActivityDisable(kind);
}

// ---- the beginning

static struct cuda_binding bindings[13];
static uint32_t binding_count;
static const void *vendors[4]; // in the driver, in CUPTI, in ourselves

static void add(const char *name, void *ours, void *known)
{
	if (known)
		bindings[binding_count++] =
		    (struct cuda_binding){ .name = name, .ours = ours, .theirs = known };
}

// Who is not linked with CUPTI asks dlsym for its functions, as the profilers of JAX and Triton do.
#ifdef LOOKUP
__attribute__((visibility("hidden"))) void *cuda_share_dlsym(void *library, const char *name);
__attribute__((visibility("hidden"))) struct lookup_answer cuda_share_answer(void *library,
                                                                             const char *name);
LOOKUP(cuda_share_dlsym, cuda_share_answer);

struct lookup_answer cuda_share_answer(void *library, const char *name)
{
	void *(*pointer)(void *, const char *) = dlsym;
	struct lookup_answer asked = { NULL, 1 };
	void *found;
	memcpy(&asked.address, &pointer, sizeof pointer);
	if (CUDA_LIKELY(!name || strncmp(name, "cupti", 5) != 0) || library == RTLD_NEXT ||
	    library == RTLD_DEFAULT)
		return asked;
	found = dlsym(library, name);
	for (uint32_t i = 0; i < binding_count && found; i++)
		if (found == bindings[i].theirs && strcmp(name, bindings[i].name) == 0)
			return (struct lookup_answer){ bindings[i].ours, 0 };
	return (struct lookup_answer){ found, 0 };
}

static void add_lookup(void)
{
	void *(*of_c)(void *, const char *) = dlsym,
	                                 *(*of_ours)(void *, const char *) = cuda_share_dlsym;
	struct cuda_binding *binding = &bindings[binding_count++];
	*binding = (struct cuda_binding){ .name = "dlsym", .of_program = true };
	memcpy(&binding->theirs, &of_c, sizeof of_c);
	memcpy(&binding->ours, &of_ours, sizeof of_ours);
}
#else
static void add_lookup(void)
{
}
#endif

void cuda_share_begin(cupti_subscriber subscriber)
{
#define ADD(name, function)                                                                        \
	do {                                                                                       \
		__typeof__(&function) pointer = function;                                          \
		void *ours, *known;                                                                \
		memcpy(&ours, &pointer, sizeof ours);                                              \
		memcpy(&known, &cuda_cupti.name, sizeof known);                                    \
		add(#name, ours, known);                                                           \
	} while (0)
	shared = subscriber;
	ADD(cuptiSubscribe, subscribe);
	ADD(cuptiSubscribe_v2, subscribe_v2);
	ADD(cuptiUnsubscribe, unsubscribe);
	ADD(cuptiEnableCallback, enable_callback);
	ADD(cuptiEnableDomain, enable_domain);
	ADD(cuptiEnableAllDomains, enable_all_domains);
	ADD(cuptiGetCallbackState, callback_state);
	ADD(cuptiFinalize, finalize);
	ADD(cuptiActivityRegisterCallbacks, register_callbacks);
	ADD(cuptiActivityRegisterTimestampCallback, register_timestamp);
	ADD(cuptiActivityEnable, activity_enable);
	ADD(cuptiActivityDisable, activity_disable);
#undef ADD
	memcpy(&vendors[0], &cuda_cupti.cuptiSubscribe, sizeof vendors[0]);
	vendors[1] = &bindings;
	memcpy(&vendors[2], &cuda_driver.cuDriverGetVersion, sizeof vendors[2]);
	add_lookup();
	cuda_share_look();
}

bool cuda_share_traces(void)
{
	for (uint32_t i = 0; i < binding_count; i++)
		if (bindings[i].called &&
		    strcmp(bindings[i].name, "cuptiActivityRegisterCallbacks") == 0)
			return true;
	return false;
}

void cuda_share_look(void)
{
	uint32_t led = binding_count ? cuda_bind(bindings, binding_count, vendors) : 0;
	if (led)
		cuda_change(TARE_CHANGE_CUPTI, NULL, 0, led);
}

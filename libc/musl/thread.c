/* The structure of the one thread, as musl's start-up code would leave it. */
#define __pleach_thread __pleach_thread_declared_as_bytes
#include "pthread_impl.h"
#undef __pleach_thread

struct pthread __pleach_thread = {
	.self = &__pleach_thread,
	.prev = &__pleach_thread,
	.next = &__pleach_thread,
	.tid = 1,
	.detach_state = DT_JOINABLE,
	.locale = &__libc.global_locale,
};

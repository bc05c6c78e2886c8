/* The one thread's structure is a global, see thread.c. */
extern char __pleach_thread[];
static inline uintptr_t __get_tp(void) { return (uintptr_t)__pleach_thread; }

#define MC_PC gregs[REG_EIP]

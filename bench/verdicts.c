/* What the tasks of other tools call by names of their own. Weak: a task's own definition wins. Conditions are `int`: many calls have no declaration. */
extern void __VERIFIER_assume(int);
extern void __assert_fail(const char *, const char *, unsigned, const char *);

#define MEAN(name) __attribute__((weak)) name
void MEAN(assert)(int holds) { if (!holds) __assert_fail("", "", 0, ""); }
void MEAN(__ESBMC_assert)(int holds, const char *what) { if (!holds) __assert_fail(what, "", 0, ""); }
void MEAN(__CPROVER_assert)(int holds, const char *what) { if (!holds) __assert_fail(what, "", 0, ""); }
void MEAN(__ESBMC_assume)(int holds) { __VERIFIER_assume(holds); }
void MEAN(__CPROVER_assume)(int holds) { __VERIFIER_assume(holds); }

#define ANY(type, name, of) extern type __VERIFIER_nondet_##of(void); type MEAN(nondet_##name)(void) { return __VERIFIER_nondet_##of(); }
ANY(_Bool, bool, bool)
ANY(char, char, char)
ANY(unsigned char, uchar, uchar)
ANY(short, short, short)
ANY(unsigned short, ushort, ushort)
ANY(int, int, int)
ANY(unsigned, uint, uint)
ANY(long, long, long)
ANY(unsigned long, ulong, ulong)
ANY(long long, longlong, longlong)
ANY(unsigned long long, ulonglong, ulonglong)
ANY(float, float, float)
ANY(double, double, double)

/* Multiplication and division of complex numbers, which compilers call for infinities and NaNs, and old names of tests of floats. */
#include <math.h>

#define ARITHMETIC(T, mul, div, inf, copy, logb, scalb, maximum, absolute) \
	static T box_##mul(T x) { return copy(inf(x) ? (T)1 : (T)0, x); } \
	static T zero_##mul(T x) { return isnan(x) ? copy((T)0, x) : x; } \
	_Complex T mul(T a, T b, T c, T d) \
	{ \
		T ac = a * c, bd = b * d, ad = a * d, bc = b * c; \
		_Complex T z; \
		__real__ z = ac - bd; \
		__imag__ z = ad + bc; \
		if (isnan(__real__ z) && isnan(__imag__ z)) { \
			int again = 0; \
			if (inf(a) || inf(b)) { \
				a = box_##mul(a), b = box_##mul(b); \
				c = zero_##mul(c), d = zero_##mul(d); \
				again = 1; \
			} \
			if (inf(c) || inf(d)) { \
				c = box_##mul(c), d = box_##mul(d); \
				a = zero_##mul(a), b = zero_##mul(b); \
				again = 1; \
			} \
			if (!again && (inf(ac) || inf(bd) || inf(ad) || inf(bc))) { \
				a = zero_##mul(a), b = zero_##mul(b); \
				c = zero_##mul(c), d = zero_##mul(d); \
				again = 1; \
			} \
			if (again) { \
				__real__ z = INFINITY * (a * c - b * d); \
				__imag__ z = INFINITY * (a * d + b * c); \
			} \
		} \
		return z; \
	} \
	_Complex T div(T a, T b, T c, T d) \
	{ \
		int scale = 0; \
		T by = logb(maximum(absolute(c), absolute(d))); \
		if (isfinite(by)) { \
			scale = (int)by; \
			c = scalb(c, -scale), d = scalb(d, -scale); \
		} \
		T denominator = c * c + d * d; \
		_Complex T z; \
		__real__ z = scalb((a * c + b * d) / denominator, -scale); \
		__imag__ z = scalb((b * c - a * d) / denominator, -scale); \
		if (isnan(__real__ z) && isnan(__imag__ z)) { \
			if (denominator == 0 && (!isnan(a) || !isnan(b))) { \
				__real__ z = copy((T)INFINITY, c) * a; \
				__imag__ z = copy((T)INFINITY, c) * b; \
			} else if ((inf(a) || inf(b)) && isfinite(c) && isfinite(d)) { \
				a = box_##mul(a), b = box_##mul(b); \
				__real__ z = INFINITY * (a * c + b * d); \
				__imag__ z = INFINITY * (b * c - a * d); \
			} else if (isinf(by) && by > 0 && isfinite(a) && isfinite(b)) { \
				c = box_##mul(c), d = box_##mul(d); \
				__real__ z = 0 * (a * c + b * d); \
				__imag__ z = 0 * (b * c - a * d); \
			} \
		} \
		return z; \
	}

ARITHMETIC(float, __mulsc3, __divsc3, isinf, copysignf, logbf, scalbnf, fmaxf, fabsf)
ARITHMETIC(double, __muldc3, __divdc3, isinf, copysign, logb, scalbn, fmax, fabs)
ARITHMETIC(long double, __mulxc3, __divxc3, isinf, copysignl, logbl, scalbnl, fmaxl, fabsl)

#define TESTS(T, suffix) \
	int __isnan##suffix(T x) { return isnan(x); } \
	int __isinf##suffix(T x) { return isinf(x) ? (signbit(x) ? -1 : 1) : 0; } \
	int __finite##suffix(T x) { return isfinite(x); } \
	int (isnan##suffix)(T x) { return isnan(x); } \
	int (isinf##suffix)(T x) { return __isinf##suffix(x); }

TESTS(float, f)
TESTS(double, )
TESTS(long double, l)
int finitel(long double x) { return isfinite(x); }

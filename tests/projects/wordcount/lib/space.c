#include "words.h"

extern inline int space(char c);

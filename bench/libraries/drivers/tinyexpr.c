#include "tinyexpr.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  double x = 3, y = 4;
  te_variable variables[] = {{"x", &x, 0, 0}, {"y", &y, 0, 0}};
  int error;
  te_expr *expression = te_compile(text, variables, 2, &error);
  if (expression) {
    volatile double value = te_eval(expression);
    (void)value;
    te_free(expression);
  }
  free(text);
  return 0;
}

#include "words.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char copy[8];
  if (argc != 2) return 3;
  strncpy(copy, argv[1], sizeof copy - 1);
  copy[sizeof copy - 1] = 0;
  printf("%d\n", words(copy));
  return 0;
}

// One function of libpng that checks or keeps what it is given, chosen by API, on a block or a string of unknown size.
#include "pngpriv.h"
#include "input.h"

enum { signature, number, keyword, text, palette, transparency, scale, unknown, calibration, histogram };

static void quiet(png_structp png, png_const_charp why) { }
static void leave(png_structp png, png_const_charp why) { exit(2); }

int main(void) {
  size_t n;
  if (API == signature) {
    size_t from = klee_range(0, 9, "from");
    unsigned char *bytes = block(&n, "bytes", "n");
    klee_assume(n > from);
    return png_sig_cmp(bytes, from, n - from) != 0;
  }
  if (API == number) {
    unsigned char *bytes = block(&n, "bytes", "n");
    return png_check_fp_string((png_const_charp)bytes, n);
  }
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leave, quiet);
  png_infop info = png_create_info_struct(png);
  if (!info) return 1;
  switch (API) {
  case keyword: {
    png_byte made[80];
    return (int)png_check_keyword(png, string("s", "n"), made);
  }
  case text: {
    png_text t = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = string("key", "k"), .text = string("text", "n")};
    png_set_text(png, info, &t, 1);
    break;
  }
  case palette: {
    unsigned char *bytes = block(&n, "bytes", "n");
    png_set_IHDR(png, info, 4, 4, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, 0, 0);
    png_set_PLTE(png, info, (png_const_colorp)bytes, n / 3);
    break;
  }
  case transparency: {
    unsigned char *bytes = block(&n, "bytes", "n");
    png_set_IHDR(png, info, 4, 4, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, 0, 0);
    png_set_tRNS(png, info, bytes, n, NULL);
    break;
  }
  case scale: png_set_sCAL_s(png, info, PNG_SCALE_METER, string("width", "n"), string("height", "m")); break;
  case unknown: {
    png_unknown_chunk c = {.name = "abCd", .data = block(&n, "bytes", "n"), .location = PNG_HAVE_IHDR};
    c.size = n;
    png_set_unknown_chunks(png, info, &c, 1);
    break;
  }
  case calibration: {
    char *units = string("units", "u"), *parameter = string("parameter", "n");
    png_set_pCAL(png, info, "purpose", 0, 100, PNG_EQUATION_LINEAR, 1, units, &parameter);
    break;
  }
  case histogram: {
    unsigned char *bytes = block(&n, "bytes", "n");
    info->num_palette = n / 2;
    png_set_hIST(png, info, (png_const_uint_16p)bytes);
    break;
  }
  }
  return 0;
}

#include "engine/support/text.h"

#include <doctest/doctest.h>

TEST_CASE("text: letters of all scripts are plain, control characters and broken UTF-8 are not") {
  for (const char* plain : {"", "x", "größe", "日本語", "😀", "a b~", "`$(x)`", "شش", "\u200d", "\u2027", "\u2065"})
    CHECK(dma::is_plain_text(plain));
  for (const char* other :
       {"\n",       "a\tb",         "\x1b[2J",          "\x7f",     "\x9b",   "gr\xf6\xdf", "\xc2\x9b",
        "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff",   "a\u202eb",   "\u202a",
        "\u2066",   "\u2069",       "\u200e",           "\u200f",   "\u061c", "\u2028"})
    CHECK_FALSE(dma::is_plain_text(other));
  CHECK_FALSE(dma::is_plain_text(std::string_view("a\0b", 3)));
}

TEST_CASE("text: printable text has no control characters and keeps the rest") {
  CHECK(dma::printable("größe\x1b[31m\n\xf6") == "größe\\x1b[31m\\x0a\\xf6");
  CHECK(dma::printable("a\u202eb") == "a\\xe2\\x80\\xaeb");
  std::string all;
  for (int i = 0; i < 65536; ++i) (all += static_cast<char>(i % 256)) += static_cast<char>(i / 256);
  CHECK(dma::is_plain_text(dma::printable(all)));
}

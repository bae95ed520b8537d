// Decimal numbers to and from text, whatever the locale of the host program.
#ifndef INDIM_BASE_NUMBER_H
#define INDIM_BASE_NUMBER_H

#include "indim/base.h"

// The double nearest to a decimal text: -?digits[.digits][(e|E)[+-]digits], at least one digit. Infinite when the text
// is beyond the range. The text must have that form; there is no error.
double indim_number_parse(indim_str text);

// Writes |value| as printf's %.{digits}g does in the C locale; |digits| at most 17. Infinities print "inf" and "-inf",
// any NaN "nan" or "-nan". |out| holds at least 40 bytes. Returns the length.
size_t indim_number_print(double value, int digits, char *out);

#endif  // INDIM_BASE_NUMBER_H

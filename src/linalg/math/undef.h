// Takes back the words of real.h and complex.h. No include guard.
#undef T
#undef NAME
#undef CONJ
#undef RE
#undef IM
#undef ABS
#undef ABS1
#undef MAKE

/* hypot: what is large or small is scaled. */
#include "../hypot_core.h"
#include "signals.h"

double c2cu_rare_hypot(double x, double y) {
    double x_size = fabs(x), y_size = fabs(y), most = 0x1.fffffffffffffp1023;
    double a = x_size < y_size ? y_size : x_size, b = x_size < y_size ? x_size : y_size;
    _Bool alone = a > 0x1p511 ? b <= a * 0x1p-54 : a >= b / 0x1p-54;
    double scale = a > 0x1p511 ? 0x1p-600 : 0x1p600;
    double result = alone ? a + b : c2cu_hypot_core(a * scale, b * scale) / scale;
    result = x != x || y != y ? x + y : result;
    return (x_size > most || y_size > most) && !c2cu_signals(x) && !c2cu_signals(y) ? __builtin_inf() : result;
}

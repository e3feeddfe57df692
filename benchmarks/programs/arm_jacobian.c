#include <math.h>
#define LINKS 7
float angle[LINKS], length[LINKS]; float jacobian[2][LINKS], tip[2];

void arm_jacobian(void) {
    float sum = 0, x[LINKS], y[LINKS];
    for (int i = 0; i < LINKS; i++) {
        sum += angle[i];
        x[i] = length[i] * cosf(sum);
        y[i] = length[i] * sinf(sum);
    }
    tip[0] = tip[1] = 0;
    for (int i = LINKS - 1; i >= 0; i--) {
        tip[0] += x[i];
        tip[1] += y[i];
        jacobian[0][i] = -tip[1];
        jacobian[1][i] = tip[0];
    }
}

/* Prefix sums of N numbers: the oblivious algorithm in its simplest form.
 *
 * stdin: N numbers. stdout: N sums.
 */
#include <stdio.h>

#define N 1024

float b[N];

void prefix_sums(void) {
    float r = 0;
    for (int i = 0; i < N; i++) {
        r = r + b[i];
        b[i] = r;
    }
}

int main(void) {
    for (int i = 0; i < N; i++)
        if (scanf("%f", &b[i]) != 1)
            return 1;
#pragma kernel
    prefix_sums();
    for (int i = 0; i < N; i++)
        printf("%.9g%c", b[i], i + 1 < N ? ' ' : '\n');
    return 0;
}

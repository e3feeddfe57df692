/* Batcher's bitonic sort of N numbers, N a power of two.
 *
 * stdin: N numbers. stdout: the same in ascending order.
 */
#include <stdio.h>

#define N 32

float a[N];

void bitonic_sort(void) {
    for (int k = 2; k <= N; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            for (int i = 0; i < N; i++) {
                int l = i ^ j;
                if (l > i) {
                    int up = (i & k) == 0;
                    if ((a[i] > a[l]) == up) {
                        float t = a[i];
                        a[i] = a[l];
                        a[l] = t;
                    }
                }
            }
}

int main(void) {
    for (int i = 0; i < N; i++)
        if (scanf("%f", &a[i]) != 1)
            return 1;
#pragma kernel
    bitonic_sort();
    for (int i = 0; i < N; i++)
        printf("%.9g%c", a[i], i + 1 < N ? ' ' : '\n');
    return 0;
}

#include <stdbool.h>
#define N 16
unsigned char R[N][N];
void closure(void) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        R[i][j] = R[i][j] || (R[i][k] && R[k][j]);
}

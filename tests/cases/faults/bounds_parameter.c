#define ROWS 3
#define COLS 5
#ifndef FIXED
#define LAST COLS
#else
#define LAST ROWS
#endif
static void scale(int rows, float m[ROWS][COLS], float by) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < COLS; j++)
            m[i][j] *= by; /* fault: element 15 is outside 'm', which has 15 elements, where i = 3 and j = 0 */
}
void kern(float m[ROWS][COLS]) {
    scale(LAST, m, 0.5f);
}

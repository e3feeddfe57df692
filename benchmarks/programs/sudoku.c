/* Sudoku by backtracking, with a mask of bits for each row, column and box. */
unsigned char given[81], solved[81];
int nodes;

void sudoku(void) {
    unsigned short row[9] = {0}, col[9] = {0}, box[9] = {0};
    unsigned char cell[81], empty[81];
    unsigned short left[82];
    int k = 0;
    for (int i = 0; i < 81; i++) {
        cell[i] = given[i];
        if (given[i]) { int b = 1 << given[i]; row[i / 9] |= b; col[i % 9] |= b; box[i / 27 * 3 + i % 9 / 3] |= b; }
        else empty[k++] = i;
    }
    int d = 0, c = 0;
    if (k) { int i = empty[0]; left[0] = 0x3fe & ~(row[i / 9] | col[i % 9] | box[i / 27 * 3 + i % 9 / 3]); }
    while (d < k && d >= 0 && c < 20000) {
        int i = empty[d], r = i / 9, o = i % 9, x = i / 27 * 3 + o / 3;
        c++;
        if (cell[i]) { int b = ~(1 << cell[i]); row[r] &= b; col[o] &= b; box[x] &= b; cell[i] = 0; }
        if (!left[d]) { d--; continue; }
        int v = __builtin_ctz(left[d]);
        left[d] &= left[d] - 1;
        cell[i] = v; row[r] |= 1 << v; col[o] |= 1 << v; box[x] |= 1 << v;
        d++;
        if (d < k) { int j = empty[d]; left[d] = 0x3fe & ~(row[j / 9] | col[j % 9] | box[j / 27 * 3 + j % 9 / 3]); }
    }
    for (int i = 0; i < 81; i++) solved[i] = cell[i];
    nodes = c;
}

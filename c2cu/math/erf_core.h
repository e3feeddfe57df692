/* What erf and erfc share: fdlibm's algorithm, and glibc's, which has no FMA variant but of exp. Four rational
   functions, to 0.84375, 1.25, 1/0.35 and beyond: their coefficients are chosen, zeros where one has fewer. */
#ifndef C2CU_ERF_CORE_H
#define C2CU_ERF_CORE_H
#include "exp_core.h"

static double c2cu_erf_ratio(double size, double far) {
    int first = size < 0.84375, second = size < 1.25, third = size < far;
    double v = first ? size * size : second ? size - 1.0 : 1.0 / (size * size);
    double p0 = first ? 0x1.06eba8214db68p-3 : second ? -0x1.359b8bef77538p-9 : third ? -0x1.43412600d6435p-7 :
        -0x1.4341239e86f4ap-7;
    double p1 = first ? -0x1.4cd7d691cb913p-2 : second ? 0x1.a8d00ad92b34dp-2 : third ? -0x1.63416e4ba736p-1 :
        -0x1.993ba70c285dep-1;
    double p2 = first ? -0x1.d2a51dbd7194fp-6 : second ? -0x1.7d240fbb8c3f1p-2 : third ? -0x1.51e0441b0e726p3 :
        -0x1.1c209555f995ap4;
    double p3 = first ? -0x1.7a291236668e4p-8 : second ? 0x1.45fca805120e4p-2 : third ? -0x1.f300ae4cba38dp5 :
        -0x1.4145d43c5ed98p7;
    double p4 = first ? -0x1.8ead6120016acp-16 : second ? -0x1.c63983d3e28ecp-4 : third ? -0x1.44cb184282266p7 :
        -0x1.3ec881375f228p9;
    double p5 = first ? 0.0 : second ? 0x1.22a36599795ebp-5 : third ? -0x1.7135cebccabb2p7 : -0x1.004616a2e5992p10;
    double p6 = first ? 0.0 : second ? -0x1.1bf380a96073fp-9 : third ? -0x1.4526557e4d2f2p6 : -0x1.e384e9bdc383fp8;
    double p7 = first ? 0.0 : second ? 0.0 : third ? -0x1.3a0efc69ac25cp3 : 0.0;
    double q1 = first ? 0x1.97779cddadc09p-2 : second ? 0x1.b3e6618eee323p-4 : third ? 0x1.3a6b9bd707687p4 :
        0x1.e568b261d519p4;
    double q2 = first ? 0x1.0a54c5536cebap-4 : second ? 0x1.14af092eb6f33p-1 : third ? 0x1.1350c526ae721p7 :
        0x1.45cae221b9f0ap8;
    double q3 = first ? 0x1.4d022c4d36b0fp-8 : second ? 0x1.2635cd99fe9a7p-4 : third ? 0x1.b290dd58a1a71p8 :
        0x1.802eb189d5118p10;
    double q4 = first ? 0x1.15dc9221c1a1p-13 : second ? 0x1.02660e763351fp-3 : third ? 0x1.42b1921ec2868p9 :
        0x1.8ffb7688c246ap11;
    double q5 = first ? -0x1.09c4342a2612p-18 : second ? 0x1.bedc26b51dd1cp-7 : third ? 0x1.ad02157700314p8 :
        0x1.3f219cedf3be6p11;
    double q6 = first ? 0.0 : second ? 0x1.88b545735151dp-7 : third ? 0x1.b28a3ee48ae2cp6 : 0x1.da874e79fe763p8;
    double q7 = first ? 0.0 : second ? 0.0 : third ? 0x1.a47ef8e484a93p2 : -0x1.670e242712d62p4;
    double q8 = first ? 0.0 : second ? 0.0 : third ? -0x1.eeff2ee749a62p-5 : 0.0;
    double v2 = v * v;
    double v4 = v2 * v2, v6 = v4 * v2, v8 = v4 * v4;
    double p = (p0 + v * p1) + v2 * (p2 + v * p3) + v4 * (p4 + v * p5) + v6 * (p6 + v * p7);
    double q = (1.0 + v * q1) + v2 * (q2 + v * q3) + v4 * (q4 + v * q5) + v6 * (q6 + v * q7) + v8 * q8;
    return p / q;
}

/* erfc(size) from 1.25, by the ratio there. */
static double c2cu_erf_tail(double size, double ratio) {
    double z = c2cu_from_bits(c2cu_as_bits(size) & 0xffffffff00000000UL);
    return c2cu_exp_core(-z * z - 0.5625) * c2cu_exp_core((z - size) * (z + size) + ratio) / size;
}
#endif

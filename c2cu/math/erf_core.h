/* What erf and erfc share: fdlibm's algorithm, and glibc's, which has no FMA variant but of exp. Four rational
   functions, to 0.84375, 1.25, 1/0.35 and beyond: their coefficients stand side by side, zeros where one has fewer. */
#ifndef C2CU_ERF_CORE_H
#define C2CU_ERF_CORE_H
#include "exp_core.h"

static const double c2cu_erf_p0[4] = {0x1.06eba8214db68p-3, -0x1.359b8bef77538p-9, -0x1.43412600d6435p-7, -0x1.4341239e86f4ap-7};
static const double c2cu_erf_p1[4] = {-0x1.4cd7d691cb913p-2, 0x1.a8d00ad92b34dp-2, -0x1.63416e4ba736p-1, -0x1.993ba70c285dep-1};
static const double c2cu_erf_p2[4] = {-0x1.d2a51dbd7194fp-6, -0x1.7d240fbb8c3f1p-2, -0x1.51e0441b0e726p3, -0x1.1c209555f995ap4};
static const double c2cu_erf_p3[4] = {-0x1.7a291236668e4p-8, 0x1.45fca805120e4p-2, -0x1.f300ae4cba38dp5, -0x1.4145d43c5ed98p7};
static const double c2cu_erf_p4[4] = {-0x1.8ead6120016acp-16, -0x1.c63983d3e28ecp-4, -0x1.44cb184282266p7, -0x1.3ec881375f228p9};
static const double c2cu_erf_p5[4] = {0.0, 0x1.22a36599795ebp-5, -0x1.7135cebccabb2p7, -0x1.004616a2e5992p10};
static const double c2cu_erf_p6[4] = {0.0, -0x1.1bf380a96073fp-9, -0x1.4526557e4d2f2p6, -0x1.e384e9bdc383fp8};
static const double c2cu_erf_p7[4] = {0.0, 0.0, -0x1.3a0efc69ac25cp3, 0.0};
static const double c2cu_erf_q1[4] = {0x1.97779cddadc09p-2, 0x1.b3e6618eee323p-4, 0x1.3a6b9bd707687p4, 0x1.e568b261d519p4};
static const double c2cu_erf_q2[4] = {0x1.0a54c5536cebap-4, 0x1.14af092eb6f33p-1, 0x1.1350c526ae721p7, 0x1.45cae221b9f0ap8};
static const double c2cu_erf_q3[4] = {0x1.4d022c4d36b0fp-8, 0x1.2635cd99fe9a7p-4, 0x1.b290dd58a1a71p8, 0x1.802eb189d5118p10};
static const double c2cu_erf_q4[4] = {0x1.15dc9221c1a1p-13, 0x1.02660e763351fp-3, 0x1.42b1921ec2868p9, 0x1.8ffb7688c246ap11};
static const double c2cu_erf_q5[4] = {-0x1.09c4342a2612p-18, 0x1.bedc26b51dd1cp-7, 0x1.ad02157700314p8, 0x1.3f219cedf3be6p11};
static const double c2cu_erf_q6[4] = {0.0, 0x1.88b545735151dp-7, 0x1.b28a3ee48ae2cp6, 0x1.da874e79fe763p8};
static const double c2cu_erf_q7[4] = {0.0, 0.0, 0x1.a47ef8e484a93p2, -0x1.670e242712d62p4};
static const double c2cu_erf_q8[4] = {0.0, 0.0, -0x1.eeff2ee749a62p-5, 0.0};

static double c2cu_erf_ratio(double size, double far) {
    _Bool first = size < 0.84375, second = size < 1.25, third = size < far;
    double v = first ? size * size : second ? size - 1.0 : 1.0 / (size * size);
    int part = first ? 0 : second ? 1 : third ? 2 : 3;
    double p0 = c2cu_erf_p0[part];
    double p1 = c2cu_erf_p1[part];
    double p2 = c2cu_erf_p2[part];
    double p3 = c2cu_erf_p3[part];
    double p4 = c2cu_erf_p4[part];
    double p5 = c2cu_erf_p5[part];
    double p6 = c2cu_erf_p6[part];
    double p7 = c2cu_erf_p7[part];
    double q1 = c2cu_erf_q1[part];
    double q2 = c2cu_erf_q2[part];
    double q3 = c2cu_erf_q3[part];
    double q4 = c2cu_erf_q4[part];
    double q5 = c2cu_erf_q5[part];
    double q6 = c2cu_erf_q6[part];
    double q7 = c2cu_erf_q7[part];
    double q8 = c2cu_erf_q8[part];
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

/* What erff and erfcf share: as erf_core.h, in float. */
#ifndef C2CU_ERFF_CORE_H
#define C2CU_ERFF_CORE_H
#include "expf_core.h"

static float c2cu_erff_ratio(float size, float far) {
    _Bool first = size < 0.84375f, second = size < 1.25f, third = size < far;
    float v = first ? size * size : second ? size - 1.0f : 1.0f / (size * size);
    float p0 = first ? 0x1.06eba8p-3f : second ? -0x1.359b8cp-9f : third ? -0x1.434126p-7f : -0x1.434124p-7f;
    float p1 = first ? -0x1.4cd7d6p-2f : second ? 0x1.a8d00ap-2f : third ? -0x1.63416ep-1f : -0x1.993ba8p-1f;
    float p2 = first ? -0x1.d2a51ep-6f : second ? -0x1.7d241p-2f : third ? -0x1.51e044p3f : -0x1.1c2096p4f;
    float p3 = first ? -0x1.7a2912p-8f : second ? 0x1.45fca8p-2f : third ? -0x1.f300aep5f : -0x1.4145d4p7f;
    float p4 = first ? -0x1.8ead62p-16f : second ? -0x1.c63984p-4f : third ? -0x1.44cb18p7f : -0x1.3ec882p9f;
    float p5 = first ? 0.0f : second ? 0x1.22a366p-5f : third ? -0x1.7135cep7f : -0x1.004616p10f;
    float p6 = first ? 0.0f : second ? -0x1.1bf38p-9f : third ? -0x1.452656p6f : -0x1.e384eap8f;
    float p7 = first ? 0.0f : second ? 0.0f : third ? -0x1.3a0efcp3f : 0.0f;
    float q1 = first ? 0x1.97779cp-2f : second ? 0x1.b3e662p-4f : third ? 0x1.3a6b9cp4f : 0x1.e568b2p4f;
    float q2 = first ? 0x1.0a54c6p-4f : second ? 0x1.14af0ap-1f : third ? 0x1.1350c6p7f : 0x1.45cae2p8f;
    float q3 = first ? 0x1.4d022cp-8f : second ? 0x1.2635cep-4f : third ? 0x1.b290dep8f : 0x1.802eb2p10f;
    float q4 = first ? 0x1.15dc92p-13f : second ? 0x1.02660ep-3f : third ? 0x1.42b192p9f : 0x1.8ffb76p11f;
    float q5 = first ? -0x1.09c434p-18f : second ? 0x1.bedc26p-7f : third ? 0x1.ad0216p8f : 0x1.3f219cp11f;
    float q6 = first ? 0.0f : second ? 0x1.88b546p-7f : third ? 0x1.b28a3ep6f : 0x1.da874ep8f;
    float q7 = first ? 0.0f : second ? 0.0f : third ? 0x1.a47ef8p2f : -0x1.670e24p4f;
    float q8 = first ? 0.0f : second ? 0.0f : third ? -0x1.eeff2ep-5f : 0.0f;
    float p = p0 + v * (p1 + v * (p2 + v * (p3 + v * (p4 + v * (p5 + v * (p6 + v * p7))))));
    float q = q4 + v * (q5 + v * (q6 + v * (q7 + v * q8)));
    q = 1.0f + v * (q1 + v * (q2 + v * (q3 + v * q)));
    return p / q;
}

/* erfc(size) from 1.25, by the ratio there; z: size with fewer bits. */
static float c2cu_erff_tail(float size, float z, float ratio) {
    return c2cu_expf_core(-z * z - 0.5625f) * c2cu_expf_core((z - size) * (z + size) + ratio) / size;
}
#endif

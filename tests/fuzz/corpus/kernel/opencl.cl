int:5
// kernel void no(int a)
/* __kernel void neither() */
#define S "kernel void nor(int"
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void scale(__global float *in, float by) { }
kernel void norm(global float *x, uint n) { x[0] = "a\"b"[n]; }
kernel int broken;

/* The end of lanes.h. */
#undef PICK
#undef LANES
#undef I
#undef V

#pragma once
#include "include/ChaosShim.h"

// The process's control block; NULL without chaos.
extern __attribute__((visibility("hidden"))) struct chaos_control *chaos_control;

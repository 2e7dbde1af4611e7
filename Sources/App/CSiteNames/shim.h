#ifndef CSITENAMES_SHIM_H
#define CSITENAMES_SHIM_H

#include <libpsl.h>
#include <idn2.h>

#endif

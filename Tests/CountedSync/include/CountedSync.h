#include <sys/types.h>

/// How often this thread has called fdatasync.
long counted_fdatasync(void);

/// From now on fdatasync of this file fails; 0: of none.
void fail_fdatasync(ino_t inode);

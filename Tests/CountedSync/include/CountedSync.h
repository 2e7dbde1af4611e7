/// How often this thread has called fdatasync.
long counted_fdatasync(void);

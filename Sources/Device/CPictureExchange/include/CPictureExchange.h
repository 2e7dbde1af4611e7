// The exchange of pictures between two processes.
//
// content-worker ── format, descriptor of the bytes ──▶ content-decoder
//                ◀── hash ─────────────────────────────
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The formats of pictures.
enum picture_format { picture_png, picture_jpeg, picture_gif, picture_webp };

/// Creates two connected sockets that keep the bounds of messages. They close at `exec`.
///
/// `timeout_ms` bounds a wait of the first one for a message. Returns 0 or an `errno`.
int picture_sockets(int sockets[2], int timeout_ms);

/// Starts a program with a socket as its standard input, no other descriptors of this process and no environment but
/// `LD_LIBRARY_PATH`.
///
/// Returns 0 with the process, or an `errno`.
int picture_spawn(const char *program, int socket, pid_t *process);

/// Ends a process of `picture_spawn` at once.
void picture_end(pid_t process);

/// Sends a picture: its format, and a descriptor of its bytes, which nobody can change.
///
/// Returns 0 or an `errno`.
int picture_send(int socket, const uint8_t *bytes, size_t count, int format);

/// Receives a picture and maps its bytes, at most `limit`.
///
/// Returns 1 with the picture, 0 at the end of the socket, or -1 for anything else.
int picture_receive(int socket, size_t limit, const uint8_t **bytes, size_t *count, int *format);

// The exchange of pictures and videos with a decoder or a classifier.
//
// content-worker ── format, descriptor of the bytes ──▶ content-decoder
//                ◀── hash ─────────────────────────────
//
// content-worker ── format, descriptor of the bytes ──▶ a classifier's program
//                ◀── verdict ──────────────────────────
//
// app            ── format, descriptor of the file ───▶ content-decoder
//                ◀── small frames ─────────────────────
//
// app            ── blurred format, descriptor ────────▶ content-decoder
//                ◀── blurred picture ──────────────────
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The formats of pictures, and a video file of any format.
enum picture_format { picture_png, picture_jpeg, picture_gif, picture_webp, picture_video };

/// Added to the format of a picture that the decoder blurs.
enum { picture_blurred = 16 };

/// Creates two connected sockets that keep the bounds of messages. They close at `exec`.
///
/// `timeout_ms` bounds a wait of the first one for a message. Returns 0 or an `errno`.
int picture_sockets(int sockets[2], int timeout_ms);

/// Changes the bound of `picture_sockets`.
void picture_timeout(int socket, int timeout_ms);

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

/// Sends a descriptor of a file, which stays open here.
///
/// Returns 0 or an `errno`.
int picture_send_file(int socket, int file, int format);

/// Receives the descriptor and the format of a file. The caller closes the descriptor.
///
/// Returns 1 with the file, 0 at the end of the socket, or -1 for anything else.
int picture_receive(int socket, int *file, int *format);

/// Maps the bytes of a file, at most `limit`. The caller unmaps them.
///
/// Returns 0, or -1 for an empty or larger file.
int picture_map(int file, size_t limit, const uint8_t **bytes, size_t *count);

// Starts an app outside of the device's own process, confines it, and ends it with all its processes.
//
// device ── spawns ──▶ supervisor ── forks ──▶ app, in a session and a Landlock domain of its own
//    ▲ control socket ──┘   ▲ output pipe ──────┘
//
// The supervisor is the device's program again, with the arguments of `app_launcher_main`. The device's threads
// and memory are not part of it, so that the code between `fork` and `exec` may run in a process of one thread.
#pragma once
#include <stdint.h>
#include <sys/types.h>

/// What the supervisor reports once on the control socket.
struct app_launcher_report {
  /// The number of the app's process.
  int32_t process;
  /// 1 if Landlock confines the app.
  int32_t is_confined;
  /// 0, or the `errno` of the step that failed; the app then does not run.
  int32_t error;
};

/// The first argument of a supervisor.
#define APP_LAUNCHER_COMMAND "launch-app"

/// The descriptor on which an app finds its credential.
enum { app_launcher_credential_descriptor = 3 };

/// The version of the kernel's Landlock; 0 without Landlock.
int app_launcher_landlock_version(void);

/// Starts a supervisor.
///
/// `credential` is an open file that the app inherits. `control` receives the device's end of the control socket.
/// Its end of file follows the end of the app and of all its processes; closing it ends them.
///
/// Returns 0 with the supervisor's process, or an `errno`.
int app_launcher_spawn(
    const char *program, char *const arguments[], char *const environment[], int credential, int *control,
    pid_t *process);

/// Runs a supervisor, and ends like its app: with its status, or by its signal.
///
/// Arguments: PROGRAM launch-app LOG BYTES FOLDER [-r PATH | -w PATH]... -- APP [ARGUMENT]...
/// The output goes to LOG, of which at most BYTES remain in the file and as many in LOG.1. FOLDER is the app's
/// working folder. The app may read and execute below `-r`, and also write below `-w`.
int app_launcher_main(int count, char *arguments[]);

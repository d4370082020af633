import { type ChildProcess, spawn } from 'node:child_process';

/** How long a server may wait for its last clients before it disconnects them, in seconds. */
const PATIENCE_S = 40;
/** After how many seconds more it is ended without its last checkpoint. */
const ENDING_S = 30;
/** A new server writes its pid file within this time, in seconds. */
const STARTING_S = 5;
/** How often a shell that somebody else ended is replaced. */
const MAX_KEEPERS = 100;

/** For a process that has nothing to finish. $1: its number. */
const AT_ONCE = 'while read -r _; do :; done; kill -TERM "$1"';

/**
 * For a Postgres. $1: the server's number, $2: its data folder. stdin ends when the process at the other end of it
 * does.
 *
 * SIGTERM lets connected clients finish, SIGINT disconnects them, SIGQUIT leaves the rest to the recovery of the next
 * start (a server whose processes were killed may hang in its last checkpoint). Numbers are used again, so the pid file
 * says whether the server still runs.
 */
const WHEN_LEFT = `
while read -r _; do :; done
there() { [ "$(head -n 1 "$2/postmaster.pid" 2>/dev/null)" = "$1" ] && kill -0 "$1" 2>/dev/null; }
left=${STARTING_S}
while [ "$left" -gt 0 ] && kill -0 "$1" 2>/dev/null && ! there "$1" "$2"; do sleep 1; left=$((left - 1)); done
there "$1" "$2" && kill -TERM "$1"
left=${PATIENCE_S}
while [ "$left" -gt 0 ] && there "$1" "$2"; do sleep 1; left=$((left - 1)); done
there "$1" "$2" && kill -INT "$1"
left=${ENDING_S}
while [ "$left" -gt 0 ] && there "$1" "$2"; do sleep 1; left=$((left - 1)); done
there "$1" "$2" && kill -QUIT "$1"
exit 0`;

/**
 * Ends a process when this one ends, even by SIGKILL: a shell waits for the end of a pipe that only this process holds.
 * A Postgres (`dataFolder`) waits for its clients first.
 *
 * Returns a function that ends the shell, to be called when the process has ended.
 */
export function endWithOwner(server: { pid: number; dataFolder?: string }): () => void {
  const { pid, dataFolder } = server;
  const script =
    dataFolder === undefined
      ? [AT_ONCE, 'packhouse-keeper', String(pid)]
      : [WHEN_LEFT, 'packhouse-keeper', String(pid), dataFolder];
  let keeper: ChildProcess | undefined;
  let released = false;
  let keepers = 0;
  const keep = (): void => {
    keepers++;
    const child = spawn('/bin/sh', ['-c', ...script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      // A Ctrl-C in the terminal is for its owner.
      detached: true,
    });
    keeper = child;
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    child.on('exit', () => {
      child.stdin.destroy();
      if (!released && keepers < MAX_KEEPERS) keep();
    });
    // Neither may keep this process alive.
    child.unref();
    (child.stdin as typeof child.stdin & { unref?(): void }).unref?.();
  };
  keep();
  return () => {
    released = true;
    keeper?.kill('SIGKILL');
  };
}

/**
 * What every session in Postgres sets: that of a machine that vanished, or of a process that hangs in a transaction, ends
 * within half a minute, and its locks with it. By default that takes two hours.
 */
export const POSTGRES_SESSION = [
  'tcp_keepalives_idle = 10',
  'tcp_keepalives_interval = 5',
  'tcp_keepalives_count = 3',
  "tcp_user_timeout = '20s'",
  "idle_in_transaction_session_timeout = '20s'",
]
  .map((setting) => `SET ${setting}`)
  .join('; ');

/** For the driver: after ten seconds without a word the connection is probed ten times, a second apart, and ends. */
export const POSTGRES_KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

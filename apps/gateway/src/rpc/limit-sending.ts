import type { ServerResponse } from 'node:http';

/** How long a client may take for an answer that is held for it. */
const SEND_MS = 120_000;

/** Cuts the connection of a client that has not taken its answer in time; a trickle keeps no answer in memory for ever. */
export function limitSending(response: ServerResponse, ms = SEND_MS): void {
  const timer = setTimeout(() => response.destroy(), ms);
  timer.unref();
  response.once('close', () => clearTimeout(timer));
}

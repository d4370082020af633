import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/**
 * Guards the connections that undici opens from now on, in the whole process: what a server does to a connection is an
 * error of its request, or none, and never one of the process. Safe to repeat.
 *
 * undici 7 asserts that an answer is not paused when its connection ends. An answer is paused whenever its reader is
 * slower than the server, so a server that closes its connections (`Connection: close`) ends the process by an
 * AssertionError inside of an event of the socket, which no caller can catch. undici 8 is corrected, and needs Node 22.
 */
export function guardConnections(): void {
  // Subscribing the same function again changes nothing: see `guard`.
  subscribe('undici:client:connected', guard);
}

const guarded = new WeakSet<Socket>();

function guard(message: unknown): void {
  const { socket } = message as { socket: Socket };
  if (guarded.has(socket)) return;
  guarded.add(socket);
  const { emit } = socket;
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    const pass = (...told: unknown[]): boolean => Reflect.apply(emit, socket, told) as boolean;
    if (event !== 'end' && event !== 'error' && event !== 'close') return pass(event, ...values);
    try {
      return pass(event, ...values);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_ASSERTION') throw error;
      if (event === 'end') {
        // Otherwise the end destroys the socket before the paused answer was read.
        socket.allowHalfOpen = true;
        tellEndLater(socket);
        return true;
      }
      // The rest of the answer is lost. An error of another code fails the request.
      const told = pass('error', new ConnectionClosedError(values[0]));
      return event === 'close' ? pass(event, ...values) : told;
    }
  };
}

/** Emits the end again as soon as the paused answer goes on: undici then reads from the socket. */
function tellEndLater(socket: Socket): void {
  const { read } = socket;
  socket.read = (size?: number): unknown => {
    socket.read = read;
    process.nextTick(() => {
      if (!socket.destroyed) socket.emit('end');
    });
    return read.call(socket, size);
  };
}

/** In undici's form, by which its users know that a connection failed. */
class ConnectionClosedError extends Error {
  readonly code = 'UND_ERR_SOCKET';

  constructor(cause: unknown) {
    super('the connection was closed before the end', { cause });
  }
}

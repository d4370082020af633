import { PackhouseError } from '@packhouse/runtime';

/** Why the server cannot listen, as one sentence. */
export function listenFailure(error: unknown, port: number, host: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new PackhouseError({
        code: 'PORT_IN_USE',
        message: `Port ${port} on ${host} is taken by another program.`,
        hint: 'Stop that program or set PORT to another one.',
        data: { port, host },
        cause: error,
      });
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new PackhouseError({
        code: 'SETTINGS_INVALID',
        message: `The gateway cannot listen on ${host}, port ${port}: ${(error as Error).message}.`,
        hint: 'Set HOST to an address of this machine, and PORT to a port that this user may open.',
        data: { port, host },
        cause: error,
      });
    default:
      return error;
  }
}

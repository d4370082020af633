import { Problem } from './problem.js';
import { reachableHost } from './server.js';

/** The address that answers give to clients: of links, of networks, of the files of the lake. */
export interface ToldAddress {
  /** Without a slash at the end; empty until it is known. */
  readonly origin: string;
  /** Notes where the server listens, which is its address unless one was given. */
  listens(host: string, port: number): void;
  /** The refusal of a request that reached this server by another name; undefined: the address is good for it. */
  refuse(host: string | undefined): Problem | undefined;
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Names of a machine for itself, as a Host header has them. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Creates it from PUBLIC_URL, which is right for every client. Without it, the address is where the server listens, mostly
 * a loopback address: a client elsewhere would send its API key to that address of its own machine. A Host header
 * says where a client believes to be, but not who wrote it, so no address is made of it.
 */
export function createToldAddress(publicUrl: string | undefined): ToldAddress {
  let origin = publicUrl ?? '';
  let hosts: ReadonlySet<string> = new Set();
  return {
    get origin() {
      return origin;
    },
    listens(host, port) {
      if (publicUrl !== undefined) return;
      const name = reachableHost(host);
      origin = `http://${name}:${port}`;
      const names = name === 'localhost' || isLoopback(host) ? [name, ...OWN_NAMES] : [name];
      hosts = new Set(names.flatMap((each) => (port === 80 ? [each, `${each}:80`] : [`${each}:${port}`])));
    },
    refuse(host) {
      if (publicUrl !== undefined || hosts.has(host ?? '') || hosts.has((host ?? '').toLowerCase()))
        return undefined;
      return new Problem('host-unknown', {
        detail: `The Host of the request is not the address that this answer would name, ${origin}, where the client may not reach this gateway: the operator must set PUBLIC_URL to the address that clients use.`,
        members: { address: origin },
      });
    },
  };
}

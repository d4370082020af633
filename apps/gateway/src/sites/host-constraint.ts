import type { IncomingMessage } from 'node:http';
import type { Mount } from './site.js';

/** The name of the routing constraint below. */
const NAME = 'hostName';

/** Routing by host name: the Host header without its port, in lower case. */
export const hostConstraint = {
  name: NAME,
  storage: () => {
    const handlers = new Map<unknown, unknown>();
    return {
      get: (host: unknown) => (handlers.get(host) as never) ?? null,
      set: (host: unknown, handler: unknown) => {
        handlers.set(host, handler);
      },
    };
  },
  deriveConstraint: (request: IncomingMessage): string => hostName(request.headers.host),
  validate: () => true,
};

/** What a route at this mount is constrained by. */
export function constraintsOf(mount: Mount): Record<string, string> {
  return mount.host === undefined ? {} : { [NAME]: mount.host };
}

/** The host name of a Host header: no port, lower case; empty where there is none. */
export function hostName(header: string | undefined): string {
  return (header ?? '').replace(/:\d*$/, '').toLowerCase();
}

/** The host that a route's constraints ask for, if any. */
export function constrainedHost(constraints: Record<string, unknown> | undefined): string | undefined {
  const host = constraints?.[NAME];
  return typeof host === 'string' ? host : undefined;
}

import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress } from './public-address.js';

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<string[]>;

/** For tests: replaces a public server by one on this machine, only after the address was checked. */
export type Dial = (target: { address: string; port: number }) => { address: string; port: number };

/** Ports allowed in an address that a stranger chose. */
const PORTS = new Set([80, 443]);
const DNS_TIMEOUT_MS = 3_000;

/** Asks DNS, at `servers` or those of this machine; never its /etc/hosts or search domains, which are private. */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (host) => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  };
}

/**
 * Creates a connector for undici that connects to public addresses only. The name is resolved once, all its addresses
 * must be public, and the connection goes to the address that was checked: a name that resolves differently between
 * check and connection has no effect.
 */
export function connectPublic(options: {
  resolve: Resolve;
  dial?: Dial | undefined;
  timeoutMs: number;
}): buildConnector.connector {
  const connect = buildConnector({
    timeout: options.timeoutMs,
    maxCachedSessions: 0,
    allowH2: false,
    keepAlive: false,
  });
  return (target, callback) => {
    checkedAddress(target, options.resolve)
      .then(({ address, port }) => {
        const to = options.dial?.({ address, port }) ?? { address, port };
        const host = bare(target.hostname);
        connect(
          {
            ...target,
            hostname: to.address,
            port: String(to.port),
            // The certificate is issued for the name, not the address.
            ...(isIP(host) === 0 ? { servername: host } : {}),
          },
          callback,
        );
      })
      .catch((error: Error) => callback(error, null));
  };
}

async function checkedAddress(
  target: buildConnector.Options,
  resolve: Resolve,
): Promise<{ address: string; port: number }> {
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port);
  if (!PORTS.has(port)) throw new Error('the port is not 80 or 443');
  const host = bare(target.hostname);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [address] = addresses;
  if (address === undefined) throw new Error('the name has no address');
  if (!addresses.every(isPublicAddress)) throw new Error('the address is not public');
  return { address, port };
}

/** URLs have IPv6 addresses in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { PackhouseError } from '@packhouse/runtime';
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

interface ConnectOptions {
  resolve: Resolve;
  dial?: Dial | undefined;
  timeoutMs: number;
  /** Other addresses that an operator opened, on any port and by any protocol. Default: none. */
  allowed?: ((address: string) => boolean) | undefined;
  /** Whether public addresses are connected to by https: only. Default false. */
  secure?: boolean;
}

/**
 * Creates a connector for undici that connects to public addresses only. The name is resolved once, all its addresses
 * must be public, and the connection goes to the address that was checked: a name that resolves differently between
 * check and connection has no effect. Fails with ADDRESS_REFUSED.
 */
export function connectPublic(options: ConnectOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: options.timeoutMs,
    maxCachedSessions: 0,
    allowH2: false,
    keepAlive: false,
  });
  return (target, callback) => {
    checkedAddress(target, options)
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
  { resolve, allowed = () => false, secure = false }: ConnectOptions,
): Promise<{ address: string; port: number }> {
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port);
  const host = bare(target.hostname);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [address] = addresses;
  if (address === undefined) throw refused('The name of the host has no address in DNS.');
  if (addresses.every(allowed)) return { address, port };
  if (!addresses.every((each) => isPublicAddress(each) || allowed(each))) {
    throw refused('The address of the host is not public, and not allowed by a setting.');
  }
  if (!PORTS.has(port)) throw refused(`Port ${port} of a public address: only 80 and 443 are connected to.`);
  if (secure && target.protocol !== 'https:')
    throw refused('A public address is connected to by https: only.');
  return { address, port };
}

function refused(message: string): PackhouseError {
  return new PackhouseError({ code: 'ADDRESS_REFUSED', message });
}

/** URLs have IPv6 addresses in brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

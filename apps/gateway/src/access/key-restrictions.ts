import type { KeyRow } from '@packhouse/database';
import { createAddressList } from '../http/client-address.js';
import { Problem } from '../http/problem.js';

type Restricted = Pick<KeyRow, 'origins' | 'addresses' | 'methods'>;

/** The names for `--method` beside JSON-RPC methods, by route. */
const ROUTE_USES: Readonly<Record<string, string>> = {
  pointer: 'bundle-api',
  files: 'bundle-api',
  filters: 'bundle-api',
  manifest: 'bundle-api',
  'manifest-head': 'bundle-api',
  coverage: 'bundle-api',
  download: 'download',
  nft: 'nft',
  usage: 'usage',
};

interface Compiled {
  hasOrigin(origin: string): boolean;
  hasAddress(address: string): boolean;
  methods: ReadonlySet<string>;
}

/** By row, because a key in use has the same row for half a second. */
const compiled = new WeakMap<Restricted, Compiled>();

/** Whether the key has any restriction at all. */
export function isRestricted({ origins, addresses, methods }: Restricted): boolean {
  return origins.length > 0 || addresses.length > 0 || methods.length > 0;
}

/** Throws the problem `forbidden` if the key may not be used from there. Never names the allowed places. */
export function refusePlace(
  row: Restricted,
  from: { readonly origin: string | undefined; readonly address: string },
): void {
  if (row.addresses.length > 0 && !compile(row).hasAddress(from.address)) {
    throw forbidden('This API key may not be used from this address.');
  }
  if (row.origins.length > 0 && !mayComeFrom(row, from.origin)) {
    throw forbidden('This API key may not be used from this origin.');
  }
}

/** Whether pages of this origin may use the key; without an origin: programs other than browsers. */
export function mayComeFrom(row: Restricted, origin: string | undefined): boolean {
  return row.origins.length === 0 || (origin !== undefined && compile(row).hasOrigin(origin));
}

/** Whether the key allows one of the names, which are spellings of one method. */
export function allowsMethod(row: Restricted, ...names: readonly string[]): boolean {
  if (row.methods.length === 0) return true;
  const { methods } = compile(row);
  return names.some((name) => methods.has(name));
}

/** Throws the problem `forbidden` unless the key allows one of the names. */
export function refuseMethod(row: Restricted, ...names: readonly string[]): void {
  if (allowsMethod(row, ...names)) return;
  throw forbidden('This API key is not for this method.');
}

/** As `refuseMethod`, for a route; routes without a name are refused, but the list of methods, which has only its own. */
export function refuseRoute(row: Restricted, route: string): void {
  if (route !== 'methods') refuseMethod(row, ROUTE_USES[route] ?? '');
}

function forbidden(detail: string): Problem {
  return new Problem('forbidden', { detail });
}

function compile(row: Restricted): Compiled {
  let known = compiled.get(row);
  if (known === undefined) {
    const origins = row.origins.map(originPattern);
    known = {
      hasOrigin: (origin) => {
        const [, scheme, host] = /^(https?):\/\/([^/@\s]+)$/.exec(origin.toLowerCase()) ?? [];
        if (scheme === undefined || host === undefined) return false;
        return origins.some((fits) => fits(scheme, host));
      },
      hasAddress: createAddressList(row.addresses),
      methods: new Set(row.methods),
    };
    compiled.set(row, known);
  }
  return known;
}

/** `https://host:port`, `host:port` under both schemes, and `*.host` for every host below it but not itself. */
function originPattern(pattern: string): (scheme: string, host: string) => boolean {
  const [, scheme, host = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(pattern.toLowerCase()) ?? [];
  const below = host.startsWith('*.') ? host.slice(1) : undefined;
  return (asked, name) => {
    if (scheme !== undefined && scheme !== asked) return false;
    return below === undefined ? name === host : name.length > below.length && name.endsWith(below);
  };
}

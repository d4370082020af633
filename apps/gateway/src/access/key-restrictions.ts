import type { KeyRow } from '@packhouse/database';
import { createAddressList, createOriginList } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';

type Restricted = Pick<KeyRow, 'origins' | 'addresses' | 'methods' | 'contracts'>;

/** The names for `--method` beside JSON-RPC methods, by route. */
const ROUTE_USES: Readonly<Record<string, string>> = {
  pointer: 'bundle-api',
  files: 'bundle-api',
  filters: 'bundle-api',
  manifest: 'bundle-api',
  'manifest-head': 'bundle-api',
  'lake-manifest': 'bundle-api',
  coverage: 'bundle-api',
  feed: 'bundle-api',
  download: 'download',
  lake: 'download',
  'lake-file': 'download',
  nft: 'nft',
  usage: 'usage',
};

interface Compiled {
  hasOrigin(origin: string): boolean;
  hasAddress(address: string): boolean;
  methods: ReadonlySet<string>;
  contracts: ReadonlySet<unknown>;
}

/** By row, because a key in use has the same row for half a second. */
const compiled = new WeakMap<Restricted, Compiled>();

/** Whether the key has any restriction at all. */
export function isRestricted(row: Restricted): boolean {
  return [row.origins, row.addresses, row.methods, row.contracts].some(({ length }) => length > 0);
}

/** Throws the problem `forbidden` if the key may not be used from there. Never names the allowed places. */
export function requireAllowedClient(
  row: Restricted,
  from: { readonly origin: string | undefined; readonly address: string },
): void {
  if (row.addresses.length > 0 && !compile(row).hasAddress(from.address)) {
    throw forbidden('This API key may not be used from this address.');
  }
  if (row.origins.length > 0 && !allowsOrigin(row, from.origin)) {
    throw forbidden('This API key may not be used from this origin.');
  }
}

/** Whether pages of this origin may use the key; without an origin: programs other than browsers. */
export function allowsOrigin(row: Restricted, origin: string | undefined): boolean {
  return row.origins.length === 0 || (origin !== undefined && compile(row).hasOrigin(origin));
}

/** Whether the key allows one of the names, which are spellings of one method. */
export function allowsMethod(row: Restricted, ...names: readonly string[]): boolean {
  if (row.methods.length === 0) return true;
  const { methods } = compile(row);
  return names.some((name) => methods.has(name));
}

/** Throws the problem `forbidden` unless the key allows one of the names. */
export function requireMethod(row: Restricted, ...names: readonly string[]): void {
  if (allowsMethod(row, ...names)) return;
  throw forbidden('This API key does not allow this method.');
}

/** As `requireMethod`, for a route; routes without a name are refused, except the list of methods, which filters itself. */
export function requireRoute(row: Restricted, route: string): void {
  if (route === 'methods') return;
  requireMethod(row, ROUTE_USES[route] ?? '');
  if (row.contracts.length > 0 && route !== 'usage') {
    throw forbidden('This API key is restricted to contracts; files and tokens are not.');
  }
}

/**
 * The contracts that a call of a method reads, as the client wrote them; empty: it may read any. `none`: it is about no
 * contract. Absent: it may read any.
 */
export type ContractsRead = 'none' | ((params: readonly unknown[]) => readonly unknown[]) | undefined;

/** Whether the key allows a method, as far as the contracts are concerned that it reads. */
export function allowsReading(row: Restricted, contracts: ContractsRead): boolean {
  return row.contracts.length === 0 || contracts !== undefined;
}

/** Throws the problem `forbidden` if a call may read a contract that the key does not allow. */
export function requireContracts(
  row: Restricted,
  contracts: ContractsRead,
  params: readonly unknown[],
): void {
  if (row.contracts.length === 0 || contracts === 'none') return;
  if (contracts === undefined) {
    throw forbidden('This API key is restricted to contracts, and this method may read others.');
  }
  const read = contracts(params);
  if (read.length === 0) {
    throw forbidden('This API key is restricted to contracts: name one, create none and override nothing.');
  }
  const allowed = compile(row).contracts;
  if (read.every((each) => typeof each === 'string' && allowed.has(each.toLowerCase()))) return;
  throw forbidden('This API key does not allow this contract.');
}

/** Most blocks of one eth_getLogs of a key; Infinity: its plan does not limit them. */
export function getMaxLogRange(key: KeyRow | undefined): number {
  const [own, plan] = [key?.maxLogRange, key?.plan.maxLogRange];
  return Math.min(own ?? Number.POSITIVE_INFINITY, plan ?? Number.POSITIVE_INFINITY);
}

function forbidden(detail: string): Problem {
  return new Problem('forbidden', { detail });
}

function compile(row: Restricted): Compiled {
  let known = compiled.get(row);
  if (known === undefined) {
    known = {
      hasOrigin: createOriginList(row.origins),
      hasAddress: createAddressList(row.addresses),
      methods: new Set(row.methods),
      contracts: new Set(row.contracts),
    };
    compiled.set(row, known);
  }
  return known;
}

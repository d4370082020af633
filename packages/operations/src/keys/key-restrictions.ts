import type { KeyRow } from '@packhouse/database';
import { createAddressList, createOriginList, isAddressRange } from '@packhouse/runtime';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { withoutUndefined } from '../operation/fields.js';
import { logRange } from './plans.js';

/** An empty list restricts nothing. */
interface KeyRestrictions {
  origins: string[];
  addresses: string[];
  methods: string[];
  contracts: string[];
}

const values = z.array(z.string().max(300)).max(1_000);

/** The restrictions of keys, as they are given. */
export const restrictionFields = {
  origins: values.optional().describe('allowed browser origins; none: all'),
  addresses: values.optional().describe('allowed client addresses, as CIDR blocks; none: all'),
  methods: values.optional().describe('allowed methods; also bundle-api, download, nft, usage; none: all'),
  contracts: values.optional().describe('contracts that calls may read, and nothing else then; none: all'),
  maxLogRange: logRange.optional().describe('most blocks of one eth_getLogs; null: as the plan'),
};

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = `(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]{2,39}\\]`;
const ORIGIN = new RegExp(`^(?:https?://)?(?:${HOST})(?::[1-9][0-9]{0,4})?$`);
const CONTRACT = /^0x[0-9a-f]{40}$/;
const METHOD = /^(?:[A-Za-z][A-Za-z0-9_]{0,63}|bundle-api|download|nft)$/;
/** Values of each restriction. */
const MAX_VALUES = 100;

/** Parses origins, addresses, methods and contracts, each a list of which values may have commas. Throws USAGE. */
export function parseRestrictions(given: {
  origin?: readonly string[];
  address?: readonly string[];
  method?: readonly string[];
  contract?: readonly string[];
}): KeyRestrictions {
  return {
    origins: list('--origin', given.origin, getOrigin, 'https://app.example.com or *.example.com'),
    addresses: list('--address', given.address, toAddress, '203.0.113.7, 10.0.0.0/8 or 2001:db8::/32'),
    methods: list('--method', given.method, getMethod, 'eth_getLogs, bundle-api, download, nft or usage'),
    contracts: list('--contract', given.contract, toContract, '0xdac17f958d2ee523a2206206994597c13d831ec7'),
  };
}

/** Those that are given, as they are stored. Throws USAGE. */
export function readRestrictions(
  given: {
    [K in keyof KeyRestrictions]?: readonly string[] | undefined;
  },
): Partial<KeyRestrictions> {
  const { origins, addresses, methods, contracts } = given;
  const read = parseRestrictions({
    origin: origins ?? [],
    address: addresses ?? [],
    method: methods ?? [],
    contract: contracts ?? [],
  });
  return withoutUndefined({
    origins: origins && read.origins,
    addresses: addresses && read.addresses,
    methods: methods && read.methods,
    contracts: contracts && read.contracts,
  });
}

/** Whether the holder of a key may read its usage from there, as gateways decide it. */
export function isAllowedClient(
  key: Pick<KeyRow, 'addresses' | 'origins' | 'methods'>,
  from: { address: string; origin: string | undefined },
): boolean {
  const { addresses, origins, methods } = key;
  if (addresses.length > 0 && !createAddressList(addresses)(from.address)) return false;
  if (origins.length > 0 && (from.origin === undefined || !createOriginList(origins)(from.origin)))
    return false;
  return methods.length === 0 || methods.includes('usage');
}

function list(
  option: string,
  given: readonly string[] = [],
  read: (text: string) => string | null,
  examples: string,
): string[] {
  const values = given
    .flatMap((text) => text.split(','))
    .map((text) => {
      const value = read(text.trim());
      if (value !== null) return value;
      return fail(
        'USAGE',
        `${option} cannot be ${JSON.stringify(text.trim().slice(0, 100))}.`,
        `Examples: ${examples}.`,
      );
    });
  const unique = [...new Set(values)];
  if (unique.length <= MAX_VALUES) return unique;
  fail(
    'USAGE',
    `${option} takes at most ${MAX_VALUES} values, got ${unique.length}.`,
    'Create several keys.',
  );
}

/** As in the Origin header of browsers: lower case, no default port, no slash at the end. */
function getOrigin(text: string): string | null {
  const origin = text.toLowerCase().replace(/\/$/, '');
  if (!ORIGIN.test(origin)) return null;
  return origin.replace(/^(https:.*):443$|^(http:.*):80$/, '$1$2');
}

/** An address, or a block of them in CIDR notation. */
function toAddress(text: string): string | null {
  const range = text.toLowerCase();
  if (!isAddressRange(range) || range.includes('%')) return null;
  const [address = '', bits] = range.split('/');
  return bits === undefined ? address : `${address}/${Number(bits)}`;
}

/** An address in lower case; in the core family it is the hex form of the base32 address. */
function toContract(text: string): string | null {
  const address = text.toLowerCase();
  return CONTRACT.test(address) ? address : null;
}

function getMethod(text: string): string | null {
  return METHOD.test(text) ? text : null;
}

import type { Kind } from '@packhouse/chain';
import {
  checkRange,
  parseBlockNumber,
  parseInteger,
  parseKinds,
  parseNetworkName,
  usageError,
} from '../terminal/parse.js';

/** The flags of `packhouse local` as commander parses them. */
export interface LocalFlags {
  rpc: string[];
  from?: string;
  to?: string;
  kinds?: string;
  network?: string;
  dataDir?: string;
  port?: string;
  reorgEvery?: string;
  once?: boolean;
  verbose?: boolean;
  json?: boolean;
}

/** The checked options. */
export interface LocalOptions {
  /** Node addresses; empty: NETWORKS_FILE, else the demo chain. */
  rpc: string[];
  from: number;
  /** null: follow the head. */
  to: number | 'finalized' | null;
  /** null: all. */
  kinds: Kind[] | null;
  /** Whether a range or kinds were given. */
  asked: boolean;
  /** null: named after the chain. */
  network: string | null;
  dataDir: string | null;
  port: number;
  /** Seconds between reorganisations of the demo chain; null: none. */
  reorgEvery: number | null;
  once: boolean;
  verbose: boolean;
  json: boolean;
}

export const DEFAULT_PORT = 8080;
/** Blocks come every 3 s. */
const MIN_REORG_EVERY = 5;
const MAX_REORG_EVERY = 86_400;

/**
 * Checks the flags. `networksFile` is NETWORKS_FILE, which takes the place of the demo chain as --rpc does. Throws USAGE,
 * RANGE_INVALID and KIND_UNKNOWN.
 */
export function checkLocalFlags(flags: LocalFlags, networksFile?: string): LocalOptions {
  for (const url of flags.rpc) checkRpcUrl(url);
  const from = flags.from === undefined ? 0 : parseBlockNumber(flags.from, '--from');
  const { to: given = null } = flags;
  const to = given === null || given === 'finalized' ? given : parseBlockNumber(given, '--to');
  if (typeof to === 'number') checkRange(from, to);
  if (flags.once && to === null) {
    throw usageError('--once needs a last block.', 'Add --to <block> or --to finalized.');
  }
  const own = flags.rpc.length > 0 ? '--rpc' : networksFile ? 'NETWORKS_FILE' : null;
  if (flags.reorgEvery !== undefined && own !== null) {
    throw usageError(
      `--reorg-every works only on the demo chain, and ${own} names other nodes.`,
      `Leave out --reorg-every or ${own}.`,
    );
  }
  return {
    rpc: flags.rpc,
    from,
    to,
    kinds: flags.kinds === undefined ? null : parseKinds(flags.kinds),
    asked: flags.from !== undefined || flags.to !== undefined || flags.kinds !== undefined,
    network: flags.network === undefined ? null : parseNetworkName(flags.network),
    dataDir: flags.dataDir ?? null,
    port: flags.port === undefined ? DEFAULT_PORT : parseInteger(flags.port, '--port', 1, 65_535),
    reorgEvery:
      flags.reorgEvery === undefined
        ? null
        : parseInteger(flags.reorgEvery, '--reorg-every', MIN_REORG_EVERY, MAX_REORG_EVERY),
    once: flags.once ?? false,
    verbose: flags.verbose ?? false,
    json: flags.json ?? false,
  };
}

function checkRpcUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^(https?|wss?):$/.test(url.protocol)) return;
  const scheme = url === null ? 'something else' : `one of ${url.protocol}//`;
  throw usageError(
    `--rpc takes an http, https, ws or wss address, got ${text.includes('://') ? scheme : 'one without a scheme'}.`,
    text.endsWith('.ipc')
      ? 'IPC is not supported. Let the node serve HTTP, for example Geth with --http, and give --rpc http://localhost:8545.'
      : 'For example --rpc http://localhost:8545.',
  );
}

interface NodeAddresses {
  url: string;
  ws?: string;
}

/**
 * The nodes of --rpc. A WebSocket address belongs to the HTTP address of the same host, else to the last one before it
 * without a WebSocket address; alone it is a node that answers HTTP at the same address, as Anvil, reth and hosted
 * nodes do.
 */
export function pairAddresses(addresses: readonly string[]): NodeAddresses[] {
  const nodes = addresses.map((url): NodeAddresses | null => (isWebSocket(url) ? null : { url }));
  for (const [index, address] of addresses.entries()) {
    if (!isWebSocket(address)) continue;
    const free = nodes.filter((node): node is NodeAddresses => node !== null && node.ws === undefined);
    const before = nodes.slice(0, index).filter((node) => node !== null && free.includes(node));
    const partner =
      free.find((node) => new URL(node.url).hostname === new URL(address).hostname) ?? before.at(-1) ?? null;
    if (partner !== null) partner.ws = address;
    else nodes[index] = { url: address.replace(/^ws/i, 'http'), ws: address };
  }
  return nodes.filter((node) => node !== null);
}

function isWebSocket(address: string): boolean {
  return /^wss?:/i.test(address);
}

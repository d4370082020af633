import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { checkRange, parseBlockNumber, parseInteger, parseKinds, parseNetworkName } from '../parse.js';

/** The flags of `packhouse local`, as commander gives them. */
export interface LocalFlags {
  rpc: string[];
  from?: string;
  to?: string;
  kinds?: string;
  network?: string;
  dataDir?: string;
  port?: string;
  once?: boolean;
  json?: boolean;
}

/** What `packhouse local` shall do, checked. */
export interface LocalOptions {
  /** Node addresses; empty: the demo chain, or NETWORKS_FILE where that is set. */
  rpc: string[];
  from: number;
  /** null: follow the head. */
  to: number | 'finalized' | null;
  /** null: all that there are. */
  kinds: Kind[] | null;
  /** Whether a range or kinds were asked for by name. */
  asked: boolean;
  /** null: named after the chain. */
  network: string | null;
  dataDir: string | null;
  port: number;
  once: boolean;
  json: boolean;
}

export const DEFAULT_PORT = 8080;

/** Checks the flags. Throws USAGE, RANGE_INVALID and KIND_UNKNOWN. */
export function checkLocalFlags(flags: LocalFlags): LocalOptions {
  for (const url of flags.rpc) checkRpcUrl(url);
  const from = flags.from === undefined ? 0 : parseBlockNumber(flags.from, '--from');
  const to =
    flags.to === undefined
      ? null
      : flags.to === 'finalized'
        ? 'finalized'
        : parseBlockNumber(flags.to, '--to');
  if (typeof to === 'number') checkRange(from, to);
  if (flags.once && to === null) {
    throw new PackhouseError({
      code: 'USAGE',
      message: '--once needs an end, and without --to the head is followed for ever.',
      hint: 'Add --to <block> or --to finalized.',
    });
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
    once: flags.once ?? false,
    json: flags.json ?? false,
  };
}

function checkRpcUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^(https?|wss?):$/.test(url.protocol)) return;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--rpc takes an http, https, ws or wss address, got ${url === null ? 'something else' : `one of ${url.protocol}//`}.`,
    hint: 'For example --rpc http://localhost:8545.',
  });
}

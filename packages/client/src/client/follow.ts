import type { Kind } from '@packhouse/chain';
import type { AbiInput, Match } from '@packhouse/rows';
import { compileAbi, type Decoder, toPlainBatch } from '@packhouse/rows';
import { type BlocksStep, type FollowedStep, followFeed, type ReplacedStep } from '../feed/follow-feed.js';
import type { FeedRequest, FollowedTable } from '../feed/read-feed.js';
import type { Gateway } from '../fetch/http.js';
import { type Log, toLogs } from './logs.js';
import { getMatch, type WantedRows } from './match-of.js';

/** What is followed. */
export interface FollowRequest<Abi extends AbiInput = readonly []> extends FeedRequest, WantedRows {
  abi?: Abi | undefined;
  /** Keeps files and manifests, a folder for each kind in it. */
  folder?: string | undefined;
  /** Public keys to trust; absent: those that the gateway has at first. */
  trustKeyFile?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** What rows are of, so that a sink mixes no others with them. */
export interface FollowOrigin {
  /** The base address of the network, ending in `/v1/`. */
  base: string;
  kinds: readonly Kind[];
  match: Match;
}

/** A step with rows: `logs` are those of the kind `logs`, decoded; none if that is not followed. */
type WithLogs<Step, Abi extends AbiInput> = Step & { readonly logs: Log<Abi>[] };

/** A step, with what it is of. `logs` are made when they are asked for. */
export type FollowStep<Abi extends AbiInput = AbiInput> = { readonly origin: FollowOrigin } & (
  | WithLogs<BlocksStep, Abi>
  | WithLogs<ReplacedStep, Abi>
  | Exclude<FollowedStep, { tables: unknown }>
);

/** Follows kinds of a network. Throws as `followFeed`, USAGE, ABI_INVALID. */
export async function* follow<const Abi extends AbiInput>(
  gateway: Gateway,
  { abi, address, topics, signal = new AbortController().signal, ...wanted }: FollowRequest<Abi>,
): AsyncGenerator<FollowStep<Abi>, void, undefined> {
  const decoder = abi === undefined ? null : await compileAbi(abi);
  const match = await getMatch({ address, topics }, decoder);
  const kinds = [...new Set(wanted.kinds)].sort();
  const origin: FollowOrigin = { base: gateway.address.base, kinds, match };
  for await (const step of followFeed({ ...wanted, ...gateway, kinds, match, signal })) {
    if (step.step !== 'blocks' && step.step !== 'repaired') {
      yield { ...step, origin };
      continue;
    }
    let logs: Log<Abi>[] | undefined;
    const { tables } = step;
    yield Object.defineProperty({ ...step, origin, logs: [] }, 'logs', {
      enumerable: true,
      get: () => (logs ??= logsOf(tables, decoder)),
    });
  }
}

function logsOf<Abi extends AbiInput>(
  tables: readonly FollowedTable[],
  decoder: Decoder<Abi> | null,
): Log<Abi>[] {
  const own = tables.filter(({ kind }) => kind === 'logs').flatMap(({ batches }) => batches);
  return own.flatMap((batch) => toLogs(toPlainBatch(batch), decoder));
}

import { KINDS, type Kind } from '@packhouse/chain';
import type { Database, QuarantineRow } from '@packhouse/database';

/** The state of a block in one kind. */
export type KindState = 'published' | 'staged' | 'quarantined' | 'missing' | 'paused' | 'not requested';

/** The state of a block of a network in each kind. */
export async function getKindStates(
  database: Database,
  network: string,
  number: number,
): Promise<Record<Kind, KindState>> {
  const handle = database.network(network);
  const wanted = (await handle.backfills.list()).filter(
    (range) => range.state !== 'cancelled' && range.from <= number && (range.to ?? number) >= number,
  );
  const held = await handle.quarantine.within({ firstBlock: number, lastBlock: number });
  const one = async (kind: Kind): Promise<KindState> => {
    const { state } = await handle.locate(kind, number);
    if (state !== 'absent') return state;
    if (held.some((row) => row.kinds.includes(kind))) return 'quarantined';
    const asking = wanted.filter((range) => range.kinds.includes(kind));
    if (asking.length === 0) return 'not requested';
    return asking.every((range) => range.state === 'paused') ? 'paused' : 'missing';
  };
  const pairs = await Promise.all(KINDS.map(async (kind) => [kind, await one(kind)] as const));
  return Object.fromEntries(pairs) as Record<Kind, KindState>;
}

/** Why a block that is not quarantined needs no retry: the end of a sentence. */
export async function explainNoRetry(database: Database, network: string, number: number): Promise<string> {
  const all = Object.entries(await getKindStates(database, network, number)) as [Kind, KindState][];
  const of = (state: KindState): string[] => all.filter(([, each]) => each === state).map(([kind]) => kind);
  const missing = of('missing');
  if (missing.length > 0) {
    const head = await database.network(network).head.get();
    if (head === null || number > head.number) return 'it is above the head';
    if (number > head.finalized) return 'it is not finalized yet; it is fetched automatically';
    return `its ${missing.join(', ')} are missing and will be fetched`;
  }
  if (of('paused').length > 0) return 'its backfill is paused; `packhouse backfill resume` continues it';
  const staged = of('staged');
  const published = of('published');
  if (staged.length + published.length === 0) {
    return 'no backfill includes it; add one with `packhouse backfill add`';
  }
  if (staged.length === 0) return `it is published (${published.join(', ')})`;
  const rest = published.length === 0 ? '' : `; other kinds are published (${published.join(', ')})`;
  return `it is staged (${staged.join(', ')}) and will be packed${rest}`;
}

const MORE_NODES =
  'Add another node to the upstreams of this network (another client, or an archive node): each of them is tried.';

/** The remedy for a cause. */
export function getAdvice({ cause, upstream }: Pick<QuarantineRow, 'cause' | 'upstream'>): string {
  const node = upstream ?? 'the node';
  switch (cause) {
    case 'PROOF_FAILED':
      return `The response of ${node} does not match the block header: it is wrong, or the data of the node is corrupt. ${MORE_NODES} For a network whose headers cannot be recomputed, set \`proofs\` in the networks file.`;
    case 'FORK_UNKNOWN':
      return 'The upstreams agree byte for byte, but this version does not know the fork. Update Packhouse. One block is retried every few minutes; the others follow.';
    case 'NODE_METHOD_MISSING':
      return 'No upstream serves a method for these kinds: enable eth_getBlockReceipts and trace_block (or the debug namespace) on one, or add one. One block is retried every few minutes; the others follow.';
    case 'RECORD_INVALID':
    case 'NODE_ANSWER_INVALID':
      return `${node} sent an invalid response to the method. ${MORE_NODES} A newer version of Packhouse may accept it.`;
    case 'BLOCKS_UNAVAILABLE':
    case 'NODE_ANSWER_MISSING':
      return `No node has this part of the chain. ${MORE_NODES} Or cancel the backfill (\`packhouse backfill cancel\`) and add one that starts later.`;
    case 'NODE_ANSWER_TOO_LARGE':
      return 'The response exceeds the limit of the node, or NODE_MAX_BODY. Raise that limit.';
    case 'NODE_TIMEOUT':
      return `${node} takes longer than NODE_TIMEOUT_MS. Raise it, and the timeout of the node for traces. ${MORE_NODES}`;
    case 'STAGE_CONFLICT':
      return `The response of ${node} is on another branch than the adjacent blocks. See \`packhouse alarms\`; a node on the right branch resolves it.`;
    case 'INTERNAL':
      return 'This is a bug of Packhouse: see the log of the ingester. The block is retried automatically.';
    default:
      return `${MORE_NODES} The block is retried automatically.`;
  }
}

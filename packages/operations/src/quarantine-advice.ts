import { KINDS, type Kind } from '@packhouse/chain';
import type { Database, QuarantineRow } from '@packhouse/database';

/** The state of a block in one kind. */
export type KindStanding = 'published' | 'staged' | 'quarantined' | 'missing' | 'paused' | 'not wanted';

/** The state of a block of a network in each kind. */
export async function standing(
  database: Database,
  network: string,
  number: number,
): Promise<Record<Kind, KindStanding>> {
  const handle = database.network(network);
  const wanted = (await handle.wanted.list()).filter(
    (range) => range.state !== 'cancelled' && range.start <= number && (range.end ?? number) >= number,
  );
  const held = await handle.quarantine.within({ start: number, end: number });
  const one = async (kind: Kind): Promise<KindStanding> => {
    const { state } = await handle.locate(kind, number);
    if (state !== 'absent') return state;
    if (held.some((row) => row.kinds.includes(kind))) return 'quarantined';
    const asking = wanted.filter((range) => range.kinds.includes(kind));
    if (asking.length === 0) return 'not wanted';
    return asking.every((range) => range.state === 'paused') ? 'paused' : 'missing';
  };
  const pairs = await Promise.all(KINDS.map(async (kind) => [kind, await one(kind)] as const));
  return Object.fromEntries(pairs) as Record<Kind, KindStanding>;
}

/** Why a block that is not quarantined needs no retry, as the end of a sentence. */
export async function whyFine(database: Database, network: string, number: number): Promise<string> {
  const all = Object.entries(await standing(database, network, number)) as [Kind, KindStanding][];
  const of = (state: KindStanding): string[] =>
    all.filter(([, each]) => each === state).map(([kind]) => kind);
  const missing = of('missing');
  if (missing.length > 0) {
    const head = await database.network(network).head.get();
    if (head === null || number > head.number) return 'it does not exist yet: the head is before it';
    if (number > head.finalized) return 'it is at the head and not final yet; it is fetched by itself';
    return `its ${missing.join(', ')} are missing and will be fetched by themselves`;
  }
  if (of('paused').length > 0) return 'its backfill is paused; `packhouse backfill resume` continues it';
  const staged = of('staged');
  const published = of('published');
  if (staged.length + published.length === 0) {
    return 'it is not wanted; `packhouse backfill add` orders it';
  }
  if (staged.length === 0) return `it is published (${published.join(', ')})`;
  const rest = published.length === 0 ? '' : `, and published in the rest (${published.join(', ')})`;
  return `it is staged (${staged.join(', ')}) and will be packed by itself${rest}`;
}

const MORE_NODES =
  'Add another node to the upstreams of this network (another client, or an archive node): all of them are asked before a block is given up.';

/** The remedy for a cause, in one or two sentences. */
export function advice({ cause, upstream }: Pick<QuarantineRow, 'cause' | 'upstream'>): string {
  const node = upstream ?? 'the node';
  switch (cause) {
    case 'PROOF_FAILED':
      return `What ${node} sends does not match the header of the block: the answer is wrong, or its data is damaged. ${MORE_NODES} A network whose headers cannot be recomputed says so under \`proofs\` in the networks file.`;
    case 'FORK_UNKNOWN':
      return 'The upstreams agree byte for byte: they do not lie, this version does not know the fork. Update Packhouse; one block is tried every few minutes, and the rest follows by itself.';
    case 'NODE_METHOD_MISSING':
      return 'No upstream offers a method for these kinds: enable eth_getBlockReceipts and trace_block (or the debug namespace) on one, or add one. One block is tried every few minutes, and the rest follows by itself.';
    case 'RECORD_INVALID':
    case 'NODE_ANSWER_INVALID':
      return `What ${node} sends is not a valid answer to the method. ${MORE_NODES} A newer version of Packhouse may know this form.`;
    case 'BLOCKS_UNAVAILABLE':
    case 'NODE_ANSWER_MISSING':
      return `No node has this part of the chain. ${MORE_NODES} Or cancel the backfill (\`packhouse backfill cancel\`) and add one that begins later.`;
    case 'NODE_ANSWER_TOO_LARGE':
      return 'The answer is larger than the limit of the node, or than NODE_MAX_BODY: raise that limit.';
    case 'NODE_TIMEOUT':
      return `${node} takes longer than NODE_TIMEOUT_MS: raise that, and the timeout of the node for traces. ${MORE_NODES}`;
    case 'STAGE_CONFLICT':
      return `What ${node} sends follows another branch than the blocks beside it. See \`packhouse alarms\`; a node on the right branch resolves it.`;
    case 'INTERNAL':
      return 'This is a fault of Packhouse: the log of the ingester has the details, and the block is tried again by itself.';
    default:
      return `${MORE_NODES} It is tried again by itself.`;
  }
}

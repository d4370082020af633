import { KINDS, type Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';

/** Where a block is, kind by kind. */
export type KindStanding = 'published' | 'staged' | 'quarantined' | 'missing' | 'paused' | 'not wanted';

/** Where one block of a network is, in each kind. */
export async function standing(
  database: Database,
  network: string,
  number: number,
): Promise<Record<Kind, KindStanding>> {
  const wanted = (await database.network(network).wanted.list()).filter(
    (range) => range.state !== 'cancelled' && range.start <= number && (range.end ?? number) >= number,
  );
  const held = await database.network(network).quarantine.within({ start: number, end: number });
  const one = async (kind: Kind): Promise<KindStanding> => {
    const { state } = await database.network(network).locate(kind, number);
    if (state !== 'absent') return state;
    if (held.some((row) => row.kinds.includes(kind))) return 'quarantined';
    const asking = wanted.filter((range) => range.kinds.includes(kind));
    if (asking.length === 0) return 'not wanted';
    return asking.every((range) => range.state === 'paused') ? 'paused' : 'missing';
  };
  const pairs = await Promise.all(KINDS.map(async (kind) => [kind, await one(kind)] as const));
  return Object.fromEntries(pairs) as Record<Kind, KindStanding>;
}

/** Why a block that is not quarantined needs no retry, as the end of a sentence that begins with the block. */
export async function whyFine(database: Database, network: string, number: number): Promise<string> {
  const all = Object.entries(await standing(database, network, number)) as [Kind, KindStanding][];
  const of = (state: KindStanding): string[] =>
    all.filter(([, each]) => each === state).map(([kind]) => kind);
  const missing = of('missing');
  if (missing.length > 0) {
    const head = await database.network(network).head.get();
    if (head === null || number > head.number) return 'it is not there yet: the head is before it';
    if (number > head.finalized) return 'it is at the head and not final yet; it is fetched by itself';
    return `its ${missing.join(', ')} are missing and will be fetched by themselves`;
  }
  if (of('paused').length > 0) return 'its backfill is paused; `packhouse backfill resume` goes on with it';
  const staged = of('staged');
  const published = of('published');
  if (staged.length + published.length === 0) {
    return 'it is not wanted; `packhouse backfill add` asks for it';
  }
  if (staged.length === 0) return `it is published (${published.join(', ')})`;
  const rest = published.length === 0 ? '' : `, and published in the rest (${published.join(', ')})`;
  return `it is staged (${staged.join(', ')}) and will be packed by itself${rest}`;
}

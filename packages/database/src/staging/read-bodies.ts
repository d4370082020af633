import type { FragmentInfo } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import { to } from 'pg-copy-streams';
import type { Connections } from '../connection/connections.js';
import { decodeCopy, type ValuePlace } from '../connection/copy.js';

interface FragmentsOf {
  network: string;
  networkId: number;
  kind: number;
}

/**
 * The bodies of fragments, in the order of `startBlocks`; with `crcs` only of fragments with these checksums, since
 * after a reorganisation another one may begin at the same block. Throws STAGE_CONFLICT if one is gone.
 */
export async function readBodies(
  connections: Connections,
  options: FragmentsOf & { startBlocks: readonly number[]; crcs?: readonly number[] | undefined },
): Promise<Buffer[]> {
  const { startBlocks, crcs } = options;
  const bodies = new Map<number, Buffer>();
  const expected = new Map(startBlocks.map((block, i) => [block, crcs?.[i]]));
  await copyOut(connections, options, ['first_block', 'crc32', 'body'], startBlocks, ([block, crc, body]) => {
    if (block == null || body == null || crc == null) return;
    const number = Number(block.readBigInt64BE());
    const known = expected.get(number);
    if (known === undefined || known === Number(crc.readBigInt64BE())) bodies.set(number, body);
  });
  return startBlocks.map((startBlock) => {
    const body = bodies.get(startBlock);
    if (body !== undefined) return body;
    throw fragmentGone(options.network, startBlock);
  });
}

/**
 * Fills `places`, each as long as the body of its fragment, with the bodies; returns the items of the fragments
 * (Piece.items of packages/bundle; null: not known). Throws STAGE_CONFLICT if a fragment is gone.
 */
export async function readInto(
  connections: Connections,
  options: FragmentsOf & { fragments: readonly FragmentInfo[]; places: readonly Buffer[] },
): Promise<(Buffer | null)[]> {
  const { fragments, places } = options;
  const indexes = new Map(fragments.map(({ firstBlock }, index) => [firstBlock, index]));
  const found: (Buffer | null | undefined)[] = fragments.map(() => undefined);
  /** Where the fragment of this row is, if it is the requested one and not another one that begins there by now. */
  const findIndex = ([block, crc]: readonly (Buffer | null)[]): number | undefined => {
    const index = block == null ? undefined : indexes.get(Number(block.readBigInt64BE()));
    if (index === undefined || crc == null) return undefined;
    return fragments[index]?.crc32 === Number(crc.readBigInt64BE()) ? index : undefined;
  };
  const place: ValuePlace = (before, bytes) => {
    const index = before.length === BODY ? findIndex(before) : undefined;
    const at = index === undefined ? undefined : places[index];
    return at?.length === bytes ? at : undefined;
  };
  const columns = ['first_block', 'crc32', 'items', 'body'];
  const starts = fragments.map(({ firstBlock }) => firstBlock);
  const take = (row: (Buffer | null)[]): void => {
    const index = findIndex(row);
    if (index !== undefined && row[BODY] === places[index]) found[index] = row[ITEMS] ?? null;
  };
  await copyOut(connections, options, columns, starts, take, place);
  return found.map((items, index) => {
    if (items !== undefined) return items;
    throw fragmentGone(options.network, starts[index] as number);
  });
}

const ITEMS = 2;
const BODY = 3;

/** COPY takes no parameters; only whole numbers are put into its text. */
async function copyOut(
  connections: Connections,
  { networkId, kind }: FragmentsOf,
  columns: readonly string[],
  startBlocks: readonly number[],
  take: (row: (Buffer | null)[]) => void,
  place?: ValuePlace,
): Promise<void> {
  if (startBlocks.length === 0) return;
  if (![networkId, kind, ...startBlocks].every(Number.isSafeInteger)) {
    throw new RangeError('a block number is not a whole number');
  }
  const text = `COPY (
    SELECT ${columns.join()} FROM packhouse.fragment
    WHERE network_id = ${networkId} AND kind = ${kind} AND first_block IN (${startBlocks.join()})
  ) TO STDOUT (FORMAT binary)`;
  await connections.session(async ({ client }) => {
    for await (const row of decodeCopy(client.query(to(text)), place)) take(row);
  });
}

function fragmentGone(network: string, number: number): PackhouseError {
  return new PackhouseError({
    code: 'STAGE_CONFLICT',
    message: `The staged fragment of ${network} that began at block ${number} is gone.`,
    hint: 'It was published or abandoned in the meantime: look again where the block is.',
    data: { network, number, expected: 'a staged fragment', got: 'none' },
  });
}

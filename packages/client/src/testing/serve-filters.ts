import { hash } from 'node:crypto';
import { deflatePiece, filterOfBundle, spliceMember, toDigests, toFragment } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import type { TestGateway } from './test-gateway.js';

/** Files of one page. */
const PAGE_FILES = 2;

/** Lets a gateway hand out the filters of its files, by their first blocks; those that are not there are empty. */
export function serveFilters(gateway: TestGateway, objects: ReadonlyMap<number, Uint8Array>): void {
  gateway.fault = (path, response) => {
    const { pathname, searchParams } = new URL(path, gateway.url);
    if (!pathname.endsWith('/filters')) return false;
    const from = Number(searchParams.get('cursor') ?? searchParams.get('from'));
    const found = gateway.entries.filter(({ to: end }) => end >= from);
    const frames = found.slice(0, PAGE_FILES).flatMap(({ from: start, to: end, sha256: file }) => {
      const head = Buffer.alloc(52);
      head.writeBigUInt64BE(BigInt(start), 0);
      head.writeBigUInt64BE(BigInt(end), 8);
      head.write(file, 16, 'hex');
      const object = objects.get(start) ?? Buffer.alloc(0);
      head.writeUInt32BE(object.length, 48);
      return [head, object];
    });
    const next = found[PAGE_FILES];
    response.writeHead(200, next === undefined ? {} : { 'packhouse-filters-next': String(next.from) });
    response.end(Buffer.concat(frames));
    return true;
  };
}

/** A filter of one part with these items, of a bundle that is nowhere. */
export async function makeFilter(
  range: BlockRange,
  items: readonly Uint8Array[],
  times: readonly number[] | null = null,
): Promise<Buffer> {
  const fragment = toFragment(range, await deflatePiece(Buffer.from('[]')));
  const bytes = Buffer.concat(spliceMember([fragment], [fragment.body]).chunks);
  const known = { items: [toDigests(items)], times };
  return filterOfBundle({ kind: 'logs', fragments: [fragment], bytes }, known);
}

/** Publishes a bundle with a fragment for each block and its signed filter, with the blocks a second apart. */
export async function publishBundle(
  gateway: TestGateway,
  objects: Map<number, Uint8Array>,
  firstBlock: number,
  records: readonly object[][],
  fields: Parameters<TestGateway['publish']>[2] = {},
): Promise<Buffer> {
  const fragments = [];
  for (const [n, record] of records.entries()) {
    const range = { firstBlock: firstBlock + n, lastBlock: firstBlock + n };
    fragments.push(toFragment(range, await deflatePiece(Buffer.from(JSON.stringify(record)))));
  }
  const bodies = fragments.map(({ body }) => body);
  const bytes = Buffer.concat(spliceMember(fragments, bodies).chunks);
  const times = records.map((_, n) => 1_000 + firstBlock + n);
  const object = await filterOfBundle({ kind: 'logs', fragments, bytes }, { times });
  const filter = { bytes: object.length, sha256: hash('sha256', object) };
  gateway.publish(firstBlock, firstBlock + records.length - 1, { filter, ...fields }, bytes);
  objects.set(firstBlock, object);
  return bytes;
}

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

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Kind, toQuantity } from '@packhouse/chain';
import {
  createSigner,
  entryLine,
  makeSigningKey,
  NO_ENTRY,
  readSigningKey,
  type SealedEntry,
} from '@packhouse/manifest';

/** Answers a request in place of the gateway; false: the gateway answers. `path` has no key in it. */
type Fault = (path: string, response: ServerResponse, request: IncomingMessage) => boolean;

/** A gateway of one network in this process, with its signed manifest. */
export interface TestGateway {
  /** As it is given to `pull`. */
  url: string;
  apiKey: string;
  kind: Kind;
  chainId: number;
  /** Gateways of other kinds, for which this one answers too. */
  others: TestGateway[];
  entries: SealedEntry[];
  /** The bytes of each file, by `<start>-<end>`. */
  files: Map<string, Buffer>;
  /** The document of public keys. */
  keys: string;
  /** Paths asked for, without the key. */
  requests: string[];
  /** Blocks of the plan; null: all. */
  maxBlock: number | null;
  fault: Fault | null;
  /** Whether files are sent in ranges. */
  ranges: boolean;
  /** Publishes blocks, as text or as a file; with `fields.bytes` only an entry. */
  publish(start: number, end: number, fields?: Partial<SealedEntry>, text?: string | Buffer): SealedEntry;
  /** Signs with another key from now on. */
  rotate(): void;
  close(): Promise<void>;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const getHash = (number: number): string => `0x${sha256(`block ${number}`)}`;

/** Blocks are 12 seconds apart, from 2020 on; the newest is 999. */
const GENESIS = Date.UTC(2020, 0, 1) / 1_000;
const HEAD = 999;

/** Starts a gateway that has published nothing. */
export async function startTestGateway(kind: Kind = 'logs'): Promise<TestGateway> {
  const apiKey = `ph_12345678_${'k'.repeat(43)}`;
  let signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
  const publicKeys: object[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(`/${apiKey}`, '');
    gateway.requests.push(path);
    if (gateway.fault?.(path, response, request) === true) return;
    const own = gateway.others.find(({ kind: other }) => new RegExp(`(kind=|/)${other}\\b`).test(path));
    answer(own ?? gateway, path, request, response, gateway);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addKey = (): void => {
    publicKeys.push({ keyId: signer.keyId, publicKey: signer.publicKey.toString('base64') });
    gateway.keys = JSON.stringify({ keys: publicKeys });
  };
  const gateway: TestGateway = {
    url: `${origin}/ethereum`,
    apiKey,
    kind,
    chainId: 1,
    others: [],
    entries: [],
    files: new Map(),
    keys: '',
    requests: [],
    maxBlock: null,
    fault: null,
    ranges: true,
    publish(start, end, fields = {}, text = toText(start, end)) {
      const whole = typeof text === 'string' ? gzipSync(text) : text;
      const file = fields.bytes === undefined ? whole : Buffer.alloc(0);
      if (file.length > 0) gateway.files.set(`${start}-${end}`, file);
      const last = gateway.entries.at(-1);
      const entry = signer.seal({
        network: 'ethereum',
        chainId: gateway.chainId,
        kind,
        sequence: gateway.entries.length,
        from: start,
        to: end,
        sha256: sha256(file),
        bytes: file.length,
        rawBytes: text.length,
        firstHash: getHash(start),
        firstParentHash: getHash(start - 1),
        lastHash: getHash(end),
        proofs: ['headerHash'],
        clients: [],
        producer: signer.producer,
        version: 1,
        supersedes: null,
        publishedAt: new Date(1_700_000_000_000).toISOString(),
        previous: last?.hash ?? NO_ENTRY,
        keyId: signer.keyId,
        ...fields,
      });
      gateway.entries.push(entry);
      return entry;
    },
    rotate() {
      signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
      addKey();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  addKey();
  return gateway;
}

function toText(start: number, end: number): string {
  const data = sha256(`data ${start}`).repeat(8);
  return `[${Array.from({ length: end - start + 1 }, (_, i) => `[{"blockNumber":"0x${(start + i).toString(16)}","data":"0x${data}"}]`)}]`;
}

/** Ends an answer with a refusal. */
export function refuse(
  response: ServerResponse,
  status: number,
  body: object = {},
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, headers).end(JSON.stringify(body));
  return true;
}

function answer(
  gateway: TestGateway,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  asked: TestGateway,
): void {
  const { pathname, searchParams } = new URL(path, gateway.url);
  const at = pathname.replace('/ethereum/', '');
  const keyed =
    request.url?.includes(gateway.apiKey) || request.headers.authorization === `Bearer ${gateway.apiKey}`;
  const all = [asked, ...asked.others];
  if (at.startsWith('/.well-known/')) {
    const keys = all.flatMap((each) => (JSON.parse(each.keys) as { keys: object[] }).keys);
    response.end(JSON.stringify({ keys }));
  } else if (!keyed)
    refuse(response, 401, { reason: 'unauthenticated', detail: 'The API key is missing or not valid.' });
  else if (at === 'v1/bundle-api/manifest/head') {
    const heads = all.flatMap(({ entries }) => entries.slice(-1));
    const blocks = all
      .filter(({ entries }) => entries.length > 0)
      .map(({ kind, entries }) => {
        const starts = entries.map((entry) => entry.from);
        const ends = entries.map((entry) => entry.to);
        return `${kind}=${Math.min(...starts)}-${Math.max(...ends)}`;
      });
    response.writeHead(200, heads.length === 0 ? {} : { 'packhouse-manifest-blocks': blocks.join(', ') });
    response.end(heads.map((head) => `${entryLine(head)}\n`).join(''));
  } else if (at === 'v1/bundle-api/manifest') {
    sendManifest(gateway, searchParams, response);
  } else if (at === 'v1/bundle-api/files') sendList(gateway, searchParams, response);
  else if (at === 'v1/bundle-api/coverage') sendCoverage(gateway, searchParams, response);
  else if (at === 'v1') sendHeader(gateway, request, response);
  else if (at.startsWith('v1/bundle-api/')) sendPointer(gateway, Number(at.split('/').at(-1)), response);
  else {
    const file = gateway.files.get(at.split('/').at(-1)?.replace('.json.gz', '') ?? '');
    if (file === undefined)
      refuse(response, 404, { reason: 'file-unknown', detail: 'There is no such file.' });
    else sendFile(file, gateway.ranges ? request.headers.range : undefined, response);
  }
}

/** Sends a file, or one range of it. */
export function sendFile(file: Buffer, range: string | undefined, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (first === undefined) {
    response.writeHead(200, { 'content-length': file.length }).end(file);
  } else if (Number(first) >= file.length) {
    refuse(response, 416, { reason: 'range-unsatisfiable', detail: `The file has ${file.length} bytes.` });
  } else {
    const part = file.subarray(Number(first), Number(last) + 1);
    const end = Number(first) + part.length - 1;
    const headers = {
      'content-length': part.length,
      'content-range': `bytes ${first}-${end}/${file.length}`,
    };
    response.writeHead(206, headers).end(part);
  }
}

function sendManifest(
  { kind, entries }: TestGateway,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Number.MAX_SAFE_INTEGER)];
  const found = entries
    .slice(Number(query.get('after')) + 1)
    .filter((entry) => entry.from <= to && entry.to >= from);
  const page = found.slice(0, Number(query.get('limit')));
  const last = page.length < found.length ? page.at(-1) : entries.at(-1);
  const text = page.map((entry) => `${entryLine(entry)}\n`).join('');
  response
    .writeHead(200, {
      'packhouse-manifest-next': `ethereum:${kind}:${last?.sequence ?? -1}`,
      'content-encoding': 'gzip',
    })
    .end(gzipSync(text));
}

function sendCoverage(
  { kind, maxBlock, entries }: TestGateway,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
  if (maxBlock !== null && to > maxBlock) {
    const detail = `The plan "free" includes blocks up to ${maxBlock}; block ${to} was asked for.`;
    refuse(response, 403, { reason: 'plan-limit', detail, maxBlock });
    return;
  }
  const has = (block: number): boolean =>
    entries.some(({ from: start, to: end }) => start <= block && end >= block);
  const runs: { start: number; end: number }[] = [];
  for (let block = from; block <= to; block++) {
    const last = runs.at(-1);
    if (has(block)) continue;
    if (last?.end === block - 1) last.end = block;
    else runs.push({ start: block, end: block });
  }
  const holes = runs.map(({ start, end }) => ({
    range: `${start}-${end}`,
    reason: 'not-requested',
    needs: 'a range that orders it',
  }));
  response.end(JSON.stringify({ kinds: [{ kind, holes }] }));
}

/** Two files a page. */
function sendList(
  { url, kind, maxBlock, entries }: TestGateway,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const last = Number(query.get('to') ?? Number.MAX_SAFE_INTEGER);
  const from = Number(query.get('cursor') ?? query.get('from') ?? 0);
  const newest = new Map(entries.map((entry) => [entry.from, entry]));
  const found = [...newest.values()]
    .filter(({ from: start, to: end }) => start <= last && end >= from && end <= (maxBlock ?? end))
    .sort((a, b) => a.from - b.from);
  const files = found.slice(0, 2).map(({ from, to, bytes, sha256, version }) => {
    return { from, to, bytes, sha256, version, link: `${url}/files/${kind}/${from}-${to}.json.gz` };
  });
  const limited = maxBlock !== null && maxBlock < last ? { limited: { maxBlock } } : {};
  response.end(JSON.stringify({ files, next: found[2]?.from.toString() ?? null, ...limited }));
}

function sendPointer({ url, kind, entries }: TestGateway, block: number, response: ServerResponse): void {
  const found = entries.find(({ from: start, to: end }) => start <= block && end >= block);
  if (found === undefined) {
    refuse(response, 404, { reason: 'not-covered', detail: 'The block is not covered.' });
    return;
  }
  const range = `${found.from}-${found.to}`;
  response.end(JSON.stringify({ type: kind, range, download_link: `${url}/files/${kind}/${range}.json.gz` }));
}

function sendHeader({ chainId }: TestGateway, request: IncomingMessage, response: ServerResponse): void {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const { method, params } = JSON.parse(text) as { method: string; params: [string] };
    if (method === 'eth_chainId') {
      response.end(JSON.stringify({ result: toQuantity(chainId) }));
      return;
    }
    const [tag] = params;
    const number = tag === 'latest' ? HEAD : Number(tag);
    response.end(
      JSON.stringify({
        result: { number: toQuantity(number), timestamp: toQuantity(GENESIS + 12 * number) },
      }),
    );
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A change of one answer of a node. Paths are chosen by numbers, so that they fit any answer. */
export type Garble =
  | { how: 'value'; path: readonly number[]; json: string }
  | { how: 'remove'; path: readonly number[] }
  | { how: 'result'; json: string }
  | { how: 'error'; json: string }
  | { how: 'ids'; form: 'missing' | 'same' | 'text' | 'negative' | 'huge' }
  | { how: 'items'; form: 'twice' | 'dropped' | 'reversed' | 'null' | 'wrapped' }
  | { how: 'body'; text: string };

/** Garbles, each with the answer at which it begins. */
export interface GarblingScript {
  garble: Garble;
  method: string;
  /** Answers of that method that stay unchanged first. */
  after: number;
  /** Answers that are garbled after these. */
  times: number;
}

/** A proxy of an honest node that garbles its answers. */
export interface GarblingNode {
  readonly url: string;
  /** Follows these scripts from now on; none makes it honest. */
  play(scripts: readonly GarblingScript[]): void;
  close(): Promise<void>;
}

/** Starts the proxy of the node at `url`. */
export async function createGarblingNode(url: string): Promise<GarblingNode> {
  let playing: { script: GarblingScript; seen: number }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void answer(Buffer.concat(chunks).toString()).then(
        (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text),
        () => response.destroy(),
      );
    });
  });
  const answer = async (body: string): Promise<string> => {
    const honest = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    let text = await honest.text();
    const asked = JSON.parse(body) as { method: string } | { method: string }[];
    const methods = new Set((Array.isArray(asked) ? asked : [asked]).map((call) => call.method));
    for (const one of playing) {
      if (!methods.has(one.script.method)) continue;
      one.seen += 1;
      const { after, garble, times } = one.script;
      if (one.seen > after && one.seen <= after + times) text = garbled(text, garble);
    }
    return text;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (next) => {
      playing = next.map((script) => ({ script, seen: 0 }));
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A placeholder for raw text in a value until it is JSON: not every text of a node can be a JavaScript value. */
const MARK = '@@raw@@';

function garbled(text: string, garble: Garble): string {
  if (garble.how === 'body') return garble.text;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text;
  }
  const items = (Array.isArray(parsed) ? parsed : [parsed]) as Record<string, unknown>[];
  const raw = (value: unknown, by: string): string => JSON.stringify(value).replaceAll(`"${MARK}"`, () => by);
  switch (garble.how) {
    case 'value':
    case 'remove':
      for (const item of items) walk(item, garble.path, garble.how === 'value' ? MARK : undefined);
      return garble.how === 'value' ? raw(parsed, garble.json) : JSON.stringify(parsed);
    case 'result':
      for (const item of items) item.result = MARK;
      return raw(parsed, garble.json);
    case 'error':
      for (const item of items) {
        delete item.result;
        item.error = MARK;
      }
      return raw(parsed, garble.json);
    case 'ids':
      for (const [i, item] of items.entries()) {
        if (garble.form === 'missing') delete item.id;
        else
          item.id = { same: items[0]?.id, text: `${String(item.id)}`, negative: -1 - i, huge: 2 ** 60 }[
            garble.form
          ];
      }
      return JSON.stringify(parsed);
    case 'items':
      switch (garble.form) {
        case 'twice':
          return JSON.stringify([...items, ...items]);
        case 'dropped':
          return JSON.stringify(items.slice(1));
        case 'reversed':
          return JSON.stringify(items.toReversed());
        case 'null':
          return JSON.stringify(items.map((item, i) => (i % 2 === 0 ? null : item)));
        default:
          return JSON.stringify({ result: parsed });
      }
  }
}

/** Descends from the result, one step per number, and sets the value there; undefined removes it. */
function walk(item: Record<string, unknown>, path: readonly number[], value: unknown): void {
  let holder: Record<string, unknown> = item;
  let key = 'result';
  for (const step of path) {
    const next = holder[key];
    if (typeof next !== 'object' || next === null) break;
    const keys = Object.keys(next);
    if (keys.length === 0) break;
    holder = next as Record<string, unknown>;
    key = keys[step % keys.length] as string;
  }
  if (value === undefined) delete holder[key];
  else holder[key] = value;
}

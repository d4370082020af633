import type { KeyObject } from 'node:crypto';
import type { BlockRange, Kind } from '@packhouse/chain';
import { checkSeal, parseEntry, type SealedEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { type Gateway, readBody } from '../fetch/http.js';

/** Signed heads of all kinds. */
const MAX_BYTES = 1_048_576;

/** The newest entry of a kind, and the blocks that are published. */
interface Head {
  /** Null: nothing is published. */
  head: SealedEntry | null;
  /** From the first to the last; nothing of it is signed. */
  blocks: BlockRange;
}

/** Asks for the newest signed entry of a kind. Throws MANIFEST_INVALID, and as `Http.get`. */
export async function readHead(
  { address, http, keys }: Gateway & { keys: ReadonlyMap<string, KeyObject> },
  kind: Kind,
  signal?: AbortSignal,
): Promise<Head> {
  const { text, blocks } = await http.get(
    address.api('manifest/head'),
    async ({ body, headers }) => ({
      text: (await readBody(body, MAX_BYTES, unreadable)).toString(),
      blocks: String(headers['packhouse-manifest-blocks'] ?? ''),
    }),
    { signal },
  );
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const head = parseEntry(line, 'A signed head');
    if (head.kind !== kind) continue;
    checkSeal(head, keys);
    return { head, blocks: blocksOf(blocks, kind) };
  }
  return { head: null, blocks: { firstBlock: 0, lastBlock: 0 } };
}

/** Reads `blocks=0-99, logs=0-89`. */
function blocksOf(header: string, kind: Kind): BlockRange {
  const found = header.split(', ').find((part) => part.startsWith(`${kind}=`));
  const [, first, last] = /=(\d{1,15})-(\d{1,15})$/.exec(found ?? '') ?? [];
  if (first === undefined) throw unreadable();
  return { firstBlock: Number(first), lastBlock: Number(last) };
}

function unreadable(): PackhouseError {
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: "The gateway's answer about the newest entries of its manifest cannot be read.",
    hint: 'Check the address, and that the gateway is not older than this program.',
    retryable: false,
  });
}

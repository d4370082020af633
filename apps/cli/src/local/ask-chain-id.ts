import { describeError, PackhouseError, redact } from '@packhouse/runtime';
import { request } from 'undici';

const TIMEOUT_MS = 10_000;
/** An answer to eth_chainId is some sixty bytes; whatever is longer is not one. */
const MAX_BYTES = 4_096;

/**
 * Asks every node for its chain id; nodes that do not answer are left out as long as one does.
 *
 * Throws NODE_WRONG_CHAIN where they disagree, else the first node's own error where none answers.
 */
export async function askChainId(urls: readonly string[], signal: AbortSignal): Promise<number> {
  const answers = await Promise.allSettled(urls.map((url) => askOne(url, signal)));
  const ids = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? [{ url: redact(urls[i] as string), chainId: answer.value }] : [],
  );
  const first = ids[0];
  if (first === undefined) throw (answers[0] as PromiseRejectedResult).reason;
  const other = ids.find((id) => id.chainId !== first.chainId);
  if (other === undefined) return first.chainId;
  throw new PackhouseError({
    code: 'NODE_WRONG_CHAIN',
    message: `The nodes are on different chains: ${first.url} says ${first.chainId}, ${other.url} says ${other.chainId}.`,
    hint: 'Give nodes of one chain.',
  });
}

async function askOne(url: string, signal: AbortSignal): Promise<number> {
  const at = redact(url);
  const { username, password } = new URL(url);
  let status: number;
  let text: string;
  try {
    const response = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(username === ''
          ? {}
          : {
              authorization: `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}`,
            }),
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    status = response.statusCode;
    text = await readStart(response.body);
  } catch (error) {
    signal.throwIfAborted();
    throw new PackhouseError({
      code: 'NODE_UNREACHABLE',
      message: `The node ${at} cannot be reached: ${redact(describeError(error))}.`,
      hint: 'Check the address, and that the node runs and listens there.',
      cause: error,
    });
  }
  if (status === 401 || status === 403) {
    throw new PackhouseError({
      code: 'NODE_UNAUTHORIZED',
      message: `The node ${at} refused the credentials (HTTP ${status}).`,
      hint: 'Check the key or password in the address.',
    });
  }
  const answer = parse(text);
  const chainId = Number(answer?.result);
  if (typeof answer?.result === 'string' && Number.isSafeInteger(chainId)) return chainId;
  throw new PackhouseError({
    code: 'NODE_NOT_JSON_RPC',
    message: `The node ${at} answered eth_chainId with HTTP ${status} and ${JSON.stringify(text.slice(0, 60))} instead of a chain id.`,
    hint: 'Is this the JSON-RPC address of an Ethereum node?',
  });
}

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('utf8');
    if (text.length > MAX_BYTES) break;
  }
  return text;
}

function parse(text: string): { result?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

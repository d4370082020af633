import { createUpstreamClient, parseQuantity } from '@packhouse/node-rpc';
import { type Clock, PackhouseError, redact } from '@packhouse/runtime';

const TIMEOUT_MS = 10_000;

/**
 * Asks every node for its chain id; nodes that do not answer are left out as long as one does.
 *
 * Throws NODE_WRONG_CHAIN if they disagree, and the first node's own error if none answers.
 */
export async function askChainId(
  urls: readonly string[],
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<number> {
  const answers = await Promise.allSettled(
    urls.map(async (url, at) => {
      const upstream = {
        name: `upstream-${at + 1}`,
        url,
        provider: url,
        headers: {},
        priority: 1,
        maxInFlight: 1,
      };
      const client = createUpstreamClient({ upstream, clock, timeoutMs: TIMEOUT_MS, signal });
      try {
        return await askOne(client, redact(url));
      } finally {
        await client.close();
      }
    }),
  );
  signal.throwIfAborted();
  const ids = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? [{ url: redact(urls[i] as string), chainId: answer.value }] : [],
  );
  const first = ids[0];
  if (first === undefined) throw (answers[0] as PromiseRejectedResult).reason;
  const other = ids.find((id) => id.chainId !== first.chainId);
  if (other === undefined) return first.chainId;
  throw new PackhouseError({
    code: 'NODE_WRONG_CHAIN',
    message: `The nodes are on different chains: ${first.url} is on ${first.chainId}, ${other.url} is on ${other.chainId}.`,
    hint: 'Use nodes of one chain.',
  });
}

async function askOne(client: ReturnType<typeof createUpstreamClient>, at: string): Promise<number> {
  const answer = await client.call('eth_chainId', []);
  if (answer.kind !== 'result') throw answer.error;
  const chainId = parseQuantity(answer.value);
  if (chainId !== null) return chainId;
  throw new PackhouseError({
    code: 'NODE_NOT_JSON_RPC',
    message: `The node ${at} answered eth_chainId with ${JSON.stringify(answer.value)?.slice(0, 60)} instead of a chain id.`,
    hint: 'Is this the JSON-RPC address of an Ethereum node?',
  });
}

import { createKeccak256, type Keccak } from '@packhouse/chain';
import type { ForwardAnswer } from '@packhouse/node-rpc';
import { noteOnce } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import { askWhole, failure, parseBody, toForwardRequest } from '../rpc/ask-node.js';
import { type Check, checkParams, data } from '../rpc/check-params.js';
import { RecordCheck } from '../rpc/check-records.js';
import { type CallContext, type RpcAnswer, type RpcMethod, toResult } from '../rpc/method.js';

/** Upstreams that get a transaction at once. */
const MAX_NODES = 3;
/** Bytes of a transaction (go-ethereum, core/txpool/legacypool: txMaxSize). */
const MAX_BYTES = 131_072;
const BLOB_TYPE = 3;
/** Blobs of a block since Prague (EIP-7691); Osaka has fewer in a transaction (EIP-7594). */
const MAX_BLOBS = 9;
/** Bytes that a blob adds: itself, its commitment, 128 proofs of its cells (EIP-7594), and the heads of their strings. */
const BLOB_BYTES = 131_072 + 4 + 129 * 49;
/** Types whose hash is that of the bytes which are sent; 3 without its blobs. */
const HASHED_TYPES: ReadonlySet<number> = new Set([1, 2, BLOB_TYPE, 4]);

/** How long other nodes may take once one has refused the transaction for what it is, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * The transaction is there already. geth, reth, Erigon: `already known`; Erigon too: `existing tx with same hash`; Besu:
 * `Known transaction`; Nethermind: `AlreadyKnown`; OpenEthereum, Anvil: `… already imported`; Cosmos EVM: `tx
 * already in mempool`.
 */
const IS_THERE =
  /\balready ?known\b|^known transaction|existing tx with same hash|already imported|already in (the )?mempool/i;
/** geth, reth, Erigon, Besu: `nonce too low`; OpenEthereum: `nonce is too low`; Nethermind: `OldNonce`. */
const HAS_OLD_NONCE = /nonce (is )?too low|\bOldNonce\b/i;
/** Errors about the transaction, rather than about the node. */
const IS_VERDICT =
  /nonce|funds|balance|gas|fee|price|tip|blob|signature|sender|chain ?id|transaction|initcode/i;

/**
 * `eth_sendRawTransaction`, to three upstreams at once: the first that takes it decides, the others get it all the same.
 * That a node has it already is success. So is a nonce that is too low, if the transaction itself has used it: a try that
 * broke off may have been taken.
 */
export function sendRawTransaction(): RpcMethod {
  let keccak: Promise<Keccak> | undefined;
  return {
    name: 'eth_sendRawTransaction',
    cost: 10,
    ifAllowed: true,
    idempotent: false,
    contracts: 'none',
    async handle(call, caller) {
      checkParams(call.params, [rawTransaction]);
      const [text] = call.params as [string];
      keccak ??= createKeccak256();
      const hash = getHash(Buffer.from(text.slice(2), 'hex'), await keccak);
      const { rpc } = caller.network.config;
      caller.deadline ??= performance.now() + rpc.timeoutMs;
      const request = toForwardRequest(caller, undefined, {
        method: 'eth_sendRawTransaction',
        params: JSON.stringify([text]),
        idempotent: true,
        whole: true,
        timeoutMs: rpc.timeoutMs,
        signal: caller.signal,
        check:
          hash === null ? undefined : () => new RecordCheck({ beginning: (result) => isHash(result, hash) }),
      });
      const answers = caller.network.forwarder.broadcast(request, MAX_NODES);
      const failures: ForwardAnswer[] = [];
      let stopWaiting = (): void => undefined;
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<null>((resolve) => {
        stopWaiting = () => resolve(null);
      });
      const taken = answers.map(async (asking) => {
        const answer = await asking;
        const answered = toAnswer(answer, hash);
        if (answered === null) {
          failures.push(answer);
          if (getWeight(answer) === 2) timer ??= setTimeout(stopWaiting, GRACE_MS);
          throw answer;
        }
        noteOnce(caller.notes?.upstreams, (answer as { upstream: string }).upstream);
        return answered;
      });
      try {
        const answer = await Promise.race([Promise.any(taken).catch(() => null), enough]);
        return answer ?? (await explainRefusal(failures, hash, caller));
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The answer of an upstream that has the transaction; null if it does not. */
function toAnswer(answer: ForwardAnswer, hash: string | null): RpcAnswer | null {
  if (answer.kind === 'result') return answer;
  return answer.kind === 'error' && hash !== null && IS_THERE.test(answer.message)
    ? toResult(`"${hash}"`)
    : null;
}

/** The answer where no upstream took the transaction. Throws problems. */
async function explainRefusal(
  failures: readonly ForwardAnswer[],
  hash: string | null,
  caller: CallContext,
): Promise<RpcAnswer> {
  const isOld = failures.some((each) => each.kind === 'error' && HAS_OLD_NONCE.test(each.message));
  if (isOld && hash !== null && (await isKnown(hash, caller))) return toResult(`"${hash}"`);
  const [best] = [...failures].sort((a, b) => getWeight(b) - getWeight(a));
  if (best?.kind === 'error') {
    noteOnce(caller.notes?.upstreams, best.upstream);
    return best;
  }
  throw failure(
    best?.kind === 'failed' ? best : { reason: 'unavailable', detail: 'no node is available' },
    caller.network.config.rpc.maxAnswerBytes,
  );
}

function getWeight(answer: ForwardAnswer): number {
  if (answer.kind !== 'error') return 0;
  return IS_VERDICT.test(answer.message) && answer.code !== -32_601 ? 2 : 1;
}

/** Whether a node has the transaction. If none can tell, the error stays what the node said. */
async function isKnown(hash: string, caller: CallContext): Promise<boolean> {
  try {
    const answer = await askWhole(caller, {
      method: 'eth_getTransactionByHash',
      params: JSON.stringify([hash]),
    });
    if (answer.kind === 'error') return false;
    const found = parseBody(answer.body) as { hash?: unknown } | null;
    return typeof found?.hash === 'string' && found.hash.toLowerCase() === hash;
  } catch (error) {
    if (error instanceof Problem || error instanceof SyntaxError) return false;
    throw error;
  }
}

function isHash(result: Buffer, hash: string): boolean {
  return result.length === 68 && result.toString('latin1').toLowerCase() === `"${hash}"`;
}

/** DATA of a size that nodes take, which begins like a legacy transaction (a list) or an envelope (EIP-2718). */
const rawTransaction: Check = (value) => {
  const wrong = data(value);
  if (wrong !== null) return wrong;
  const bytes = ((value as string).length - 2) / 2;
  if (bytes === 0) return 'an empty transaction';
  const first = Number.parseInt((value as string).slice(2, 4), 16);
  if (first > 0x7f && first < 0xc0) return `a transaction cannot begin with the byte 0x${first.toString(16)}`;
  const most = first === BLOB_TYPE ? MAX_BYTES + MAX_BLOBS * BLOB_BYTES : MAX_BYTES;
  return bytes > most ? `oversized data: a transaction of ${bytes} bytes, at most ${most}` : null;
};

/** The hash of a transaction; null for types whose hash is not that of their bytes. */
function getHash(raw: Buffer, keccak: Keccak): string | null {
  const type = raw[0] as number;
  if (type < 0xc0 && !HASHED_TYPES.has(type)) return null;
  const bytes = type === BLOB_TYPE ? withoutBlobs(raw) : raw;
  return `0x${Buffer.from(keccak.hash(bytes)).toString('hex')}`;
}

/** A blob transaction as a block has it: its payload is the first item of what is sent with blobs (EIP-4844, networking). */
function withoutBlobs(raw: Buffer): Buffer {
  const outer = listAt(raw, 1);
  const payload = outer === null ? null : listAt(raw, outer.start);
  // Without blobs the first item is the chain's id, which is no list.
  if (outer === null || payload === null) return raw;
  return Buffer.concat([raw.subarray(0, 1), raw.subarray(outer.start, payload.end)]);
}

/** Where the items of the RLP list at an offset begin and end; null if there is no list. */
function listAt(bytes: Buffer, at: number): { start: number; end: number } | null {
  const head = bytes[at];
  if (head === undefined || head < 0xc0) return null;
  if (head <= 0xf7) return { start: at + 1, end: at + 1 + head - 0xc0 };
  const digits = head - 0xf7;
  if (digits > 4 || at + 1 + digits > bytes.length) return null;
  const start = at + 1 + digits;
  return { start, end: start + bytes.readUIntBE(at + 1, digits) };
}

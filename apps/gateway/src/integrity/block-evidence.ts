import {
  type BareBlock,
  createProver,
  createSenderThreads,
  type ProofPolicy,
  type Prover,
  type SenderCheck,
  toQuantity,
} from '@packhouse/chain';
import { type Network, nodeMethod } from '@packhouse/networks';
import type { Disproof, Forwarder, ForwardRequest } from '@packhouse/node-rpc';
import { type CallSignal, isPackhouseError } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';

export type Prove = NonNullable<ForwardRequest['prove']>;

/** Proved headers kept in memory, about 700 bytes each. */
const MAX_HEADERS = 1_024;

export interface IntegrityParts {
  policy: ProofPolicy;
  forwarder: Pick<Forwarder, 'call' | 'epoch' | 'finalized' | 'head'>;
  rpc: Pick<Network['rpc'], 'aliases' | 'maxAnswerBytes' | 'timeoutMs'>;
}

/** Creates the proved blocks and headers that other proofs of a network need. */
export function createBlockEvidence({ policy, forwarder, rpc }: IntegrityParts, maxBytes: number) {
  const threads = createSenderThreads({ threads: 1 });
  let creating: Promise<Prover> | undefined;
  const getProver = (): Promise<Prover> => {
    creating ??= createProver(policy);
    return creating;
  };
  const headers = new LRUCache<string, BareBlock>({ max: MAX_HEADERS });
  const isFinal = (number: number): boolean => number <= (forwarder.finalized() ?? -1);

  /** Requests evidence for a proof; undefined if no upstream has it. */
  const fetch = async (
    method: string,
    params: readonly unknown[],
    signal: CallSignal,
    prove: Prove,
  ): Promise<unknown> => {
    const answer = await forwarder.call({
      method: nodeMethod(method, rpc.aliases),
      params: JSON.stringify(params),
      prove,
      signal,
      timeoutMs: rpc.timeoutMs,
      idempotent: true,
      checkedRead: true,
      whole: true,
      crossCheck: 'existence',
      maxBytes,
    });
    return answer.kind === 'result' ? (parseResult(answer.body.bytes) ?? undefined) : undefined;
  };

  /** A block by number or hash, whole. */
  const getBlock = (at: string, signal: CallSignal): Promise<unknown> =>
    fetch(blockMethod(at), [at, true], signal, proveBlock([at, true]));

  const getHeader = async (at: string, signal: CallSignal): Promise<BareBlock | undefined> => {
    const known = headers.get(nameHeader(forwarder, at));
    if (known !== undefined) return known;
    const params = [at, false];
    let header: BareBlock | undefined;
    const prove = proveBlock(params, (proved) => {
      header = proved;
    });
    await fetch(blockMethod(at), params, signal, prove);
    if (header !== undefined) {
      headers.set(header.hash, header);
      if (isFinal(header.number)) headers.set(nameHeader(forwarder, toQuantity(header.number)), header);
    }
    return header;
  };

  /** Proves the block of these parameters; `onProved` gets it if it has no transactions. */
  const proveBlock =
    ([at, full]: readonly unknown[], onProved?: (block: BareBlock) => void): Prove =>
    async (result) => {
      const prover = await getProver();
      const block = parseResult(result);
      let senders: SenderCheck | undefined;
      const disproof = findDisproof(() => {
        if (block === null) return null;
        const whole = full === true ? prover.proveBlock({ block }, { later: true }) : undefined;
        senders = whole?.senders;
        const found = whole === undefined ? prover.proveBareBlock(block) : { ...whole, logsBloom: null };
        const isOther = isNumber(at)
          ? found.number !== Number(at)
          : isHash(at) && found.hash !== at.toLowerCase();
        if (isOther) return `it is block ${found.number} ${found.hash} instead of ${String(at)}`;
        if (full !== true) onProved?.(found);
        return null;
      });
      return (
        disproof ??
        (senders === undefined
          ? null
          : findFalseSender(prover, Number((block as { number: string }).number), senders))
      );
    };

  /** Recovers senders beside this thread; here, if that thread ended. */
  const findFalseSender = async (
    prover: Prover,
    block: number,
    senders: SenderCheck,
  ): Promise<Disproof | null> => {
    try {
      await threads.prove(block, senders);
      return null;
    } catch (error) {
      return findDisproof(() => {
        if (isPackhouseError(error)) throw error;
        prover.proveSenders(block, senders);
        return null;
      });
    }
  };

  return { getProver, fetch, getBlock, getHeader, proveBlock, isFinal };
}

/** A hash names one block; a number only what the nodes said that it is. */
function nameHeader({ epoch }: Pick<Forwarder, 'epoch'>, at: string): string {
  return isHash(at) ? at : `${epoch()} ${at}`;
}

export function missingBlock(block: string): Disproof {
  return { isFalse: false, reason: `block ${block} is not available from any node for the proof` };
}

function blockMethod(at: string): string {
  return isHash(at) ? 'eth_getBlockByHash' : 'eth_getBlockByNumber';
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
}

export function isNumber(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value);
}

/** A result as JSON; a text that is none is found false by what reads it. */
export function parseResult(result: Buffer): unknown {
  try {
    return JSON.parse(result.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * What a check finds: a sentence, or what the prover throws. If the check is not `sure`, the node may know another branch.
 * Fields of a fork that this version does not know are not the node's fault.
 */
export function findDisproof(check: () => string | null, sure = true): Disproof | null {
  try {
    const reason = check();
    return reason === null ? null : { isFalse: sure, reason };
  } catch (error) {
    if (!isPackhouseError(error, 'PROOF_FAILED') && !isPackhouseError(error, 'RECORD_INVALID')) throw error;
    return { isFalse: sure && error.data.unknownFields === undefined, reason: error.message };
  }
}

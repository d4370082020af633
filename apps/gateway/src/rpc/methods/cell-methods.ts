import { CallController } from '@packhouse/runtime';
import { createRecent } from '../../cache/recent.js';
import { Problem } from '../../http/problem.js';
import { askWhole, type WholeAnswer } from '../ask-whole.js';
import type { MethodParts, RpcAnswer, RpcMethod, RpcVisit } from '../method.js';
import { NodeSaid } from '../node-said.js';
import { checkCellTransaction } from '../params/cell-transaction.js';
import { anything, checkParams, invalidParams } from '../params/check-params.js';

const VALIDATORS = ['well_known_scripts_only', 'passthrough'];
/** PoolRejectedDuplicatedTransaction (ckb, rpc/src/error.rs). */
const ALREADY_IN_POOL = -1107;
const CONSENSUS_TTL_MS = 60_000;

/** What networks of the cell family offer: sending a transaction, and the consensus parameters. */
export function cellMethods(parts: MethodParts): RpcMethod[] {
  return [sendTransaction, getConsensus(parts)];
}

/**
 * `send_transaction`. A node that broke off, or did not answer in half of the time, may have taken the transaction: it
 * is sent once more, and a node that has it already says so, which is what was asked for. Where it does not name the
 * transaction, its hash is not known here, and the client gets the node's own words.
 */
const sendTransaction: RpcMethod = {
  name: 'send_transaction',
  cost: 10,
  idempotent: false,
  async handle(call, visit) {
    checkParams(call.params, [anything, anything], 1);
    const [transaction, validator = null] = call.params;
    checkCellTransaction(transaction);
    if (validator !== null && (typeof validator !== 'string' || !VALIDATORS.includes(validator))) {
      throw invalidParams(`invalid argument 1: expected one of ${VALIDATORS.join(', ')}`, 1);
    }
    const params = JSON.stringify([transaction, validator ?? VALIDATORS[0]]);
    const request = { method: 'send_transaction', params, idempotent: false };
    try {
      const { timeoutMs } = visit.at.site.network.rpc;
      return asAnswer(await askWhole(visit, { ...request, timeoutMs: timeoutMs / 2 }));
    } catch (error) {
      if (!(error instanceof Problem) || visit.signal.aborted) throw error;
      const again = await askWhole(visit, request);
      const known = again.kind === 'error' && again.code === ALREADY_IN_POOL ? hashIn(again.error) : null;
      return known === null ? asAnswer(again) : asText(`"${known}"`);
    }
  },
};

/** The node names the transaction that it has, in message or data: `Transaction(Byte32(0x…)) already exists in …`. */
function hashIn(error: Buffer): string | null {
  return /0x[0-9a-f]{64}\b/.exec(error.toString('utf8'))?.[0] ?? null;
}

/** `get_consensus`, which is the same for months, asked for once a minute. */
function getConsensus({ now }: MethodParts): RpcMethod {
  const recent = createRecent({ now, ttlMs: CONSENSUS_TTL_MS, maxEntries: 1 });
  const ask = async ({ at }: RpcVisit): Promise<RpcAnswer> => {
    // No client's signal: the first to ask may go away while others wait for the same answer.
    const done = new CallController();
    const answer = await askWhole(
      { at, key: undefined, signal: done },
      { method: 'get_consensus', params: '[]' },
    ).finally(() => done.abort(new Error('it is answered')));
    if (answer.kind === 'error') throw new NodeSaid(answer.error);
    return asAnswer(answer);
  };
  return {
    name: 'get_consensus',
    cost: 1,
    idempotent: true,
    async handle(call, visit) {
      checkParams(call.params, []);
      try {
        return await recent('', () => ask(visit));
      } catch (error) {
        if (error instanceof NodeSaid) return { kind: 'error', error: error.error };
        throw error;
      }
    },
  };
}

function asAnswer(answer: WholeAnswer): RpcAnswer {
  if (answer.kind === 'error') return answer;
  return asText(answer.text);
}

function asText(text: string): RpcAnswer {
  return { kind: 'result', body: { bytes: Buffer.from(text), rest: null } };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { CallController } from '@packhouse/runtime';
import type { Tie } from '../heads/final-branches.js';
import { type Candidates, getNeededHead, type Pool } from './candidates.js';
import { resumeElsewhere } from './deadline.js';
import { askQuorum } from './quorum.js';
import { race } from './race.js';
import type { ForwardAnswer, ForwardRequest } from './send/forward-request.js';
import type { ForwardUpstream, MethodTimes } from './send/forward-upstream.js';
import type { AdvertisedTip } from './tip/advertised-tip.js';
import { isEmptyList, readNewest } from './weigh-result.js';

/** How long what likely lacks something is waited for before it is asked for once more. */
const ONCE_MORE_MS = 250;

type Result = Extract<ForwardAnswer, { kind: 'result' }>;
type Failure = Extract<ForwardAnswer, { kind: 'failed' }>;

interface AnswerParts {
  pool: Pool;
  times: MethodTimes;
  advertised: AdvertisedTip;
  /** Called for each node that was outvoted about final blocks. */
  onOutvoted(node: ForwardUpstream, reason: string): void;
  find(request: ForwardRequest, tried: readonly ForwardUpstream[]): Promise<Candidates>;
  /** Asks an upstream for its head now; null: no answer. */
  pollNow(node: ForwardUpstream): Promise<number | null>;
}

/** Creates the function that answers a call by races, until a result holds; `tries` are those under way. */
export function createAnswerCall(parts: AnswerParts) {
  const { advertised, find, onOutvoted, pool, times } = parts;
  const { nodes, single } = pool;
  /** Advertises the newest block of a result to all gateways before a client gets it. */
  const advertise = async (answer: Result, request: ForwardRequest, startedAt: number): Promise<Result> => {
    const number = readNewest(request, answer.body);
    if (number === null) return answer;
    const node = getNode(pool, answer);
    if (node !== undefined && number > (node.head ?? -1)) node.sawHead(number, startedAt);
    const newest = Math.max(number, pool.newest() ?? -1);
    await advertised.raise('latest', newest);
    if (request.crossCheck !== 'head' || newest === number) return answer;
    return { ...answer, body: { bytes: Buffer.from(`"0x${newest.toString(16)}"`), rest: null } };
  };

  /** Whether it was found out since the call began that what this node says does not count. */
  const leftOutMeanwhile = ({ upstream }: { upstream: string }): boolean =>
    nodes.some((node) => node.name === upstream && node.leftOut !== null);

  const answerOnce = async (request: ForwardRequest, tries: Set<CallController>): Promise<ForwardAnswer> => {
    const startedAt = performance.now();
    let failure: Failure | undefined;
    let tried: readonly ForwardUpstream[] = [];
    let regressed = false;
    let lacking: Result | undefined;
    for (let again = 0; ; again++) {
      const tie = pool.tie();
      if (tie !== null && dependsBeyond(request, tie.agreed)) return refuseTie(tie);
      const candidates = await find(request, tried);
      if (failure !== undefined && candidates.nodes.length === 0) return failure;
      if (request.quorum !== undefined && request.idempotent) {
        const { quorum } = request;
        return askQuorum(request, { pool, candidates, quorum, tries, onOutvoted });
      }
      const raced = await race(pool, times, candidates, request, tries);
      const { answer } = raced;
      regressed ||= raced.regressed;
      if (answer.kind === 'failed' && lacking !== undefined) return lacking;
      if (answer.kind === 'result' && raced.isAlone && lacking === undefined) {
        lacking = answer;
        const halfMs = request.timeoutMs / 2;
        if (performance.now() - startedAt < halfMs) {
          await sleep(Math.min(ONCE_MORE_MS, halfMs / 2));
          continue;
        }
      }
      if (answer.kind === 'failed') {
        if (regressed && again < nodes.length) {
          // A node has it again in a moment, or another one does.
          regressed = false;
          continue;
        }
        if (failure === undefined && candidates.needed !== null && request.idempotent) {
          // One that did not have the block when it was polled may have it by now.
          failure = answer;
          tried = candidates.nodes;
          continue;
        }
      }
      if (answer.kind !== 'failed' && leftOutMeanwhile(answer)) {
        if (again < nodes.length) continue;
        return {
          kind: 'failed',
          reason: 'unavailable',
          detail: 'the nodes that answered were left out meanwhile',
        };
      }
      if (answer.kind !== 'result' || single || request.crossCheck === undefined) return answer;
      if (await stillHasBlocks(parts, answer, request)) return advertise(answer, request, startedAt);
      if (again === nodes.length) {
        const detail = `the node that answered may have lost block ${candidates.needed}`;
        return { kind: 'failed', reason: 'unavailable', detail };
      }
    }
  };

  return async (request: ForwardRequest, tries: Set<CallController>): Promise<ForwardAnswer> => {
    const answer = await answerOnce(request, tries);
    const isStreamed = answer.kind === 'result' && answer.body.rest !== null;
    if (!isStreamed || !request.idempotent || nodes.length === 1) return answer;
    const askOther = async (names: readonly string[]): Promise<ForwardAnswer | null> => {
      const tried = nodes.filter(({ name }) => names.includes(name));
      const candidates = await find(request, tried);
      return candidates.nodes.length === 0
        ? null
        : (await race(pool, times, candidates, request, tries)).answer;
    };
    const { bytes } = answer.body;
    return { ...answer, body: { bytes, rest: resumeElsewhere(answer, askOther) } };
  };
}

function getNode({ nodes }: Pool, { upstream }: Result): ForwardUpstream | undefined {
  return nodes.find(({ name }) => name === upstream);
}

/** Whether the upstream of an empty list of logs still has the blocks of the call after it answered. */
async function stillHasBlocks(
  { pollNow, pool }: AnswerParts,
  answer: Result,
  request: ForwardRequest,
): Promise<boolean> {
  if (request.crossCheck !== 'logs' || !isEmptyList(answer.body)) return true;
  const needed = getNeededHead(request.block, pool.newest());
  if (needed === null || needed <= (pool.finalized() ?? -1)) return true;
  const node = getNode(pool, answer);
  if (node === undefined) return true;
  const head = await pollNow(node);
  return head !== null && head >= needed;
}

/** Whether an answer may be another one on each branch above a block. */
function dependsBeyond({ block, crossCheck, prove }: ForwardRequest, agreed: number): boolean {
  if (block === undefined) return crossCheck !== undefined || prove !== undefined;
  return block === 'tip' || block > agreed;
}

function refuseTie({ agreed, reason }: Tie): Failure {
  const until = agreed < 0 ? 'none of them is believed' : `none of them is believed beyond block ${agreed}`;
  return { kind: 'failed', reason: 'unavailable', detail: `nodes disagree: ${reason}; ${until}` };
}

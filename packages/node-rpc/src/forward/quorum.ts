import { createHash } from 'node:crypto';
import { CallController } from '@packhouse/runtime';
import { listNames } from '../heads/final-votes.js';
import type { Candidates, Pool } from './candidates.js';
import type { ForwardAnswer, ForwardRequest, Quorum } from './send/forward-request.js';
import { type ForwardUpstream, OVERTAKEN } from './send/forward-upstream.js';
import type { TryOutcome } from './send/judge-answer.js';
import { weighResult } from './weigh-result.js';

type Said = Extract<TryOutcome, { kind: 'result' | 'error' }>;

/** Nodes that said the same. */
interface Voice {
  said: Said;
  nodes: ForwardUpstream[];
}

interface QuorumParts {
  pool: Pool;
  candidates: Candidates;
  quorum: Quorum;
  tries: Set<CallController>;
  /** Called for each node that was outvoted about final blocks. */
  onOutvoted(node: ForwardUpstream, reason: string): void;
}

/**
 * Asks as many upstreams as have to agree, and further ones while they do not; the answer that enough of them gave alike
 * is returned. What failed is no answer: another upstream is asked in its place.
 */
export async function askQuorum(request: ForwardRequest, parts: QuorumParts): Promise<ForwardAnswer> {
  const { candidates, onOutvoted, pool, quorum, tries } = parts;
  const { nodes, tip } = candidates;
  // Here an error is a voice, like a result.
  const whole: ForwardRequest = { ...request, whole: true, checkedRead: false };
  const voices = new Map<string, Voice>();
  const silent: string[] = [];
  const running = new Set<Promise<void>>();
  const mine = new Set<CallController>();
  let next = 0;

  const hear = (node: ForwardUpstream, outcome: TryOutcome): void => {
    if (outcome.kind === 'failed' || outcome.kind === 'elsewhere') {
      silent.push(`${node.name} did not (${outcome.detail})`);
      return;
    }
    const weight = outcome.kind === 'result' ? weighResult(pool, whole, outcome.body, node, tip) : 'accepted';
    if (node.excluded || (weight !== 'accepted' && weight !== 'unconfirmed')) {
      silent.push(`${node.name} cannot know`);
      return;
    }
    const key = toComparable(outcome);
    const voice = voices.get(key) ?? { said: outcome, nodes: [] };
    voice.nodes.push(node);
    voices.set(key, voice);
  };
  const start = (): void => {
    const node = nodes[next++] as ForwardUpstream;
    const stop = new CallController();
    tries.add(stop);
    mine.add(stop);
    const asking: Promise<void> = node
      .tryOnce(whole, stop)
      .then((outcome) => hear(node, outcome))
      .finally(() => {
        running.delete(asking);
        mine.delete(stop);
        tries.delete(stop);
      });
    asking.catch(() => undefined);
    running.add(asking);
  };
  const getAnswered = (): number => [...voices.values()].reduce((sum, voice) => sum + voice.nodes.length, 0);

  try {
    for (;;) {
      const [best] = [...voices.values()].sort((a, b) => b.nodes.length - a.nodes.length);
      const alike = best?.nodes.length ?? 0;
      if (best !== undefined && alike >= quorum.agree) {
        noteOutvoted(pool, request, best, voices, onOutvoted);
        return best.said;
      }
      while (
        alike + running.size < quorum.agree &&
        next < nodes.length &&
        getAnswered() + running.size < quorum.of
      )
        start();
      if (running.size === 0) return refuse(quorum, [...voices.values()], silent);
      await Promise.race(running);
    }
  } finally {
    for (const stop of mine) {
      tries.delete(stop);
      stop.abort(OVERTAKEN);
    }
  }
}

/** At the tip two right nodes may differ. */
function noteOutvoted(
  pool: Pool,
  { block, method }: ForwardRequest,
  best: Voice,
  voices: ReadonlyMap<string, Voice>,
  onOutvoted: QuorumParts['onOutvoted'],
): void {
  if (typeof block !== 'number' || block > (pool.finalized() ?? -1)) return;
  for (const { nodes, said } of voices.values()) {
    if (said === best.said) continue;
    const reason = `to ${method} about final blocks it ${describe(said)}, and ${listNames(best.nodes)} ${describe(best.said)}`;
    for (const node of nodes) onOutvoted(node, reason);
  }
}

function refuse(quorum: Quorum, voices: readonly Voice[], silent: readonly string[]): ForwardAnswer {
  const said = voices.map(({ nodes, said }) => `${listNames(nodes)} ${describe(said)}`);
  const who = [...said, ...silent].join(', ') || 'none can be asked';
  return {
    kind: 'failed',
    reason: voices.length > 1 ? 'nonsense' : 'unavailable',
    detail: `${quorum.agree} nodes have to answer alike: ${who}`,
  };
}

/** Longer answers are named by the beginning of their SHA-256. */
const QUOTED_LENGTH = 70;

function describe(said: Said): string {
  if (said.kind === 'error') return `answered error ${said.code}`;
  const text = said.body.bytes.toString('utf8').trim();
  if (text.length <= QUOTED_LENGTH) return `answered ${text}`;
  const digest = createHash('sha256').update(toComparable(said)).digest('hex').slice(0, 8);
  return `answered ${said.body.bytes.length} bytes (${digest})`;
}

/**
 * The text by which answers are compared: members in order, without those that are null, which some clients leave out,
 * and hexadecimal in lower case. Errors are the same by code and data; the message only counts where there is no data.
 */
function toComparable(said: Said): string {
  if (said.kind === 'result') return `result ${canonical(said.body.bytes.toString('utf8'))}`;
  const { data } = JSON.parse(said.error.toString('utf8')) as { data?: unknown };
  const rest = data === undefined || data === null ? said.message : JSON.stringify(data).toLowerCase();
  return `error ${said.code} ${rest}`;
}

/** Strings, and numbers outside of them: these would lose digits as numbers of JavaScript. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function canonical(text: string): string {
  const quoted = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"#${token}"`));
  return JSON.stringify(JSON.parse(quoted), (_, value: unknown) => {
    if (typeof value === 'string') return /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

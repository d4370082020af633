import type { Keccak, ProofPolicy } from '@packhouse/chain';
import { changeBytes } from './change-bytes.js';
import { changeForm } from './change-form.js';
import type { Answer } from './encode.js';
import { createRandom, type Random } from './random.js';
import type { Sample } from './samples.js';
import { tellLie } from './tell-lie.js';

/** The bytes of a block's answers, each the value of `result` alone. */
export interface RawAnswer {
  block: Buffer;
  receipts?: Buffer;
  traces?: Buffer;
}

/** What was done to a block: nothing; its form, its values or bytes were changed; parts of two blocks were mixed. */
export const KINDS_OF_CASES = ['unchanged', 'form', 'lie', 'bytes', 'mixed'] as const;
export type KindOfCase = (typeof KINDS_OF_CASES)[number];

/** One try. */
export interface Case {
  kind: KindOfCase;
  /** Name of the sample. */
  of: string;
  raw: RawAnswer;
  policy: ProofPolicy;
  /** A key of the policy, so that provers are kept. */
  policyName: string;
}

/** All proofs but that of senders, and all that a node says. */
export const PLAIN: ProofPolicy = {
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'off',
  extraFields: 'keep',
};

/** How often each policy is taken; the first is the usual one. */
const POLICIES: readonly (readonly [name: string, weight: number, policy: Partial<ProofPolicy>])[] = [
  ['plain', 40, {}],
  ['senders', 3, { senders: 'all' }],
  ['sampled', 3, { senders: 'sample' }],
  ['dropping', 1, { extraFields: 'drop' }],
  ['leaving', 1, { derived: 'leave' }],
  ['trusted header', 1, { header: 'trust' }],
  ['trusted receipts', 1, { receipts: 'trust' }],
];
const ALL_WEIGHTS = POLICIES.flatMap((entry) => Array.from({ length: entry[1] }, () => entry));

/** The case that a seed and a number decide; `samples` have to be the same for it to be the same. */
export function makeCase(seed: number, index: number, samples: readonly Sample[], keccak: Keccak): Case {
  const random = createRandom(seed, index);
  const sample = random.pick(samples);
  const kind = random.pick(WEIGHTED_KINDS);
  const [name, , changes] = random.pick(ALL_WEIGHTS);
  // random signatures are of nobody, and which three senders are recovered of more is not for a seed to say
  const asksSenders = changes.senders !== undefined && !sample.signed;
  const anyChain = random.oneIn(20);
  const policyName = `${asksSenders ? 'plain' : name}, ${anyChain ? 'any' : sample.chainId}`;
  const policy = {
    ...PLAIN,
    ...(asksSenders ? {} : changes),
    ...(anyChain ? {} : { chainId: sample.chainId }),
  };
  const raw = fewerParts(random, MAKERS[kind](random, sample, samples, keccak));
  return { kind, of: sample.name, raw, policy, policyName };
}

const WEIGHTED_KINDS: readonly KindOfCase[] = (
  [
    ['unchanged', 1],
    ['form', 9],
    ['lie', 5],
    ['bytes', 7],
    ['mixed', 1],
  ] as const
).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));

/** The bytes of a sample as it is. */
export function toRaw({ block, receipts, traces }: Sample): RawAnswer {
  return {
    block: Buffer.from(block),
    ...(receipts === undefined ? {} : { receipts: Buffer.from(receipts) }),
    ...(traces === undefined ? {} : { traces: Buffer.from(traces) }),
  };
}

type Maker = (random: Random, sample: Sample, samples: readonly Sample[], keccak: Keccak) => RawAnswer;

const MAKERS: Readonly<Record<KindOfCase, Maker>> = {
  unchanged: (_, sample) => toRaw(sample),
  form: (random, sample) => changed(sample, (answer) => changeForm(random, answer)),
  lie: (random, sample, _, keccak) => changed(sample, (answer) => tellLie(random, answer, keccak)),
  bytes(random, sample, samples) {
    const raw = toRaw(sample);
    const part = getPart(random, raw);
    const others = () => {
      const other = toRaw(random.pick(samples));
      return other[part] ?? other.block;
    };
    const times = random.pick([1, 1, 1, 2, 3]);
    for (let time = 0; time < times; time++) {
      const bytes = raw[part]!;
      if (bytes.length > 0) raw[part] = changeBytes(random, bytes, others);
    }
    return raw;
  },
  mixed(random, sample, samples) {
    const raw = toRaw(sample);
    const part = getPart(random, raw);
    const other = toRaw(random.pick(samples))[part];
    if (other !== undefined) raw[part] = other;
    return raw;
  },
};

function getPart(random: Random, raw: RawAnswer): keyof RawAnswer {
  const parts = (['block', 'receipts', 'traces'] as const).filter((part) => raw[part] !== undefined);
  return random.pick(parts);
}

/** A sample as JSON.parse has it, changed, and written again. A part that the sample lacks is made empty meanwhile. */
function changed(sample: Sample, change: (answer: Answer) => void): RawAnswer {
  const { block, receipts = '[]', traces = '[]' } = sample;
  const answer: Answer = {
    block: JSON.parse(block),
    receipts: JSON.parse(receipts),
    traces: JSON.parse(traces),
  };
  change(answer);
  return {
    block: Buffer.from(JSON.stringify(answer.block)),
    ...(sample.receipts === undefined ? {} : { receipts: Buffer.from(JSON.stringify(answer.receipts)) }),
    ...(sample.traces === undefined ? {} : { traces: Buffer.from(JSON.stringify(answer.traces)) }),
  };
}

/** Mostly all parts; sometimes those alone that a network wants. */
function fewerParts(random: Random, { block, receipts, traces }: RawAnswer): RawAnswer {
  const how = random.int(12);
  return {
    block,
    ...(receipts === undefined || how === 0 || how === 1 ? {} : { receipts }),
    ...(traces === undefined || how === 1 || how === 2 ? {} : { traces }),
  };
}

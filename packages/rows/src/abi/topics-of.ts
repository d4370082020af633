import { createKeccak256 } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Decoder } from './compile-abi.js';
import { nameAll, typeText } from './parse-type.js';
import { asAbiError } from './read-abi.js';
import { readSignature } from './read-signature.js';

/**
 * The first topics that a text means: a hash itself, a signature (`Transfer(address,address,uint256)`, names allowed) its
 * hash, and a name (`Transfer`) all events of that name in the ABI. Throws ABI_INVALID, and USAGE for a name without
 * an ABI.
 */
export async function getTopics(text: string, decoder: Decoder | null): Promise<string[]> {
  const asked = text.trim();
  if (/^0x[0-9a-fA-F]{64}$/.test(asked)) return [asked.toLowerCase()];
  if (asked.includes('(')) return [await hashOfSignature(asked)];
  if (decoder === null || !/^[\w$]+$/.test(asked) || /^0x/i.test(asked)) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `"${asked.slice(0, 80)}" is no topic: a hash of 32 bytes or a signature is one, and with an ABI the name of an event.`,
      hint: 'For example Transfer with an ABI, or "Transfer(address,address,uint256)".',
    });
  }
  const named = decoder.events.filter((event) => event.name === asked);
  const topics = named.flatMap(({ topic0 }) => topic0 ?? []);
  if (topics.length > 0 && topics.length === named.length) return [...new Set(topics)];
  const has = [...new Set(decoder.events.map(({ name }) => name))];
  throw new PackhouseError({
    code: 'ABI_INVALID',
    message:
      named.length > 0
        ? `The event ${asked} is anonymous: its logs have no topic that names it.`
        : `The ABI has no event ${asked.slice(0, 80)}; it has ${has.slice(0, 10).join(', ')}${has.length > 10 ? ' and others' : ''}.`,
    hint: 'Give the name as the ABI has it, its signature, or its hash.',
  });
}

async function hashOfSignature(text: string): Promise<string> {
  try {
    const { name, inputs } = readSignature(text);
    const types = nameAll(inputs).map(({ type }) => typeText(type));
    const keccak = await createKeccak256();
    return `0x${Buffer.from(keccak.hash(Buffer.from(`${name}(${types.join(',')})`))).toString('hex')}`;
  } catch (error) {
    throw asAbiError(`"${text.slice(0, 80)}"`, error);
  }
}

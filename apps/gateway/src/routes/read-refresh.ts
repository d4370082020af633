import { canonicalCoreAddress, checkCoreAddress, coreAddressHex, toQuantity } from '@packhouse/chain';
import type { NftTarget } from '@packhouse/database';
import { Problem } from '../http/problem.js';
import { describeType } from '../rpc/check-params.js';

const FIELDS = ['contractAddress', 'ownerAddress', 'tokenId'];
const PATTERNS =
  'send contractAddress alone, ownerAddress alone, or contractAddress together with tokenId, and nothing else';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of a refresh: a contract, an owner, or one token of a contract. Throws the problems `json-malformed`,
 * `request-malformed` and `parameter-invalid`.
 */
export function readRefresh(body: Buffer | undefined, networkId: number): NftTarget {
  let parsed: unknown;
  try {
    parsed = JSON.parse(utf8.decode(body ?? Buffer.alloc(0)));
  } catch (cause) {
    throw new Problem('json-malformed', { detail: 'The body is not JSON in UTF-8.', cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Problem('request-malformed', {
      detail: `The body must be a JSON object, got ${describeType(parsed)}; ${PATTERNS}.`,
    });
  }
  const given = Object.keys(parsed);
  if (given.some((name) => !FIELDS.includes(name))) {
    throw new Problem('request-malformed', {
      detail: `The body has an unknown field; ${PATTERNS}.`,
      members: { fields: FIELDS },
    });
  }
  const { contractAddress, ownerAddress, tokenId } = parsed as Record<string, unknown>;
  const pattern = FIELDS.filter((name) => given.includes(name)).join('+');
  if (!['contractAddress', 'ownerAddress', 'contractAddress+tokenId'].includes(pattern)) {
    throw new Problem('request-malformed', {
      detail: `These fields do not go together; ${PATTERNS}.`,
      members: { fields: FIELDS },
    });
  }
  if (pattern === 'ownerAddress') {
    const owner = address('ownerAddress', ownerAddress, networkId);
    return { contract: null, owner, tokenId: null };
  }
  const contract = address('contractAddress', contractAddress, networkId);
  if (!coreAddressHex(contract).startsWith('8'))
    throw wrong('contractAddress', 'the address is not a contract');
  return { contract, owner: null, tokenId: pattern === 'contractAddress' ? null : token(tokenId) };
}

function address(name: string, value: unknown, networkId: number): string {
  const bad = checkCoreAddress(networkId)(value);
  if (bad !== null) throw wrong(name, bad);
  return canonicalCoreAddress(value as string);
}

/** Leading zeros are allowed: many clients write a token id as a whole word. */
function token(value: unknown): string {
  if (typeof value !== 'string') throw wrong('tokenId', `expected a hex string, got ${describeType(value)}`);
  if (!value.startsWith('0x')) throw wrong('tokenId', 'hex string without 0x prefix');
  if (!/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw wrong('tokenId', 'expected 1 to 64 hex digits after 0x');
  }
  return toQuantity(BigInt(value));
}

function wrong(name: string, what: string): Problem {
  return new Problem('parameter-invalid', { detail: `${name}: ${what}.`, members: { parameter: name } });
}

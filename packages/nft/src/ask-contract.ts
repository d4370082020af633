import { getOrAdd } from '@packhouse/runtime';
import { decodeBool, decodeString, decodeUint, toWord } from './abi.js';
import type { CoreNode } from './core-node.js';

export type TokenStandard = 'erc721' | 'erc1155';

/** A token whose contract is known to have a standard. */
interface StandardToken {
  contract: string;
  tokenId: string;
  standard: TokenStandard;
}

/** ERC-165 identifiers, in the order in which they are requested. */
const INTERFACES: readonly [TokenStandard, string][] = [
  ['erc721', '80ac58cd'],
  ['erc1155', 'd9b67a26'],
];
/** Selectors: the first four bytes of the Keccak-256 of a signature. */
const SUPPORTS_INTERFACE = '0x01ffc9a7';
const TOKEN_URI = '0xc87b56dd';
const URI = '0x0e89341c';
const OWNER_OF = '0x6352211e';
const BALANCE_OF = '0x00fdd58e';

/** The standard that a contract says it has (ERC-165); null if neither. Throws NodeTroubleError. */
async function detectStandard(
  node: CoreNode,
  contract: string,
  signal: AbortSignal,
): Promise<TokenStandard | null> {
  for (const [standard, id] of INTERFACES) {
    const answer = await node.call(contract, `${SUPPORTS_INTERFACE}${id.padEnd(64, '0')}`, signal);
    if ('data' in answer && decodeBool(answer.data)) return standard;
  }
  return null;
}

/** The standards of contracts; each contract is called for its own once. */
export function createStandards(
  node: CoreNode,
  signal: AbortSignal,
): (contract: string) => Promise<TokenStandard | null> {
  const known = new Map<string, Promise<TokenStandard | null>>();
  return (contract) => getOrAdd(known, contract, () => detectStandard(node, contract, signal));
}

/** The address of a token's document: `tokenURI`, or `uri` with its `{id}` filled in. Throws NodeTroubleError. */
export async function getUri(
  node: CoreNode,
  token: StandardToken,
  signal: AbortSignal,
): Promise<{ uri: string } | { outcome: 'missing_token' | 'invalid_uri' | 'too_large' }> {
  const word = toWord(BigInt(token.tokenId));
  const selector = token.standard === 'erc721' ? TOKEN_URI : URI;
  const answer = await node.call(token.contract, selector + word, signal);
  if ('tooLarge' in answer) return { outcome: 'too_large' };
  if ('reverted' in answer || answer.data === '0x') return { outcome: 'missing_token' };
  const uri = decodeString(answer.data);
  if (uri === null || uri.trim() === '') return { outcome: 'invalid_uri' };
  // ERC-1155: 64 lower-case hex digits without 0x, anywhere in the text.
  return { uri: token.standard === 'erc1155' ? uri.replaceAll('{id}', word) : uri };
}

/** Whether a token is an owner's now. Throws NodeTroubleError. */
export async function isOwnedBy(
  node: CoreNode,
  token: StandardToken,
  ownerHex: string,
  signal: AbortSignal,
): Promise<boolean> {
  const word = toWord(BigInt(token.tokenId));
  const data =
    token.standard === 'erc721' ? OWNER_OF + word : `${BALANCE_OF}${ownerHex.padStart(64, '0')}${word}`;
  const answer = await node.call(token.contract, data, signal);
  const value = 'data' in answer ? decodeUint(answer.data) : null;
  if (value === null) return false;
  return token.standard === 'erc721' ? value === BigInt(`0x${ownerHex}`) : value > 0n;
}

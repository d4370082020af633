import { decodeBool, decodeString, decodeUint, wordOf } from './abi.js';
import type { CoreNode } from './core-node.js';

/** The standard of a contract's tokens. */
export type TokenStandard = 'erc721' | 'erc1155';

/** What a contract says about a token. */
export type UriAnswer = { uri: string } | { outcome: 'missing_token' | 'invalid_uri' | 'too_large' };

/** ERC-165 identifiers, in the order in which they are asked for. */
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

/** Which standard a contract says it has (ERC-165); null where it has neither. Throws NodeTroubleError. */
export async function standardOf(
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

/** Where a contract says a token's document is: `tokenURI`, or `uri` with its `{id}` filled in. Throws NodeTroubleError. */
export async function uriOf(
  node: CoreNode,
  token: { contract: string; tokenId: string; standard: TokenStandard },
  signal: AbortSignal,
): Promise<UriAnswer> {
  const word = wordOf(BigInt(token.tokenId));
  const selector = token.standard === 'erc721' ? TOKEN_URI : URI;
  const answer = await node.call(token.contract, selector + word, signal);
  if ('tooLarge' in answer) return { outcome: 'too_large' };
  if ('reverted' in answer || answer.data === '0x') return { outcome: 'missing_token' };
  const uri = decodeString(answer.data);
  if (uri === null || uri.trim() === '') return { outcome: 'invalid_uri' };
  // ERC-1155: 64 lower-case hex digits, no 0x, wherever the string stands.
  return { uri: token.standard === 'erc1155' ? uri.replaceAll('{id}', word) : uri };
}

/** Whether a token is an owner's now. Throws NodeTroubleError. */
export async function isOwnedBy(
  node: CoreNode,
  token: { contract: string; tokenId: string; standard: TokenStandard },
  ownerHex: string,
  signal: AbortSignal,
): Promise<boolean> {
  const word = wordOf(BigInt(token.tokenId));
  const data =
    token.standard === 'erc721' ? OWNER_OF + word : `${BALANCE_OF}${ownerHex.padStart(64, '0')}${word}`;
  const answer = await node.call(token.contract, data, signal);
  const value = 'data' in answer ? decodeUint(answer.data) : null;
  if (value === null) return false;
  return token.standard === 'erc721' ? value === BigInt(`0x${ownerHex}`) : value > 0n;
}

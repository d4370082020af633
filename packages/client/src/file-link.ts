import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { GatewayAddress } from './gateway-address.js';
import type { Gateway } from './http.js';

const MAX_POINTER_BYTES = 65_536;
/** What is behind the base of all links. */
export const LINK_END = /\/[a-z]+\/\d+-\d+\.json\.gz$/;

/** Asks where the file of a block is. Throws DOWNLOAD_FAILED, and as `Http.get`. */
export async function askForLink(
  { address, http }: Gateway,
  kind: Kind,
  block: number,
  signal: AbortSignal,
): Promise<string> {
  const text = await http.text(address.api(`${kind}/${block}`), MAX_POINTER_BYTES, { signal });
  return checkLink(address, linkIn(text), `where block ${block} of ${kind} is`);
}

/** Throws DOWNLOAD_FAILED unless this is the link of a file. The key goes there: never without TLS if the gateway itself is asked with it. */
export function checkLink(address: GatewayAddress, link: string | undefined, what: string): string {
  const isSafe = link?.startsWith('https://') === true || !address.base.startsWith('https://');
  if (link !== undefined && LINK_END.test(link) && isSafe) return link;
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `The gateway's answer to ${what} holds no usable link.`,
    hint: 'Check the address.',
    retryable: false,
  });
}

function linkIn(text: string): string | undefined {
  try {
    const link = (JSON.parse(text) as { download_link?: unknown }).download_link;
    return typeof link === 'string' && URL.canParse(link) ? link : undefined;
  } catch {
    return undefined;
  }
}

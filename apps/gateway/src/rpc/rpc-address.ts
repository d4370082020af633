import { hostName } from '../http/router.js';
import type { Site } from '../sites/site.js';

/** What `/x/v1/` or `/x/v1/<key>` of a network that is not served looks like. */
const ANY_NETWORK = /^\/[^/]*\/v1\/[^/]*$/;

/**
 * Whether a request that no route takes was meant for JSON-RPC, so that its refusal is an envelope: any verb at an
 * address that has a key, a POST at one without or of an unknown network. Gives the site where there is one.
 */
export function rpcAddress(
  request: { method: string; path: string; host: string | undefined },
  sites: readonly Site[],
): { site: Site | undefined } | null {
  const host = hostName(request.host);
  const { method, path } = request;
  for (const site of sites) {
    const { base, network } = site;
    if (base.host !== undefined && base.host !== host) continue;
    if (!`${path}/`.startsWith(`${base.path}/`)) continue;
    const behind = path.slice(base.path.length + 1);
    const complete = network.rpc.open ? behind === '' : behind !== '' && !behind.includes('/');
    if (complete || (behind === '' && method === 'POST')) return { site };
  }
  return method === 'POST' && ANY_NETWORK.test(path) ? { site: undefined } : null;
}

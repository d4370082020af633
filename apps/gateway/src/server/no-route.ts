import { unauthenticated } from '../auth/admission.js';
import { Problem } from '../http/problem.js';
import { hostName } from '../sites/host-constraint.js';
import type { Mount, Site } from '../sites/site.js';
import type { AllowedMethods } from './allowed-methods.js';

/** The refusal for an address that no route takes: wrong verb, no key, no such network, or nothing there. */
export function noRoute(
  request: { method: string; path: string; host: string | undefined },
  parts: { sites: readonly Site[]; allowed: AllowedMethods },
): Problem {
  const methods = parts.allowed.at(request.path, request.host);
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return new Problem('method-not-allowed', {
      detail: `This address takes ${allow} only.`,
      headers: { allow },
    });
  }
  const host = hostName(request.host);
  const noKey = (site: Site): boolean =>
    withoutKey(site.base, request.path, host) ||
    (request.method === 'POST' && rpcWithoutKey(site, request.path, host));
  if (parts.sites.some(noKey)) return unauthenticated();
  const below = (mount: Mount): boolean => at(mount, host) && request.path.startsWith(`${mount.path}/`);
  const known = parts.sites.some((site) => below(site.base) || below(site.files));
  if (!known && /^\/[^/]*\/(?:v1|files)\//.test(request.path)) {
    const names = parts.sites.map((site) => site.network.id).join(', ');
    return new Problem('network-unknown', {
      detail: `No network is served at this address; there are ${names}.`,
      members: { networks: parts.sites.map((site) => site.network.id) },
    });
  }
  return new Problem('path-unknown', {
    detail: 'There is nothing at this address; GET / names the networks and their addresses.',
  });
}

function at(mount: Mount, host: string): boolean {
  return mount.host === undefined || mount.host === host;
}

/** An address of the bundle interface or of tokens with the key left out, or empty. */
function withoutKey(base: Mount, path: string, host: string): boolean {
  return (
    at(base, host) &&
    ['/bundle-api/', '//bundle-api/', '/nft-api/', '//nft-api/'].some((gap) =>
      path.startsWith(base.path + gap),
    )
  );
}

/** The address of JSON-RPC with the key left out. */
function rpcWithoutKey({ base, network }: Site, path: string, host: string): boolean {
  return !network.rpc.open && at(base, host) && (path === base.path || path === `${base.path}/`);
}
